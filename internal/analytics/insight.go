package analytics

import (
	"fmt"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/decimal"
)

// insights generates sentences from the figures of the response. They never
// use hidden or missing figures, and state nothing else.
func insights(p *Population) []Insight {
	list := []Insight{}
	add := func(name string, of *Proportion, sentence string) {
		if of.Percent == nil || of.N == nil || *of.N == 0 {
			return
		}
		figures := map[string]any{"count": *of.Count, "n": *of.N, "percent": *of.Percent, "definition": of.Definition, "unstable": of.Unstable}
		text := fmt.Sprintf("%d of %d %s (%s %%) %s.", *of.Count, *of.N, of.Denominator, percentOf(*of.Count, *of.N), sentence)
		if of.Undetermined != nil && *of.Undetermined > 0 {
			figures["undetermined"] = *of.Undetermined
			text += fmt.Sprintf(" For %d more patients this is unknown.", *of.Undetermined)
		}
		list = append(list, Insight{name, text, figures})
	}
	if severe := severeOf(p); severe != nil {
		add("severe_pain", severe, "have severe pain according to their latest score")
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

// severeOf returns the proportion with severe pain, or nil if it is hidden.
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

// disparityInsights lists the differences whose interval excludes 0.
func disparityInsights(disparities []Disparity) (list []Insight) {
	for i := range disparities {
		d := &disparities[i]
		reference := d.Compared()
		for j := range d.Groups {
			g := &d.Groups[j]
			if reference == nil || g.DiffCI95 == nil || g.DiffCI95.Low <= 0 && g.DiffCI95.High >= 0 {
				continue
			}
			difference, ci := Newcombe(*g.Count, *g.N, *reference.Count, *reference.N)
			text := fmt.Sprintf("%s by %s: %s %s %% (%d of %d), %s %s %% (%d of %d); difference %s percentage points (95 %% interval %s to %s).",
				measureWords[d.Measure], strings.ReplaceAll(d.Dimension, "_", " "), g.Group, percentOf(*g.Count, *g.N), *g.Count, *g.N,
				reference.Group, percentOf(*reference.Count, *reference.N), *reference.Count, *reference.N, oneDecimal(100*difference), oneDecimal(100*ci.Low), oneDecimal(100*ci.High))
			figures := map[string]any{
				"group": g.Group, "count": *g.Count, "n": *g.N, "percent": *g.Percent, "reference": reference.Group,
				"reference_count": *reference.Count, "reference_n": *reference.N, "reference_percent": *reference.Percent,
				"difference": *g.Difference, "difference_ci95": *g.DiffCI95, "ratio": g.Ratio, "definition": d.Definition,
			}
			if unknown := sumOf(g.Undetermined, reference.Undetermined); unknown > 0 {
				figures["undetermined"] = unknown
				text += fmt.Sprintf(" For %d more patients of the two groups this is unknown.", unknown)
			}
			list = append(list, Insight{"disparity." + d.Measure + "." + d.Dimension + "." + g.Group, text, figures})
		}
	}
	return list
}

// sumOf adds numbers that may be missing.
func sumOf(numbers ...*int) (sum int) {
	for _, n := range numbers {
		if n != nil {
			sum += *n
		}
	}
	return sum
}

// percentOf formats a percentage. It uses the counts, because the percentage
// in the response is already rounded.
func percentOf(count, n int) string { return oneDecimal(100 * float64(count) / float64(n)) }

// oneDecimal formats a number with one decimal.
func oneDecimal(f float64) string {
	return strconv.FormatFloat(decimal.Round(f, 1), 'f', 1, 64)
}

// Compared returns the reference group, or nil without one.
func (d *Disparity) Compared() *DisparityGroup {
	for i := range d.Groups {
		if d.Reference != nil && d.Groups[i].Group == *d.Reference {
			return &d.Groups[i]
		}
	}
	return nil
}
