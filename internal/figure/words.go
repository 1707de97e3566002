// Package figure converts the data of a patient, and the measures over many,
// to charts and text. Reports and the portal show the same figures, so their
// content and wording are decided here; internal/chart decides how a chart
// looks.
package figure

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/chart"
)

// None is shown in a table for an unknown value.
const None = "–"

// Hidden is shown for a number that would reveal a small group of patients.
const Hidden = "hidden"

// Num formats a number that is already rounded.
func Num(f *float64) string {
	if f == nil {
		return None
	}
	return strings.Replace(strconv.FormatFloat(*f, 'f', -1, 64), "-", "−", 1)
}

// Signed formats a change with its sign.
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

// names are the exceptions, which are not just words with underscores.
var names = map[string]string{
	"peg": "PEG", "phq_9": "PHQ-9", "phq_2": "PHQ-2", "gad_7": "GAD-7", "rmdq": "RMDQ", "pgic": "PGIC", "bpi_severity": "BPI severity", "bpi_interference": "BPI interference",
	"promis_pi": "PROMIS pain interference (T)", "odi": "ODI", "ndi": "NDI", "pcs": "PCS", "pain_detect": "painDETECT", "dn4": "DN4", "ort": "ORT", "ort_oud": "ORT-OUD", "comm": "COMM",
	"nrs": "NRS", "vas": "VAS", "vrs4": "VRS-4", "fps_r": "FPS-R",
	"nsaid": "NSAID", "cbt": "cognitive behavioural therapy", "scs_trial": "spinal cord stimulation trial", "scs_implant": "spinal cord stimulation implant",
	"na": "", "iv": "intravenous", "im": "intramuscular", "sc": "subcutaneous",
	"ge_50": "≥ 50 MME a day", "ge_90": "≥ 90 MME a day", "opioid_benzo_overlap": "opioid with benzodiazepine", "opioid_gabapentinoid_overlap": "opioid with gabapentinoid",
	"naloxone_gap": "naloxone gap", "phq9_item9": "PHQ-9 item 9: thoughts of death or self-harm", "out_of_guideline_scope": "outside the opioid guideline's scope",
	"mme_ge_50": "≥ 50 MME a day", "overdose_or_substance_use": "overdose or substance use", "age_65_or_over": "age 65 or over",
	"nrs_ge_2": "better by 2 points or more", "long_term_opioid": "long-term opioid use (90 days or more)",
	"strength_differs_from_name": "the strength differs from that in the name", "dose_of_another_ingredient": "the dose may be that of another ingredient",
	"strength_not_listed": "no product has this strength", "supply_disagrees_with_dose": "the supply does not match the dose",
	"patches_disagree_with_wear": "the number of patches does not match their wear time", "more_than_1000_mme": "more than 1,000 MME a day",
	"follow_up_gap": "no score in 90 days", "severe_pain": "severe pain",
	"sickle_cell": "sickle cell disease", "oud_treatment": "only treatment of opioid use disorder",
	"within_90_days": "within 90 days", "over_90_days": "over 90 days ago", "age_band": "age", "high_dose_90": "≥ 90 MME a day",
}

// Count formats a count, or states that it is hidden.
func Count(n *int) string {
	if n == nil {
		return Hidden
	}
	return Thousands(*n)
}

// Thousands formats a whole number with thousands separators.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted formats a count of patients.
func Counted(c analytics.Count) string { return Count(c.Count) }

// OfN returns "18 of 40", or why it is missing.
func OfN(p *analytics.Proportion) string {
	switch {
	case p.Suppressed && (p.Count == nil || p.N == nil):
		return Hidden
	case p.N == nil || p.Count == nil || *p.N == 0:
		return "no patients match"
	}
	return Thousands(*p.Count) + " of " + Thousands(*p.N)
}

// Rate returns a count as a percentage of n, or why it is missing. It is
// computed from the counts, to avoid rounding twice.
func Rate(count, n *int) string {
	switch {
	case count == nil || n == nil:
		return Hidden
	case *n == 0:
		return None
	}
	return Decimal(100*float64(*count)/float64(*n)) + " %"
}

// Limits returns the unrounded interval of a proportion, or nil.
func Limits(p *analytics.Proportion) *analytics.Bounds {
	if p.CI95 == nil || p.Count == nil || p.N == nil {
		return nil
	}
	return new(analytics.Wilson(*p.Count, *p.N))
}

// Share returns a percentage with its interval.
func Share(p *analytics.Proportion) string {
	text := Rate(p.Count, p.N)
	if ci := Limits(p); ci != nil {
		text += " (" + Decimal(100*ci.Low) + " to " + Decimal(100*ci.High) + ")"
	}
	return text
}

// Fixed formats a number with two decimals.
func Fixed(f *float64) string {
	if f == nil {
		return None
	}
	return chart.Decimals(*f, 2)
}

// Capital capitalises the first letter of a text.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// Mean returns a mean with its interval.
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

// Decimal formats a number with one decimal and a real minus sign.
func Decimal(f float64) string { return chart.Decimals(f, 1) }

// OfKnown is OfN with the number of undetermined patients.
func OfKnown(p *analytics.Proportion) string { return OfN(p) + NotKnown(p.Undetermined) }

// NotKnown returns a suffix with the number of undetermined patients.
func NotKnown(n *int) string {
	if n == nil || *n == 0 {
		return ""
	}
	return ", " + Count(n) + " not known"
}

// DosesNotKnown describes the patients with an unknown dose in [Doses], or
// returns "" if there are none.
func DosesNotKnown(bands *analytics.Split) string {
	for _, g := range bands.Groups {
		if g.Group == "unknown" && (g.Count == nil || *g.Count > 0) {
			return Capital(UnknownDose) + ": " + Count(g.Count) + " with an opioid whose dose is not known or not counted as MME, or with a medicine that may be an opioid."
		}
	}
	return ""
}

// Excluded lists the exclusions of a measure with their counts, or returns
// [None].
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
