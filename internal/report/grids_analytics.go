package report

import (
	"maps"
	"slices"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/report/grid"
)

// Each figure of the analytics is one line: its name, the number of patients,
// its value with the interval, and its definition. Figures that are easier to
// read in a table have their own.

// figures collects lines of figures.
type figures struct{ lines, groups [][]any }

var (
	figureColumns = []string{"section", "figure", "count", "n", "value", "sd", "ci95_low", "ci95_high", "unstable", "suppressed", "definition", "percent", "undetermined", "denominator"}
	groupColumns  = []string{"section", "group", "count", "percent", "suppressed", "n", "denominator", "definition"}
)

func limits(b *analytics.Bounds) (low, high any) {
	if b == nil {
		return nil, nil
	}
	return b.Low, b.High
}

func (f *figures) count(section, figure string, c analytics.Count) {
	f.lines = append(f.lines, []any{section, figure, c.Count, nil, nil, nil, nil, nil, nil, c.Suppressed, nil, nil, nil, nil})
}

func (f *figures) mean(section, figure string, m *analytics.Mean) {
	low, high := limits(m.CI95)
	f.lines = append(f.lines, []any{section, figure, nil, m.N, m.Mean, m.SD, low, high, m.Unstable, m.Suppressed, m.Definition, nil, nil, nil})
}

func (f *figures) proportion(section, figure string, p *analytics.Proportion) {
	low, high := limits(p.CI95)
	f.lines = append(f.lines, []any{section, figure, p.Count, p.N, p.Proportion, nil, low, high, p.Unstable, p.Suppressed, p.Definition, p.Percent, p.Undetermined, p.Denominator})
}

func (f *figures) value(section, figure string, v any) {
	f.lines = append(f.lines, []any{section, figure, nil, nil, v, nil, nil, nil, nil, nil, nil, nil, nil, nil})
}

func (f *figures) split(section string, s *analytics.Split) {
	for _, g := range s.Groups {
		f.groups = append(f.groups, []any{section, g.Group, g.Count, g.Percent, g.Suppressed, s.N, s.Denominator, s.Definition})
	}
}

func (f *figures) tables(about grid.Table) []grid.Table {
	return []grid.Table{about,
		{Name: "Figures", Columns: figureColumns, Rows: slices.Values(f.lines)},
		{Name: "Groups", Columns: groupColumns, Rows: slices.Values(f.groups)},
	}
}

func (d *Outcomes) grids() []grid.Table {
	r := d.Result
	var f figures
	f.count("cohort", "patients", r.Cohort.Patients)
	f.count("cohort", "undetermined", r.Cohort.Undetermined)
	f.count("cohort", "with_scores", r.Cohort.WithScores)
	f.count("cohort", "without_scores", r.Cohort.WithoutScores)
	f.count("cohort", "by_average", r.Cohort.ByAverage)
	f.count("cohort", "by_current", r.Cohort.ByCurrent)
	f.split("primary outcome by site", &r.Cohort.BySite)
	f.count("cohort", "not_yet_due", r.Cohort.NotYetDue)
	f.count("cohort", "due", r.Cohort.Due)
	f.count("cohort", "followed_up", r.Cohort.FollowedUp)
	f.proportion("cohort", "missing", &r.Cohort.Missing)
	f.mean("baseline", "baseline", &r.Baseline)
	f.value("follow_up", "target_day", r.FollowUp.TargetDay)
	f.value("follow_up", "tolerance_days", r.FollowUp.ToleranceDays)
	f.mean("follow_up", "baseline", &r.FollowUp.Baseline)
	f.mean("follow_up", "pain", &r.FollowUp.Pain)
	f.mean("follow_up", "change", &r.FollowUp.Change)
	f.mean("follow_up", "percent_change", &r.FollowUp.PercentChange)
	f.value("follow_up", "standardized_response_mean", r.FollowUp.SRM)
	f.value("follow_up", "baseline_effect_size", r.FollowUp.BaselineEffectSize)
	imputed := &r.Response.NonresponderImputation
	f.proportion("response", "responder_30", &r.Response.Responder30)
	f.proportion("response", "responder_50", &r.Response.Responder50)
	f.proportion("response", "nrs_ge_2", &r.Response.NRSAtLeast2)
	f.proportion("response", "worsened_30", &r.Response.Worsened30)
	f.proportion("response", "low_baseline", &r.Response.LowBaseline)
	f.proportion("response", "nonresponder_imputation responder_30", &imputed.Responder30)
	f.proportion("response", "nonresponder_imputation responder_50", &imputed.Responder50)
	f.mean("trend", "slope_per_week", &r.Trend.Slope.PerWeek)
	f.value("trend", "direction", r.Trend.Slope.Direction)
	f.split("trend direction of patients", &r.Trend.Slope.Patients)
	f.mean("time_weighted_average", "time_weighted_average", &r.TimeWeightedAverage)
	times := &r.TimeToResponse
	f.count("time_to_response", "patients", analytics.Count{Count: times.N, Suppressed: times.Suppressed})
	f.count("time_to_response", "events", analytics.Count{Count: times.Events, Suppressed: times.Suppressed})
	f.count("time_to_response", "censored", analytics.Count{Count: times.Censored, Suppressed: times.Suppressed})
	f.value("time_to_response", "median_days", times.MedianDays)
	f.proportion("global_impression", "pgic", &r.GlobalImpression)
	for i := range r.Instruments {
		f.instrument(&r.Instruments[i])
	}
	for i := range r.Procedures {
		f.beforeAfter("procedure "+r.Procedures[i].Treatment, &r.Procedures[i])
	}
	f.count("medication_classes", "undetermined", r.ClassesUndetermined)
	for i := range r.MedicationClasses {
		f.beforeAfter("medication_class "+r.MedicationClasses[i].Treatment, &r.MedicationClasses[i])
	}
	f.adjusted(r.Adjusted)
	f.comparison(r.Comparison)
	var buckets, curve [][]any
	for _, b := range r.Trend.Buckets {
		buckets = append(buckets, []any{typed(b.From), typed(b.To), b.N, b.Mean, b.Min, b.Max, b.Suppressed})
	}
	for _, p := range r.TimeToResponse.Curve {
		low, high := limits(p.CI95)
		curve = append(curve, []any{p.Day, p.AtRisk, p.Events, p.Censored, p.Survival, low, high})
	}
	tables := append(f.tables(d.aboutGrid()),
		grid.Table{Name: "Trend", Columns: []string{"from", "to", "n", "mean", "min", "max", "suppressed"}, Rows: slices.Values(buckets)},
		grid.Table{Name: "Time to response", Columns: []string{"day", "at_risk", "events", "censored", "survival", "ci95_low", "ci95_high"}, Rows: slices.Values(curve)})
	return slices.Concat(tables, coefficientsGrid(r.Adjusted), comparisonGrid(r.Comparison))
}

