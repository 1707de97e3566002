package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/reports"
)

// Every cell of every table of a CSV and of an XLSX file is what the answer
// says in the place that is named here, and every number of the answer has a
// cell.

// wanted is a table as it must be: cells are nil, json.Number, bool or string,
// and a string that is a day or a time is one in XLSX too.
type wanted struct {
	name   string
	header []string
	rows   [][]any
}

// of is a row of cells at paths below a place of the answer; "" is no cell.
func (a *answer) of(place string, paths ...string) (cells []any) {
	a.t.Helper()
	for _, path := range paths {
		if path == "" {
			cells = append(cells, nil)
		} else {
			cells = append(cells, a.at(strings.TrimPrefix(place+"."+path, ".")))
		}
	}
	return cells
}

// shapes are where the figures of a kind have what the columns of Figures say:
// count, n, value, sd, ci95_low, ci95_high, unstable, suppressed, definition,
// percent, undetermined, denominator.
var shapes = map[string][]string{
	"count":      {"count", "", "", "", "", "", "", "suppressed", "", "", "", ""},
	"mean":       {"", "n", "mean", "sd", "ci95.low", "ci95.high", "unstable", "suppressed", "definition", "", "", ""},
	"proportion": {"count", "n", "proportion", "", "ci95.low", "ci95.high", "unstable", "suppressed", "definition", "percent", "undetermined", "denominator"},
}

type figureAt struct{ section, figure, shape, path string }

var (
	figureHeader = strings.Fields("section figure count n value sd ci95_low ci95_high unstable suppressed definition percent undetermined denominator")
	groupHeader  = strings.Fields("section group count percent suppressed n denominator definition")
)

func (a *answer) figures(list []figureAt) wanted {
	a.t.Helper()
	table := wanted{name: "Figures", header: figureHeader}
	for _, f := range list {
		var cells []any
		if paths, ok := shapes[f.shape]; ok {
			cells = a.of(f.path, paths...)
		} else {
			cells = make([]any, 12)
			switch f.shape {
			case "value":
				cells[2] = a.at(f.path)
			case "estimate": // with what stands beside it
				place := f.path[:strings.LastIndex(f.path, ".")]
				cells[2], cells[4], cells[5], cells[6], cells[8] = a.at(f.path), a.at(place+".ci95.low"), a.at(place+".ci95.high"), a.at(place+".unstable"), a.at("adjusted.definition")
			case "tally": // a count beside what says whether it is hidden
				place := f.path[:strings.LastIndex(f.path, ".")]
				cells[0], cells[7] = a.at(f.path), a.at(place+".suppressed")
			}
		}
		table.rows = append(table.rows, append([]any{f.section, f.figure}, cells...))
	}
	return table
}

func (a *answer) groups(places ...[2]string) wanted {
	a.t.Helper()
	table := wanted{name: "Groups", header: groupHeader}
	for _, p := range places {
		for _, group := range a.each(p[1] + ".groups") {
			table.rows = append(table.rows, append([]any{p[0]}, slices.Concat(a.of(group, "group", "count", "percent", "suppressed"), a.of(p[1], "n", "denominator", "definition"))...))
		}
	}
	return table
}

// list is a table of a list of the answer; columns are "name=path".
func (a *answer) list(name, place string, columns ...string) wanted {
	a.t.Helper()
	table := wanted{name: name}
	var paths []string
	for _, c := range columns {
		column, path, given := strings.Cut(c, "=")
		if !given {
			path = column
		}
		table.header, paths = append(table.header, column), append(paths, path)
	}
	for _, entry := range a.each(place) {
		table.rows = append(table.rows, a.of(entry, paths...))
	}
	return table
}

// about is what every file says of itself.
func about(title, organisation, asOf, from, to string, more ...[]any) wanted {
	return wanted{"About", []string{"name", "value"}, append([][]any{{"title", title}, {"organisation", organisation}, {"as_of", asOf}, {"start_date", from}, {"end_date", to}}, more...)}
}

