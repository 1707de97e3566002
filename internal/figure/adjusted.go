package figure

import (
	"fmt"
	"strings"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/chart"
)

// reasons explain missing figures.
var reasons = map[string]string{
	"suppressed": Hidden, "too_few_patients": "too few patients", "empty_stratum": "none: a stratum of the standard has nobody", "standard_without_that_dimension": "none by this standard",
	"nobody": "no patients match", "singular": "none: the covariates are collinear", "separation": "none: a covariate separates responders from non-responders",
}

// terms are the names of compared and adjusted figures, and of covariates.
var terms = map[string]string{
	"responder_30": "pain 30 % lower or more", "responder_50": "pain 50 % lower or more", "worsened_30": "pain 30 % higher or more", "missing_follow_up": "missing at follow-up",
	"baseline": "pain at baseline", "follow_up_pain": "pain at follow-up", "change": "change of pain", "time_weighted_average": "time-weighted average of pain",
	"baseline_pain": "baseline pain, per point", "depression": "depression, per band of PHQ-9", "opioid_use": "opioid at baseline",
}

// Term returns the name of a compared or adjusted figure, or of a covariate.
func Term(name string) string {
	if known := terms[name]; known != "" {
		return known
	}
	if group, ok := strings.CutPrefix(name, "age_band "); ok {
		return "age " + group
	}
	return Words(name)
}

// Reason explains why a figure is missing.
func Reason(reason *string) string {
	if reason == nil {
		return None
	}
	if words := reasons[*reason]; words != "" {
		return words
	}
	return Words(*reason)
}

// Estimated returns a number and its interval with two decimals, or the reason
// why there is none. The number was rounded to four decimals before. percent
// is set for a proportion.
func Estimated(value *float64, ci *analytics.Bounds, reason *string, percent bool) string {
	if value == nil {
		return Reason(reason)
	}
	scale, unit := 1.0, ""
	if percent {
		scale, unit = 100, " %"
	}
	text := chart.Decimals(scale**value, 2) + unit
	if ci != nil {
		text += " (" + chart.Decimals(scale*ci.Low, 2) + " to " + chart.Decimals(scale*ci.High, 2) + ")"
	}
	return text
}

// Difference returns the difference between two periods, in percentage points
// for proportions.
func Difference(value *float64, ci *analytics.Bounds, reason *string, points bool) string {
	if value == nil || !points {
		return Estimated(value, ci, reason, false)
	}
	return chart.Decimals(100**value, 2) + " points (" + chart.Decimals(100*ci.Low, 2) + " to " + chart.Decimals(100*ci.High, 2) + ")"
}

// Standard describes the standard population.
func Standard(s *analytics.Standardization) string {
	if s.Standard == "given" {
		return "The standard population is the one given in the request."
	}
	return "The standard population is all patients of the organisation who match the gender and age filters."
}

// LeftOut describes the patients left out of the models.
func LeftOut(a *analytics.Adjusted) string {
	return fmt.Sprintf("Excluded: without PHQ-9 at baseline %s (whole organisation %s); with unknown opioid use at baseline %s (whole organisation %s).",
		Counted(a.WithoutPHQ9), Counted(a.Organization.WithoutPHQ9), Counted(a.OpioidUndetermined), Counted(a.Organization.OpioidUndetermined))
}

// EarlierPeriod describes the comparison period, and what the intervals do not
// account for.
func EarlierPeriod(c *analytics.Comparison) string {
	text := fmt.Sprintf("The same filters from %s to %s: %s patients match.", c.StartDate, c.EndDate, Counted(c.Patients))
	if c.Undetermined.Count == nil || *c.Undetermined.Count > 0 {
		text += " May match the filter by class too: " + Counted(c.Undetermined) + "."
	}
	return text + " " + c.Label
}