func (f *figures) instrument(in *analytics.InstrumentUse) {
	section := "instrument " + in.Instrument
	f.count(section, "patients", in.Patients)
	f.count(section, "not_yet_due", in.NotYetDue)
	f.count(section, "missing", in.Missing)
	f.mean(section, "baseline", &in.Baseline)
	f.mean(section, "follow_up", &in.FollowUp)
	f.mean(section, "change", &in.Change)
	if c := in.ImportantChange; c != nil {
		f.value(section, "important_change points", c.Points)
		f.value(section, "important_change percent", c.Percent)
		f.value(section, "important_change percent_from", c.PercentFrom)
	}
	if in.MCIDMet != nil {
		f.proportion(section, "mcid_met", in.MCIDMet)
	}
}

func (f *figures) beforeAfter(section string, b *analytics.BeforeAfter) {
	f.count(section, "patients", b.Patients)
	f.count(section, "not_yet_due", b.NotYetDue)
	f.count(section, "no_baseline", b.NoBaseline)
	f.count(section, "missing", b.Missing)
	f.mean(section, "before", &b.Before)
	f.mean(section, "after", &b.After)
	f.mean(section, "change", &b.Change)
	f.value(section, "standardized_response_mean", b.SRM)
	f.value(section, "baseline_effect_size", b.EffectSize)
	f.proportion(section, "responder_30", &b.R30)
	f.proportion(section, "responder_50", &b.R50)
	if b.Recorded != nil {
		f.mean(section, "recorded before", &b.Recorded.Before)
		f.mean(section, "recorded after", &b.Recorded.After)
		f.mean(section, "recorded change", &b.Recorded.Change)
	}
}