// parameters are the rows of the parameters that are given.
func (a *answer) parameters(names ...string) (rows [][]any) {
	a.t.Helper()
	given := a.names("parameters")
	for _, name := range names {
		if !slices.Contains(given, name) {
			continue // as those that a measure does not take, and those that were not asked for
		}
		if v := a.at("parameters." + name); v != nil && !(name == "min_cell_size" && v == json.Number("0")) {
			rows = append(rows, []any{name, v})
		}
	}
	return rows
}

const filterNames = "gender condition medication_class standard adjust compare_start_date compare_end_date age_min age_max min_cell_size"

func (c *clinic) name() string {
	if len(c.patients) == 0 {
		return "Nobody's Clinic"
	}
	return "Riverside Pain Clinic"
}

func (c *clinic) outcomeTables(a *answer) []wanted {
	list := []figureAt{}
	add := func(section, figure, shape, path string) { list = append(list, figureAt{section, figure, shape, path}) }
	for _, name := range strings.Fields("patients undetermined with_scores without_scores by_average by_current not_yet_due due followed_up") {
		add("cohort", name, "count", "cohort."+name)
	}
	add("cohort", "missing", "proportion", "cohort.missing")
	add("baseline", "baseline", "mean", "baseline")
	for _, name := range strings.Fields("target_day tolerance_days") {
		add("follow_up", name, "value", "follow_up."+name)
	}
	for _, name := range strings.Fields("baseline pain change percent_change") {
		add("follow_up", name, "mean", "follow_up."+name)
	}
	for _, name := range strings.Fields("standardized_response_mean baseline_effect_size") {
		add("follow_up", name, "value", "follow_up."+name)
	}
	for _, name := range strings.Fields("responder_30 responder_50 nrs_ge_2 worsened_30 low_baseline") {
		add("response", name, "proportion", "response."+name)
	}
	for _, name := range strings.Fields("responder_30 responder_50") {
		add("response", "nonresponder_imputation "+name, "proportion", "response.nonresponder_imputation."+name)
	}
	add("trend", "slope_per_week", "mean", "trend.slope.per_week")
	add("trend", "direction", "value", "trend.slope.direction")
	add("time_weighted_average", "time_weighted_average", "mean", "time_weighted_average")
	add("time_to_response", "patients", "tally", "time_to_response.n")
	add("time_to_response", "events", "tally", "time_to_response.events")
	add("time_to_response", "censored", "tally", "time_to_response.censored")
	add("time_to_response", "median_days", "value", "time_to_response.median_days")
	add("global_impression", "pgic", "proportion", "global_impression")
	for _, in := range a.each("instruments") {
		section := "instrument " + a.text(in+".instrument")
		for _, name := range strings.Fields("patients not_yet_due missing") {
			add(section, name, "count", in+"."+name)
		}
		for _, name := range strings.Fields("baseline follow_up change") {
			add(section, name, "mean", in+"."+name)
		}
		if a.at(in+".important_change") != nil {
			add(section, "important_change points", "value", in+".important_change.points")
			add(section, "important_change percent", "value", in+".important_change.percent")
			add(section, "important_change percent_from", "value", in+".important_change.percent_from")
		}
		if a.at(in+".mcid_met") != nil {
			add(section, "mcid_met", "proportion", in+".mcid_met")
		}
	}
	for _, of := range [][2]string{{"procedure", "procedures"}, {"medication_class", "medication_classes"}} {
		if of[0] == "medication_class" {
			add("medication_classes", "undetermined", "count", "medication_classes_undetermined")
		}
		for _, b := range a.each(of[1]) {
			section := of[0] + " " + a.text(b+".treatment")
			for _, name := range strings.Fields("patients not_yet_due no_baseline missing") {
				add(section, name, "count", b+"."+name)
			}
			for _, name := range strings.Fields("before after change") {
				add(section, name, "mean", b+"."+name)
			}
			add(section, "standardized_response_mean", "value", b+".standardized_response_mean")
			add(section, "baseline_effect_size", "value", b+".baseline_effect_size")
			add(section, "responder_30", "proportion", b+".responder_30")
			add(section, "responder_50", "proportion", b+".responder_50")
			if a.at(b+".recorded") != nil {
				for _, name := range strings.Fields("before after change") {
					add(section, "recorded "+name, "mean", b+".recorded."+name)
				}
			}
		}
	}
	list = append(list, a.adjustedFigures()...)
	list = append(list, a.comparisonFigures()...)
	return append([]wanted{
		about("Pain outcomes", c.name(), a.text("generated_at"), a.text("parameters.start_date"), a.text("parameters.end_date"),
			a.parameters(append([]string{"interval", "follow_up"}, strings.Fields(filterNames)...)...)...),
		a.figures(list),
		a.groups([2]string{"primary outcome by site", "cohort.by_site"}, [2]string{"trend direction of patients", "trend.slope.patients"}),
		a.list("Trend", "trend.buckets", "from", "to", "n", "mean", "min", "max", "suppressed"),
		a.list("Time to response", "time_to_response.curve", "day", "at_risk", "events", "censored", "survival", "ci95_low=ci95.low", "ci95_high=ci95.high"),
	}, a.adjustmentTables()...)
}

