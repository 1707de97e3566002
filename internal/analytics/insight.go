package analytics

import (
	"fmt"
	"strings"
)

// insights puts the answer's own numbers into sentences: what is hidden or not
// there is in none, and nothing is said that the numbers do not say.
func insights(p *Population) []Insight {
	list := []Insight{}
	add := func(name string, of *Proportion, sentence string) {
		if of.Percent == nil || of.N == nil || *of.N == 0 {
			return
		}
		figures := map[string]any{"count": *of.Count, "n": *of.N, "percent": *of.Percent, "definition": of.Definition, "unstable": of.Unstable}
		text := fmt.Sprintf("%d of %d %s (%.1f %%) %s.", *of.Count, *of.N, of.Denominator, *of.Percent, sentence)
		if of.Undetermined != nil && *of.Undetermined > 0 {
			figures["undetermined"] = *of.Undetermined
			text += fmt.Sprintf(" For %d more it is not known.", *of.Undetermined)
		}
		list = append(list, Insight{name, text, figures})
	}
	if severe := severeOf(p); severe != nil {
		add("severe_pain", severe, "have severe pain by their latest score")
	}
	o := &p.Opioids
	add("opioid_exposure", &o.Exposure, "had an opioid in the period")
	add("long_term_opioid", &o.LongTerm, "had an opioid on 90 or more of the last 365 days")
	add("ge_50", &o.AtLeast50, "reached 50 MME or more on a day")
	add("ge_90", &o.AtLeast90, "reached 90 MME or more on a day")
	add("opioid_benzo_overlap", &o.BenzodiazepineOverlap, "had an opioid and a benzodiazepine on the same day")
	add("opioid_gabapentinoid_overlap", &o.GabapentinoidOverlap, "had an opioid and a gabapentinoid on the same day")
	add("naloxone_coverage", &o.NaloxoneCoverage, "had naloxone within the last 365 days")
	add("follow_up_gap", &p.FollowUpGap.Gap, "have had no pain score for over 90 days, or never had one")
	return append(list, disparityInsights(p.Disparities)...)
}

// severeOf is the share with severe pain; nil when it is hidden.
func severeOf(p *Population) *Proportion {
	bands := &p.Severity.Bands
	if bands.N == nil || len(bands.Groups) == 0 {
		return nil
	}
	severe := bands.Groups[len(bands.Groups)-1]
	if severe.Count == nil || severe.Percent == nil {
		return nil
	}
	return &Proportion{Definition: bands.Definition, Denominator: bands.Denominator, Count: severe.Count, N: bands.N, Percent: severe.Percent, Unstable: *bands.N < stableFrom}
}

var measureWords = map[string]string{
	"severe_pain": "Severe pain", "opioid_exposure": "Opioid exposure", "long_term_opioid": "Long-term opioid use",
	"ge_50": "50 MME or more on a day", "follow_up_gap": "No pain score for over 90 days",
}

// disparityInsights are the differences whose interval does not hold 0.
func disparityInsights(disparities []Disparity) (list []Insight) {
	for i := range disparities {
		d := &disparities[i]
		reference := d.group(d.Reference)
		for j := range d.Groups {
			g := &d.Groups[j]
			if reference == nil || g.DiffCI95 == nil || g.DiffCI95.Low <= 0 && g.DiffCI95.High >= 0 {
				continue
			}
			text := fmt.Sprintf("%s by %s: %s %.1f %% (%d of %d), %s %.1f %% (%d of %d); difference %.1f percentage points (95 %% interval %.1f to %.1f).",
				measureWords[d.Measure], strings.ReplaceAll(d.Dimension, "_", " "), g.Group, *g.Percent, *g.Count, *g.N,
				reference.Group, *reference.Percent, *reference.Count, *reference.N, 100**g.Difference, 100*g.DiffCI95.Low, 100*g.DiffCI95.High)
			list = append(list, Insight{"disparity." + d.Measure + "." + d.Dimension + "." + g.Group, text, map[string]any{
				"group": g.Group, "count": *g.Count, "n": *g.N, "percent": *g.Percent, "reference": reference.Group,
				"reference_count": *reference.Count, "reference_n": *reference.N, "reference_percent": *reference.Percent,
				"difference": *g.Difference, "difference_ci95": *g.DiffCI95, "ratio": g.Ratio, "definition": d.Definition,
			}})
		}
	}
	return list
}

func (d *Disparity) group(name *string) *DisparityGroup {
	for i := range d.Groups {
		if name != nil && d.Groups[i].Group == *name {
			return &d.Groups[i]
		}
	}
	return nil
}
