// Package figure turns what is known of a patient, and what is measured of many,
// into charts and words. Reports and the portal show the same figures, so what
// they draw and how they say it is decided here, once; how a chart looks is
// internal/chart's.
package figure

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/chart"
)

// None stands in a table where nothing is known.
const None = "–"

// Hidden stands for a number that would tell of a few patients.
const Hidden = "hidden"

// Num writes a number that was rounded before.
func Num(f *float64) string {
	if f == nil {
		return None
	}
	return strings.Replace(strconv.FormatFloat(*f, 'f', -1, 64), "-", "−", 1)
}

// Signed writes a change, with its sign.
func Signed(f *float64) string {
	if f != nil && *f > 0 {
		return "+" + Num(f)
	}
	return Num(f)
}

// Words makes a name of the API readable.
func Words(name string) string {
	if known, ok := names[name]; ok {
		return known
	}
	return strings.ReplaceAll(name, "_", " ")
}

// names are those that are not just words with underscores.
var names = map[string]string{
	"peg": "PEG", "phq_9": "PHQ-9", "phq_2": "PHQ-2", "gad_7": "GAD-7", "rmdq": "RMDQ", "pgic": "PGIC", "bpi_severity": "BPI severity", "bpi_interference": "BPI interference",
	"promis_pi": "PROMIS pain interference (T)", "odi": "ODI", "ndi": "NDI", "pcs": "PCS", "pain_detect": "painDETECT", "dn4": "DN4", "ort": "ORT", "ort_oud": "ORT-OUD", "comm": "COMM",
	"nrs": "NRS", "vas": "VAS", "vrs4": "VRS-4", "fps_r": "FPS-R",
	"nsaid": "NSAID", "cbt": "cognitive behavioural therapy", "scs_trial": "spinal cord stimulation trial", "scs_implant": "spinal cord stimulation implant",
	"na": "", "iv": "intravenous", "im": "intramuscular", "sc": "subcutaneous",
	"ge_50": "≥ 50 MME a day", "ge_90": "≥ 90 MME a day", "opioid_benzo_overlap": "opioid with benzodiazepine", "opioid_gabapentinoid_overlap": "opioid with gabapentinoid",
	"naloxone_gap": "naloxone gap", "phq9_item9": "PHQ-9 item 9: thoughts of self-harm", "out_of_guideline_scope": "outside the opioid guideline's scope",
	"mme_ge_50": "≥ 50 MME a day", "overdose_or_substance_use": "overdose or substance use", "age_65_or_over": "age 65 or over",
	"nrs_ge_2": "better by 2 points or more", "long_term_opioid": "long-term opioid use (90 days or more)",
	"strength_differs_from_name": "the strength is not that of the name", "dose_of_another_ingredient": "the dose may be that of another ingredient",
	"strength_not_listed": "no product has this strength", "supply_disagrees_with_dose": "the supply does not fit the dose",
	"patches_disagree_with_wear": "the number of patches does not fit their wearing time", "more_than_1000_mme": "more than 1,000 MME a day",
	"follow_up_gap": "no score in 90 days", "severe_pain": "severe pain",
	"sickle_cell": "sickle cell disease", "oud_treatment": "only treatment of opioid use disorder",
	"within_90_days": "within 90 days", "over_90_days": "over 90 days ago", "age_band": "age", "high_dose_90": "≥ 90 MME a day",
}

// Count is a count, or that it is hidden.
func Count(n *int) string {
	if n == nil {
		return Hidden
	}
	return Thousands(*n)
}

// Thousands writes a whole number with its thousands apart.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted is a count of patients as it is printed.
func Counted(c analytics.Count) string { return Count(c.Count) }

// OfN is "18 of 40", or why there is nothing of it.
func OfN(p *analytics.Proportion) string {
	switch {
	case p.Suppressed && (p.Count == nil || p.N == nil):
		return Hidden
	case p.N == nil || p.Count == nil || *p.N == 0:
		return "no patients match"
	}
	return Thousands(*p.Count) + " of " + Thousands(*p.N)
}

// Rate is a count as a percentage of n, or why there is none. It is worked out
// from the counts, because a percentage that was rounded before would be
// rounded twice.
func Rate(count, n *int) string {
	switch {
	case count == nil || n == nil:
		return Hidden
	case *n == 0:
		return None
	}
	return Decimal(100*float64(*count)/float64(*n)) + " %"
}

// Limits is the interval of a proportion, not rounded yet; nil without one.
func Limits(p *analytics.Proportion) *analytics.Bounds {
	if p.CI95 == nil || p.Count == nil || p.N == nil {
		return nil
	}
	return new(analytics.Wilson(*p.Count, *p.N))
}

// Share is a percentage with its interval.
func Share(p *analytics.Proportion) string {
	text := Rate(p.Count, p.N)
	if ci := Limits(p); ci != nil {
		text += " (" + Decimal(100*ci.Low) + " to " + Decimal(100*ci.High) + ")"
	}
	return text
}

// Fixed writes a number with two decimals.
func Fixed(f *float64) string {
	if f == nil {
		return None
	}
	return chart.Decimals(*f, 2)
}

// Capital begins a text with a capital letter.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// Mean is a mean with its interval.
func Mean(m *analytics.Mean) string {
	if m.Mean == nil {
		if m.Suppressed {
			return Hidden
		}
		return None
	}
	text := Decimal(*m.Mean)
	if m.CI95 != nil {
		text += " (" + Decimal(m.CI95.Low) + " to " + Decimal(m.CI95.High) + ")"
	}
	if m.Unstable {
		text += " *"
	}
	return text
}

// Decimal writes with one decimal, and a real minus.
func Decimal(f float64) string { return chart.Decimals(f, 1) }

// OfKnown is OfN with how many more there are of whom it is not known.
func OfKnown(p *analytics.Proportion) string { return OfN(p) + NotKnown(p.Undetermined) }

// NotKnown is of how many more something is not known, behind what is.
func NotKnown(n *int) string {
	if n == nil || *n == 0 {
		return ""
	}
	return ", " + Count(n) + " not known"
}

// DosesNotKnown says in words of whom [Doses] does not know the dose; "" when there
// are none.
func DosesNotKnown(bands *analytics.Split) string {
	for _, g := range bands.Groups {
		if g.Group == "unknown" && (g.Count == nil || *g.Count > 0) {
			return Capital(UnknownDose) + ": " + Count(g.Count) + " with an opioid whose dose is not known or must not be compared, or with a medicine that may be an opioid."
		}
	}
	return ""
}

// Excluded says how many are left out of a measure, and why; [None] for nobody.
func Excluded(m *analytics.Measure) string {
	var parts []string
	for _, e := range m.Exclusions {
		if e.Count == nil || *e.Count > 0 {
			parts = append(parts, Words(e.Reason)+": "+Count(e.Count))
		}
	}
	if len(parts) == 0 {
		return None
	}
	return strings.Join(parts, ", ")
}