func (c *clinic) populationTables(a *answer) []wanted {
	list := []figureAt{}
	add := func(section, figure, shape, path string) { list = append(list, figureAt{section, figure, shape, path}) }
	for _, name := range strings.Fields("patients undetermined active inactive") {
		add("cohort", name, "count", "cohort."+name)
	}
	for _, name := range strings.Fields("by_average by_current") {
		add("severity_prevalence", name, "count", "severity_prevalence."+name)
	}
	for _, name := range strings.Fields("opioid_exposure long_term_opioid ge_50 ge_90 opioid_benzo_overlap opioid_gabapentinoid_overlap naloxone_coverage") {
		add("opioids", name, "proportion", "opioids."+name)
	}
	add("opioids", "mme_incomplete", "count", "opioids.mme.incomplete")
	add("opioids", "mme_assumed", "count", "opioids.mme.assumed")
	for _, name := range strings.Fields("opioid_exposure ge_50 ge_90 opioid_benzo_overlap undetermined") {
		add("out_of_guideline_scope", name, "count", "opioids.out_of_guideline_scope."+name)
	}
	for _, class := range a.each("treatment_mix.classes") {
		add("treatment_mix", a.text(class+".definition"), "proportion", class)
	}
	add("treatment_mix", "assumed", "count", "treatment_mix.assumed")
	add("follow_up_gap", "gap", "proportion", "follow_up_gap.gap")
	list = append(list, a.comparisonFigures()...)

	disparities := wanted{name: "Disparities", header: strings.Fields("measure dimension group reference count n proportion ci95_low ci95_high difference difference_ci95_low difference_ci95_high ratio suppressed definition percent undetermined standardized standardized_ci95_low standardized_ci95_high standardized_reason")}
	for _, d := range a.each("disparities") {
		for _, g := range a.each(d + ".groups") {
			disparities.rows = append(disparities.rows, slices.Concat(a.of(d, "measure", "dimension"), a.of(g, "group"), a.of(d, "reference"),
				a.of(g, "count", "n", "proportion", "ci95.low", "ci95.high", "difference", "difference_ci95.low", "difference_ci95.high", "ratio", "suppressed"),
				a.of(d, "definition"), a.of(g, "percent", "undetermined", "standardized.rate", "standardized.ci95.low", "standardized.ci95.high", "standardized.reason")))
		}
	}
	rests := wanted{name: "Insight figures", header: []string{"insight", "figure", "value"}}
	for _, in := range a.each("insights") {
		for _, name := range a.names(in + ".figures") {
			if name == "difference_ci95" {
				for _, end := range []string{"low", "high"} {
					rests.rows = append(rests.rows, []any{a.text(in + ".insight"), name + " " + end, a.at(in + ".figures." + name + "." + end)})
				}
				continue
			}
			rests.rows = append(rests.rows, []any{a.text(in + ".insight"), name, a.at(in + ".figures." + name)})
		}
	}
	doses := wanted{name: "MME", header: strings.Fields("mme n mean q1 median q3 p90 suppressed definition")}
	for _, name := range []string{"peak", "peak_overlapped", "average"} {
		doses.rows = append(doses.rows, append([]any{name}, a.of("opioids.mme."+name, "n", "mean", "q1", "median", "q3", "p90", "suppressed", "definition")...))
	}
	standardised := a.list("Standardised", "standardized.rates", "measure", "count=crude.count", "n=crude.n", "crude=crude.proportion", "ci95_low=crude.ci95.low", "ci95_high=crude.ci95.high", "standardized",
		"standardized_ci95_low=ci95.low", "standardized_ci95_high=ci95.high", "reason", "empty_strata", "percent=crude.percent", "undetermined=crude.undetermined", "unstable=crude.unstable", "suppressed=crude.suppressed",
		"denominator=crude.denominator", "definition=crude.definition")
	standardised.header = append(standardised.header, "standardized_definition")
	for i := range standardised.rows {
		standardised.rows[i] = append(standardised.rows[i], a.at("standardized.definition"))
	}
	strata := wanted{name: "Standard population", header: strings.Fields("standard gender age_band count weight")}
	for _, s := range a.each("standardized.strata") {
		strata.rows = append(strata.rows, append([]any{a.at("standardized.standard")}, a.of(s, "gender", "age_band", "count", "weight")...))
	}
	return append([]wanted{
		about("Population health", c.name(), a.text("generated_at"), a.text("parameters.start_date"), a.text("parameters.end_date"), a.parameters(strings.Fields(filterNames)...)...),
		a.figures(list),
		a.groups([2]string{"severity_prevalence", "severity_prevalence.bands"}, [2]string{"age_bands", "age_bands"}, [2]string{"genders", "genders"}, [2]string{"mme peak", "opioids.mme.peak.bands"},
			[2]string{"mme peak_overlapped", "opioids.mme.peak_overlapped.bands"}, [2]string{"mme average", "opioids.mme.average.bands"}, [2]string{"treatment_mix", "treatment_mix.exclusive"}, [2]string{"last_score", "follow_up_gap.last_score"}),
		doses, disparities,
		a.list("Insights", "insights", "insight", "text"),
		rests, a.measures(), standardised, strata,
	}, a.comparisonTables()...)
}