func (d *Population) grids() []grid.Table {
	r := d.Result
	var f figures
	f.count("cohort", "patients", r.Cohort.Patients)
	f.count("cohort", "undetermined", r.Cohort.Undetermined)
	f.count("cohort", "active", r.Cohort.Active)
	f.count("cohort", "inactive", r.Cohort.Inactive)
	f.split("severity_prevalence", &r.Severity.Bands)
	f.count("severity_prevalence", "by_average", r.Severity.ByAverage)
	f.count("severity_prevalence", "by_current", r.Severity.ByCurrent)
	f.split("age_bands", &r.AgeBands)
	f.split("genders", &r.Genders)
	o := &r.Opioids
	f.proportion("opioids", "opioid_exposure", &o.Exposure)
	f.proportion("opioids", "long_term_opioid", &o.LongTerm)
	f.proportion("opioids", "ge_50", &o.AtLeast50)
	f.proportion("opioids", "ge_90", &o.AtLeast90)
	f.proportion("opioids", "opioid_benzo_overlap", &o.BenzodiazepineOverlap)
	f.proportion("opioids", "opioid_gabapentinoid_overlap", &o.GabapentinoidOverlap)
	f.proportion("opioids", "naloxone_coverage", &o.NaloxoneCoverage)
	f.count("opioids", "mme_incomplete", o.MME.Incomplete)
	f.count("opioids", "mme_assumed", o.MME.Assumed)
	f.count("out_of_guideline_scope", "opioid_exposure", o.OutOfScope.Exposure)
	f.count("out_of_guideline_scope", "ge_50", o.OutOfScope.AtLeast50)
	f.count("out_of_guideline_scope", "ge_90", o.OutOfScope.AtLeast90)
	f.count("out_of_guideline_scope", "opioid_benzo_overlap", o.OutOfScope.BenzodiazepineOverlap)
	f.count("out_of_guideline_scope", "undetermined", o.OutOfScope.Undetermined)
	f.split("mme peak", &o.MME.Peak.Bands)
	f.split("mme peak_overlapped", &o.MME.PeakOverlapped.Bands)
	f.split("mme average", &o.MME.Average.Bands)
	for i := range r.Treatments.Classes {
		f.proportion("treatment_mix", r.Treatments.Classes[i].Definition, &r.Treatments.Classes[i])
	}
	f.split("treatment_mix", &r.Treatments.Exclusive)
	f.count("treatment_mix", "assumed", r.Treatments.Assumed)
	f.proportion("follow_up_gap", "gap", &r.FollowUpGap.Gap)
	f.split("last_score", &r.FollowUpGap.Last)
	f.comparison(r.Comparison)
	var doses, disparities, insights, rests [][]any
	for i, m := range []*analytics.Distribution{&o.MME.Peak, &o.MME.PeakOverlapped, &o.MME.Average} {
		doses = append(doses, []any{[]string{"peak", "peak_overlapped", "average"}[i], m.N, m.Mean, m.Q1, m.Median, m.Q3, m.P90, m.Suppressed, m.Definition})
	}
	for _, of := range r.Disparities {
		for _, g := range of.Groups {
			low, high := limits(g.CI95)
			diffLow, diffHigh := limits(g.DiffCI95)
			standardLow, standardHigh := limits(g.Standardized.CI95)
			disparities = append(disparities, []any{of.Measure, of.Dimension, g.Group, of.Reference, g.Count, g.N, g.Proportion, low, high,
				g.Difference, diffLow, diffHigh, g.Ratio, g.Suppressed, of.Definition, g.Percent, g.Undetermined,
				g.Standardized.Rate, standardLow, standardHigh, g.Standardized.Reason})
		}
	}
	for _, in := range r.Insights {
		insights = append(insights, []any{in.Insight, in.Text})
		rests = append(rests, insightLines(&in)...)
	}
	tables := append(f.tables(d.aboutGrid()),
		grid.Table{Name: "MME", Columns: []string{"mme", "n", "mean", "q1", "median", "q3", "p90", "suppressed", "definition"}, Rows: slices.Values(doses)},
		grid.Table{Name: "Disparities", Columns: []string{"measure", "dimension", "group", "reference", "count", "n", "proportion", "ci95_low", "ci95_high",
			"difference", "difference_ci95_low", "difference_ci95_high", "ratio", "suppressed", "definition", "percent", "undetermined",
			"standardized", "standardized_ci95_low", "standardized_ci95_high", "standardized_reason"}, Rows: slices.Values(disparities)},
		grid.Table{Name: "Insights", Columns: []string{"insight", "text"}, Rows: slices.Values(insights)},
		grid.Table{Name: "Insight figures", Columns: []string{"insight", "figure", "value"}, Rows: slices.Values(rests)},
		measureGrid(r.Measures))
	return slices.Concat(tables, standardGrids(&r.Standardized), comparisonGrid(r.Comparison))
}

// insightLines returns the figures behind an insight, one line each.
func insightLines(in *analytics.Insight) (lines [][]any) {
	for _, name := range slices.Sorted(maps.Keys(in.Figures)) {
		if b, ok := in.Figures[name].(analytics.Bounds); ok {
			lines = append(lines, []any{in.Insight, name + " low", b.Low}, []any{in.Insight, name + " high", b.High})
			continue
		}
		lines = append(lines, []any{in.Insight, name, in.Figures[name]})
	}
	return lines
}