// adjustedFigures are the lines of what is adjusted, if anything was asked for.
func (a *answer) adjustedFigures() (list []figureAt) {
	a.t.Helper()
	if a.at("adjusted") == nil {
		return nil
	}
	for _, name := range strings.Fields("patients without_phq_9 opioid_use_undetermined") {
		list = append(list, figureAt{"adjusted", name, "count", "adjusted." + name})
	}
	for _, name := range strings.Fields("without_phq_9 opioid_use_undetermined") {
		list = append(list, figureAt{"adjusted organization", name, "count", "adjusted.organization." + name})
	}
	for _, of := range [][2]string{{"change", "mean"}, {"responder_30", "proportion"}} {
		section, place := "adjusted "+of[0], "adjusted."+of[0]
		list = append(list, figureAt{section, "crude", of[1], place + ".crude"}, figureAt{section, "organization", of[1], place + ".organization"},
			figureAt{section, "expected", "value", place + ".expected"}, figureAt{section, "adjusted", "estimate", place + ".adjusted"}, figureAt{section, "reason", "value", place + ".reason"})
	}
	return list
}

// comparisonFigures are the lines of both periods.
func (a *answer) comparisonFigures() (list []figureAt) {
	a.t.Helper()
	if a.at("comparison") == nil {
		return nil
	}
	for _, name := range strings.Fields("patients undetermined") {
		list = append(list, figureAt{"comparison earlier", name, "count", "comparison." + name})
	}
	for _, of := range [][2]string{{"rates", "proportion"}, {"means", "mean"}} {
		for _, c := range a.each("comparison." + of[0]) {
			list = append(list, figureAt{"comparison current", a.text(c + ".figure"), of[1], c + ".current"}, figureAt{"comparison earlier", a.text(c + ".figure"), of[1], c + ".earlier"})
		}
	}
	return list
}

func (a *answer) comparisonTables() []wanted {
	a.t.Helper()
	if a.at("comparison") == nil {
		return nil
	}
	table := wanted{name: "Comparison", header: strings.Fields("figure earlier_start_date earlier_end_date n value earlier_n earlier_value difference difference_ci95_low difference_ci95_high reason")}
	for _, of := range [][2]string{{"rates", "proportion"}, {"means", "mean"}} {
		for _, c := range a.each("comparison." + of[0]) {
			table.rows = append(table.rows, slices.Concat(a.of(c, "figure"), a.of("comparison", "start_date", "end_date"),
				a.of(c, "current.n", "current."+of[1], "earlier.n", "earlier."+of[1], "difference", "difference_ci95.low", "difference_ci95.high", "reason")))
		}
	}
	return []wanted{table}
}

func (a *answer) adjustmentTables() (tables []wanted) {
	a.t.Helper()
	if a.at("adjusted") != nil {
		table := wanted{name: "Coefficients", header: strings.Fields("model method term status estimate standard_error ci95_low ci95_high odds_ratio")}
		for _, model := range []string{"change", "responder_30"} {
			for _, c := range a.each("adjusted." + model + ".coefficients") {
				table.rows = append(table.rows, slices.Concat([]any{model}, a.of("adjusted."+model, "method"), a.of(c, "term", "status", "estimate", "standard_error", "ci95.low", "ci95.high", "odds_ratio")))
			}
		}
		tables = append(tables, table)
	}
	return append(tables, a.comparisonTables()...)
}

// measures is the table of aligned measures. What is excluded has a column for
// each reason, empty where a measure does not know it.
func (a *answer) measures() wanted {
	a.t.Helper()
	reasons := strings.Fields("under_18 cancer sickle_cell palliative_care oud_treatment episode_not_over")
	table := wanted{name: "Measures", header: strings.Fields("measure name aligned proxy direction count n proportion percent ci95_low ci95_high unstable suppressed considered undetermined not_recorded " +
		"excluded_under_18 excluded_cancer excluded_sickle_cell excluded_palliative_care excluded_oud_treatment excluded_episode_not_over numerator denominator definition caveat")}
	for _, m := range a.each("measures") {
		row := a.of(m, "id", "name", "aligned", "proxy", "direction", "count", "n", "proportion", "percent", "ci95.low", "ci95.high", "unstable", "suppressed", "considered", "undetermined", "not_recorded")
		excluded := make([]any, len(reasons))
		for _, e := range a.each(m + ".exclusions") {
			excluded[slices.Index(reasons, a.text(e+".reason"))] = a.at(e + ".count")
			_ = a.at(e + ".suppressed") // a cell is empty when it is hidden
		}
		table.rows = append(table.rows, slices.Concat(row, excluded, a.of(m, "numerator", "denominator", "definition", "caveat")))
	}
	return table
}

func (c *clinic) stewardshipTables(a *answer) []wanted {
	table := a.list("Patients", "patients", strings.Fields("patient_id name date_of_birth age opioids current mme mme_band mme_peak mme_average incomplete opioid_days ge_50 ge_90 opioid_benzo_overlap overlap_days "+
		"naloxone_gap naloxone_reasons last_naloxone last_uds uds_within_12_months unexpected_uds last_peg peg_within_12_months prescribers pharmacies out_of_guideline_scope "+
		"opioid_exposure unclassified mme_incomplete most_opioid_days most_prescribers mme_peak_overlapped mme_assumed assumed_days")...)
	return []wanted{table, a.measures()}
}

func (c *clinic) patientTables(a *answer, h *Head, who *chronicle) []wanted {
	rows := [][]any{{"patient_id", who.ID.String()}, {"name", who.Name}, {"date_of_birth", who.DateOfBirth.String()}, {"gender", who.Gender}}
	for _, r := range [][2]string{{"pain_aspect", "pain.aspect"}, {"pain_scale", "pain.scale"}, {"pain_body_site", "pain.body_site"}, {"pain_laterality", "pain.laterality"}, {"severity_scheme", "pain.scheme"}, {"pain_scores", "pain.scores"},
		{"pain_scores_truncated", "pain.truncated"}, {"mme_from", "mme.from"}, {"mme_to", "mme.to"}, {"mme_current", "mme.current"}, {"mme_band", "mme.current_band"}, {"mme_peak", "mme.peak"},
		{"mme_peak_overlapped", "mme.peak_overlapped"}, {"mme_average", "mme.average"}, {"mme_covered_days", "mme.covered_days"}, {"mme_assumed_days", "mme.assumed_days"}, {"mme_days_ge_50", "mme.days_ge_50"}, {"mme_days_ge_90", "mme.days_ge_90"}, {"mme_incomplete", "mme.incomplete"}, {"mme_incomplete_reasons", "mme.incomplete_reasons"}, {"mme_caveat", "mme.caveat"}} {
		rows = append(rows, []any{r[0], a.at(r[1])})
	}
	points := wanted{name: "Pain", header: strings.Fields("point at score band change_points change_percent responder_30 responder_50 nrs_ge_2 worsened_30 low_baseline scores")}
	if a.at("pain.baseline") != nil {
		points.rows = append(points.rows, append([]any{"baseline"}, a.of("pain.baseline", "index_date", "score", "band", "", "", "", "", "", "", "", "scores")...))
	}
	if a.at("pain.latest") != nil {
		points.rows = append(points.rows, slices.Concat([]any{"latest"}, a.of("pain.latest", "recorded_at", "score", "band"),
			a.of("pain.change", "points", "percent", "responder_30", "responder_50", "nrs_ge_2", "worsened_30", "low_baseline", "")))
	}
	basis := wanted{name: "Flag basis", header: []string{"flag", "basis", "value"}}
	for _, f := range a.each("flags") {
		for _, name := range a.names(f + ".basis") {
			basis.rows = append(basis.rows, []any{a.text(f + ".flag"), name, a.at(f + ".basis." + name)})
		}
	}
	return []wanted{
		about("Patient summary", c.name(), a.text("generated_at"), h.From.String(), a.text("as_of"), rows...),
		points,
		a.list("Pain scores", "pain.points", "recorded_at", "score", "band", "aspect", "scale"),
		a.list("Medications", "medications.current", "name", "drug_class", "status", "first_start_date", "start_date", "end_date", "mme_per_day", "mme_excluded_reason", "record_id", "last_start_date", "assumed", "assumed_until"),
		a.list("MME", "mme.timeline", "from", "to", "mme", "incomplete", "assumed"),
		a.list("Instruments", "instruments", "instrument", "recorded_at", "status", "score", "band", "previous_score=previous.score", "change", "mcid_met", "previous_recorded_at=previous.recorded_at"),
		a.list("Procedures", "procedures", "procedure_type", "recorded_at", "body_site", "laterality", "level", "pre_score", "post_score", "relief_percent", "record_id"),
		a.list("Flags", "flags", "flag", "active", "since"),
		basis,
	}
}

// wantedOf is the tables of a report, by its answer.
func (c *clinic) wantedOf(t *testing.T, a *answer, d contents) (tables []wanted) {
	t.Helper()
	switch d := d.(type) {
	case *Outcomes:
		tables = c.outcomeTables(a)
		a.complete("parameters.min_cell_size")
	case *Population:
		tables = c.populationTables(a)
		a.complete("parameters.min_cell_size", "parameters.follow_up") // which has no effect
	case *Stewardship:
		tables = c.stewardshipTables(a)
		c.sums(t, a)
		a.complete("patients_looked_at") // the table is of those with an opioid
	case *PatientSummary:
		i := slices.IndexFunc(c.patients, func(who *chronicle) bool { return who.ID == d.Chart.Patient.ID })
		tables = c.patientTables(a, &d.Head, c.patients[i])
		a.complete()
	}
	return tables
}

// sums checks the counts of a stewardship response, which are not in the
// table, by counting its rows.
func (c *clinic) sums(t *testing.T, a *answer) {
	t.Helper()
	want := map[string]int{}
	for _, p := range a.each("patients") {
		add := func(name string, holds bool) {
			if holds {
				want[name]++
			}
		}
		add("listed", true)
		band := a.text(p + ".mme_band")
		if band == "" {
			band = "unknown"
		}
		want["mme_bands."+band]++
		current := a.truth(p + ".current")
		prescribers, _ := a.count(p + ".prescribers")
		add("current", current)
		for _, name := range strings.Fields("ge_50 ge_90 opioid_benzo_overlap naloxone_gap incomplete out_of_guideline_scope") {
			add(name, a.truth(p+"."+name))
		}
		maybe := a.at(p+".current") == nil
		add("undetermined.current", maybe)
		for _, name := range strings.Fields("opioid_exposure ge_50 ge_90 opioid_benzo_overlap naloxone_gap") {
			add("undetermined."+name, a.at(p+"."+name) == nil)
		}
		add("undetermined.no_uds_12_months", maybe && !a.truth(p+".uds_within_12_months"))
		add("undetermined.no_peg_12_months", maybe && !a.truth(p+".peg_within_12_months"))
		most, _ := a.count(p + ".most_prescribers")
		add("undetermined.prescribers_ge_4", prescribers < 4 && most >= 4)
		add("no_uds_12_months", current && !a.truth(p+".uds_within_12_months"))
		add("no_peg_12_months", current && !a.truth(p+".peg_within_12_months"))
		add("prescribers_ge_4", prescribers >= 4)
		assumed, _ := a.count(p + ".assumed_days")
		add("assumed", assumed > 0)
	}
	check := func(name, path string) {
		if got, ok := a.count(path); !ok || got != want[name] {
			t.Errorf("%s is %d, %d are listed", path, got, want[name])
		}
	}
	for _, name := range a.names("counts") {
		if name != "mme_bands" && name != "undetermined" {
			check(name, "counts."+name)
		}
	}
	for _, name := range a.names("counts.undetermined") {
		check("undetermined."+name, "counts.undetermined."+name)
	}
	for _, band := range a.names("counts.mme_bands") {
		check("mme_bands."+band, "counts.mme_bands."+band)
	}
}

// checkTables reads the tables of a report with readers that are not ours.
func (c *clinic) checkTables(t *testing.T, d contents) {
	t.Helper()
	tables := c.wantedOf(t, answerIn(t, c.file(t, d, reports.JSON)), d)
	inCSV := tables
	if _, ok := d.(*Stewardship); ok {
		inCSV = tables[:1] // the list of patients alone
	}
	checkCSV(t, c.file(t, d, reports.CSV), inCSV)
	checkXLSX(t, c.file(t, d, reports.XLSX), tables)
}
