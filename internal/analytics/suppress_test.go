package analytics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// leaves are the numbers of an answer by their paths; nil is null.
type leaves map[string]*float64

func flatten(t *rapid.T, answer any) (leaves, []any) {
	b, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	all := leaves{}
	var objects []any
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			v["path"] = path
			objects = append(objects, v)
			for name, member := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), member)
			}
		case []any:
			for i, member := range v {
				walk(fmt.Sprint(path, ".", i), member)
			}
		case float64:
			all[path] = &v
		case nil:
			all[path] = nil
		}
	}
	walk("", tree)
	return all, objects
}

// identity says that a number is the sum of others, and of a rest that is not
// printed if open is set.
type identity struct {
	whole string
	parts []string
	open  bool
}

// general are the identities that follow from the shape of a figure.
func general(objects []any) (list []identity) {
	for _, o := range objects {
		o := o.(map[string]any)
		path := o["path"].(string) + "."
		if strings.HasPrefix(path, "insights.") {
			continue // others are told
		}
		if groups, ok := o["groups"].([]any); ok && hasKey(o, "n") {
			id := identity{whole: path + "n"}
			for i := range groups {
				part := fmt.Sprint(path, "groups.", i, ".count")
				id.parts = append(id.parts, part)
				list = append(list, identity{path + "n", []string{part}, true})
			}
			list = append(list, id)
		}
		if hasKey(o, "count") && hasKey(o, "n") {
			list = append(list, identity{path + "n", []string{path + "count"}, true})
		}
		if hasKey(o, "events") && hasKey(o, "n") {
			list = append(list, identity{path + "n", []string{path + "events", path + "censored"}, false})
		}
	}
	return list
}

func hasKey(o map[string]any, name string) bool { _, ok := o[name]; return ok }

func populationIdentities(p *Population) []identity {
	same := func(a, b string) identity { return identity{a, []string{b}, false} }
	among := func(a, b string) identity { return identity{a, []string{b}, true} }
	active, exposed, none := "cohort.active.count", "opioids.opioid_exposure.count", "opioids.mme.peak.bands.groups.0.count"
	list := []identity{
		{"cohort.patients.count", []string{active, "cohort.inactive.count"}, false},
		same("genders.n", active), same("age_bands.n", active), same("treatment_mix.exclusive.n", active),
		same("follow_up_gap.gap.n", "cohort.patients.count"), same("follow_up_gap.last_score.n", "cohort.patients.count"),
		{"follow_up_gap.gap.count", []string{"follow_up_gap.last_score.groups.1.count", "follow_up_gap.last_score.groups.2.count"}, false},
		{"severity_prevalence.bands.n", []string{"severity_prevalence.by_average.count", "severity_prevalence.by_current.count"}, false},
		among(active, "severity_prevalence.bands.n"),
		{active, []string{"opioids.opioid_exposure.n", "opioids.opioid_exposure.undetermined"}, false},
		{"opioids.opioid_exposure.n", []string{exposed, none}, false},
		{active, []string{"opioids.long_term_opioid.n", "opioids.long_term_opioid.undetermined"}, false},
		{exposed, []string{"treatment_mix.exclusive.groups.0.count", "treatment_mix.exclusive.groups.2.count"}, true},
		{active, []string{none, "opioids.mme.average.n", "opioids.mme.average.bands.groups.5.count"}, false},
		among("opioids.mme.average.bands.groups.5.count", "opioids.mme.peak.bands.groups.5.count"), among(exposed, "opioids.mme.peak.n"),
		same("opioids.mme.peak.n", "opioids.mme.average.n"), same("opioids.mme.peak.bands.n", active), same("opioids.mme.average.bands.n", active),
		same("opioids.mme.peak.bands.groups.0.count", "opioids.mme.average.bands.groups.0.count"),
		{"opioids.ge_50.count", []string{"opioids.mme.peak.bands.groups.3.count", "opioids.mme.peak.bands.groups.4.count"}, true},
		same("opioids.ge_90.count", "opioids.mme.peak.bands.groups.4.count"),
		same("opioids.mme.peak.n", "opioids.mme.peak_overlapped.n"), same("opioids.mme.peak_overlapped.bands.n", active),
		same("opioids.mme.peak_overlapped.bands.groups.0.count", none), among(exposed, "opioids.mme.assumed.count"), among(active, "treatment_mix.assumed.count"),
		among("opioids.mme.peak_overlapped.bands.groups.4.count", "opioids.mme.peak.bands.groups.4.count"),
		among("opioids.mme.peak.bands.groups.5.count", "opioids.mme.peak_overlapped.bands.groups.5.count"),
		among(exposed, "opioids.mme.incomplete.count"), among(exposed, "opioids.out_of_guideline_scope.opioid_exposure.count"),
		among("opioids.ge_50.count", "opioids.out_of_guideline_scope.ge_50.count"), among("opioids.ge_90.count", "opioids.out_of_guideline_scope.ge_90.count"),
		same("treatment_mix.classes.0.count", exposed), same("treatment_mix.classes.0.undetermined", "opioids.opioid_exposure.undetermined"), among(active, "opioids.out_of_guideline_scope.undetermined.count"),
	}
	for _, name := range []string{"ge_50", "ge_90", "opioid_benzo_overlap", "opioid_gabapentinoid_overlap", "naloxone_coverage"} {
		list = append(list, identity{active, []string{none, "opioids." + name + ".n", "opioids." + name + ".undetermined"}, false})
	}
	for i, name := range classNames() {
		class := fmt.Sprint("treatment_mix.classes.", i)
		if name == "unclassified" {
			list = append(list, same(class+".n", active))
		} else {
			list = append(list, identity{active, []string{class + ".n", class + ".undetermined"}, false})
		}
	}
	for i, m := range alignedMeasures {
		p := fmt.Sprint("measures.", i, ".")
		parts := []string{p + "n", p + "undetermined"}
		for why := range crowdExclusions[m.of] {
			parts = append(parts, fmt.Sprint(p, "exclusions.", why, ".count"))
		}
		list = append(list, identity{p + "considered", parts, false})
		if recordsSources(i) {
			list = append(list, among(p+"undetermined", p+"not_recorded"))
		}
		for k, other := range alignedMeasures[:i] { // what they share
			if q := fmt.Sprint("measures.", k, "."); other.of == m.of {
				list = append(list, same(p+"considered", q+"considered"))
				for why := range crowdExclusions[m.of] {
					reason := fmt.Sprint("exclusions.", why, ".count")
					list = append(list, same(p+reason, q+reason))
				}
			}
		}
		switch m.of {
		case asked:
			list = append(list, among("cohort.patients.count", p+"considered"))
		case unasked:
			list = append(list, same(p+"considered", fmt.Sprint("measures.", highImpact, ".undetermined")))
		default:
			list = append(list, among(active, p+"considered"))
		}
	}
	counted := func(measure int) string { return fmt.Sprint("measures.", measure, ".count") }
	list = append(list, among(counted(manyPrescribers), counted(manyBoth)), among(counted(manyPharmacies), counted(manyBoth)), among(counted(highDose), counted(highDosePeriod)))
	totals := []string{"severity_prevalence.bands.groups.3.count", exposed, "opioids.long_term_opioid.count", "opioids.ge_50.count", "follow_up_gap.gap.count"}
	ns := []string{"severity_prevalence.bands.n", "opioids.opioid_exposure.n", "opioids.long_term_opioid.n", "opioids.ge_50.n", "cohort.patients.count"}
	for m := range totals {
		for d, groups := range []string{"genders", "age_bands"} {
			count, n := identity{whole: totals[m]}, identity{whole: ns[m]}
			for i := range groupNames[d] {
				group := fmt.Sprint("disparities.", 2*m+d, ".groups.", i)
				count.parts, n.parts = append(count.parts, group+".count"), append(n.parts, group+".n")
				own := fmt.Sprint(groups, ".groups.", i, ".count")
				switch measureNames[m] {
				case "opioid_exposure", "long_term_opioid":
					list = append(list, identity{own, []string{group + ".n", group + ".undetermined"}, false})
				case "follow_up_gap":
					list = append(list, among(group+".n", own))
				default:
					list = append(list, among(own, group+".n"))
				}
			}
			list = append(list, count, n)
		}
	}
	return append(list, adjustmentIdentities(p, totals, ns)...)
}

// adjustmentIdentities are those of standardised rates, of the strata of the
// standard, and of the comparison with an earlier period.
func adjustmentIdentities(p *Population, totals, ns []string) (list []identity) {
	same := func(a, b string) identity { return identity{a, []string{b}, false} }
	totals, ns = append(slices.Clone(totals), "opioids.ge_90.count", "opioids.opioid_benzo_overlap.count"), append(slices.Clone(ns), "opioids.ge_90.n", "opioids.opioid_benzo_overlap.n")
	for i := range p.Standardized.Rates {
		crude := fmt.Sprint("standardized.rates.", i, ".crude.")
		list = append(list, same(crude+"count", totals[i]), same(crude+"n", ns[i]))
	}
	if c := p.Comparison; c != nil {
		for i, of := range []string{"", "opioid_exposure", "long_term_opioid", "ge_50", "ge_90", "opioid_benzo_overlap", "opioid_gabapentinoid_overlap", "naloxone_coverage"} {
			if of != "" {
				current := fmt.Sprint("comparison.rates.", i, ".current.")
				list = append(list, same(current+"count", "opioids."+of+".count"), same(current+"n", "opioids."+of+".n"))
			}
		}
		list = append(list, same("comparison.rates.8.earlier.n", "comparison.patients.count"))
		if q := &p.Parameters; q.MedicationClass == nil && q.AgeMin == nil && q.AgeMax == nil { // the same people
			list = append(list, same("comparison.patients.count", "cohort.patients.count"))
		}
		list = append(list, same("comparison.rates.0.current.count", totals[0]), same("comparison.rates.0.current.n", ns[0]),
			same("comparison.rates.8.current.count", "follow_up_gap.gap.count"), same("comparison.rates.8.current.n", "cohort.patients.count"))
	}
	if p.Standardized.Standard != "organization" {
		return list
	}
	whole := identity{whole: "cohort.patients.count", open: p.Parameters.Condition != nil || p.Parameters.MedicationClass != nil}
	margins := map[string]*identity{}
	for i, stratum := range p.Standardized.Strata {
		part := fmt.Sprint("standardized.strata.", i, ".count")
		whole.parts = append(whole.parts, part)
		// The last measure has everybody of a group as its n.
		for d, name := range []*string{stratum.Gender, stratum.AgeBand} {
			if name != nil {
				group := fmt.Sprint("disparities.", 8+d, ".groups.", slices.Index(groupNames[d], *name), ".n")
				if margins[group] == nil {
					margins[group] = &identity{whole: group}
				}
				margins[group].parts = append(margins[group].parts, part)
			}
		}
	}
	if whole.open || len(whole.parts) == 0 {
		return list // what is left over is somebody else
	}
	list = append(list, whole)
	for _, m := range margins {
		list = append(list, *m)
	}
	return list
}

func adjustedIdentities(o *Outcomes) (list []identity) {
	same := func(a, b string) identity { return identity{a, []string{b}, false} }
	among := func(a, b string) identity { return identity{a, []string{b}, true} }
	if o.Adjusted != nil {
		crude, all := "adjusted.responder_30.crude.", "adjusted.responder_30.organization."
		list = append(list,
			identity{"cohort.followed_up.count", []string{"adjusted.patients.count", "adjusted.without_phq_9.count", "adjusted.opioid_use_undetermined.count"}, false},
			same("adjusted.patients.count", "adjusted.change.crude.n"), among("adjusted.patients.count", crude+"n"), among("response.responder_30.n", crude+"n"),
			among("response.responder_30.count", crude+"count"), among("adjusted.change.organization.n", "adjusted.change.crude.n"), among("adjusted.change.organization.n", all+"n"),
			among(all+"n", crude+"n"), among(all+"count", crude+"count"),
			among("adjusted.organization.without_phq_9.count", "adjusted.without_phq_9.count"), among("adjusted.organization.opioid_use_undetermined.count", "adjusted.opioid_use_undetermined.count"))
	}
	if o.Comparison != nil {
		if q := &o.Parameters; q.MedicationClass == nil && q.AgeMin == nil && q.AgeMax == nil { // the same people
			list = append(list, same("comparison.patients.count", "cohort.patients.count"))
		}
		list = append(list, among("comparison.patients.count", "comparison.means.0.earlier.n"), among("comparison.means.0.earlier.n", "comparison.rates.0.earlier.n"),
			among("comparison.rates.0.earlier.n", "comparison.means.1.earlier.n"), same("comparison.means.1.earlier.n", "comparison.means.2.earlier.n"),
			among("comparison.means.1.earlier.n", "comparison.rates.1.earlier.n"), among("comparison.rates.1.earlier.count", "comparison.rates.2.earlier.count"),
			same("comparison.rates.1.earlier.n", "comparison.rates.2.earlier.n"), same("comparison.rates.3.earlier.n", "comparison.means.2.earlier.n"))
		for i, of := range []string{"cohort.missing", "response.responder_30", "response.responder_50", "response.nrs_ge_2", "response.worsened_30"} {
			current := fmt.Sprint("comparison.rates.", i, ".current.")
			list = append(list, same(current+"count", of+".count"), same(current+"n", of+".n"))
		}
		for i, of := range []string{"baseline", "follow_up.pain", "follow_up.change", "time_weighted_average"} {
			list = append(list, same(fmt.Sprint("comparison.means.", i, ".current.n"), of+".n"))
		}
	}
	return list
}

func outcomesIdentities(o *Outcomes) []identity {
	same := func(a, b string) identity { return identity{a, []string{b}, false} }
	among := func(a, b string) identity { return identity{a, []string{b}, true} }
	scored, followed, above := "cohort.with_scores.count", "cohort.followed_up.count", "response.responder_30.n"
	list := []identity{
		same("cohort.by_site.n", scored),
		{"cohort.patients.count", []string{scored, "cohort.without_scores.count"}, false},
		{scored, []string{"cohort.by_average.count", "cohort.by_current.count"}, false},
		{scored, []string{"cohort.not_yet_due.count", "cohort.due.count"}, false},
		{"cohort.due.count", []string{followed, "cohort.missing.count"}, false},
		same("cohort.missing.n", "cohort.due.count"), same("baseline.n", scored), same("follow_up.baseline.n", followed), same("follow_up.pain.n", followed),
		same("follow_up.change.n", followed), same("follow_up.percent_change.n", above), same("response.responder_50.n", above), same("response.worsened_30.n", above),
		same("response.nrs_ge_2.n", followed), same("response.low_baseline.n", followed), among(followed, above),
		among("response.responder_30.count", "response.responder_50.count"), {above, []string{"response.responder_30.count", "response.worsened_30.count"}, true},
		same("response.nonresponder_imputation.responder_30.count", "response.responder_30.count"),
		same("response.nonresponder_imputation.responder_50.count", "response.responder_50.count"),
		same("response.nonresponder_imputation.responder_30.n", "response.nonresponder_imputation.responder_50.n"),
		among("cohort.due.count", "response.nonresponder_imputation.responder_30.n"), among("response.nonresponder_imputation.responder_30.n", above),
		same("trend.slope.per_week.n", "trend.slope.patients.n"), among(scored, "trend.slope.patients.n"), among(scored, "time_weighted_average.n"),
		among(scored, "time_to_response.n"), among("cohort.patients.count", "global_impression.n"),
		among("cohort.patients.count", "medication_classes_undetermined.count"),
	}
	for i := range o.Trend.Buckets {
		list = append(list, among(scored, fmt.Sprint("trend.buckets.", i, ".n")))
	}
	for i := range o.Instruments {
		p := fmt.Sprint("instruments.", i, ".")
		list = append(list, identity{p + "patients.count", []string{p + "not_yet_due.count", p + "missing.count", p + "change.n"}, false}, among("cohort.patients.count", p+"patients.count"))
		if o.Instruments[i].MCIDMet != nil {
			list = append(list, same(p+"mcid_met.n", p+"change.n"))
		}
	}
	for group, treatments := range map[string][]BeforeAfter{"procedures": o.Procedures, "medication_classes": o.MedicationClasses} {
		for i := range treatments {
			p := fmt.Sprint(group, ".", i, ".")
			list = append(list, identity{p + "patients.count", []string{p + "not_yet_due.count", p + "no_baseline.count", p + "missing.count", p + "change.n"}, false},
				among("cohort.patients.count", p+"patients.count"), among(p+"change.n", p+"responder_30.n"), same(p+"responder_30.n", p+"responder_50.n"),
				among(p+"responder_30.count", p+"responder_50.count"))
			if treatments[i].Recorded != nil {
				list = append(list, among(p+"patients.count", p+"recorded.change.n"))
			}
		}
	}
	return append(list, adjustedIdentities(o)...)
}

// determined solves the identities for the hidden numbers and returns those
// that follow from them.
func determined(t *rapid.T, identities []identity, shown, truth leaves) map[string]float64 {
	columns := map[string]int{}
	value := map[int]float64{}
	names := []string{}
	column := func(name string, is float64) int {
		i, ok := columns[name]
		if !ok {
			i = len(columns)
			columns[name], value[i] = i, is
			names = append(names, name)
		}
		return i
	}
	var rows []map[int]float64
	for number, id := range identities {
		row := map[int]float64{}
		rest := 0.0
		for i, path := range append([]string{id.whole}, id.parts...) {
			v, there := truth[path]
			if !there || v == nil {
				t.Fatalf("there is no %s", path)
			}
			sign := 1.0
			if i > 0 {
				sign = -1
			}
			rest += sign * *v
			if shown[path] == nil {
				row[column(path, *v)] += sign
			}
		}
		if id.open {
			row[column(fmt.Sprint("rest of ", id.whole, " without ", id.parts, number), rest)] = -1
		} else if rest != 0 {
			t.Fatalf("%s is not the sum of %v", id.whole, id.parts)
		}
		rows = append(rows, row)
	}
	matrix := make([][]float64, len(rows))
	for i, row := range rows {
		matrix[i] = make([]float64, len(columns))
		for c, f := range row {
			matrix[i][c] = f
		}
	}
	const zero = 1e-9
	for c, r := 0, 0; c < len(columns) && r < len(matrix); c++ {
		for i := r; i < len(matrix); i++ { // the largest, for the sake of precision
			if math.Abs(matrix[i][c]) > math.Abs(matrix[r][c]) {
				matrix[i], matrix[r] = matrix[r], matrix[i]
			}
		}
		if math.Abs(matrix[r][c]) < zero {
			continue
		}
		for i := range matrix {
			if factor := matrix[i][c] / matrix[r][c]; i != r && math.Abs(factor) > zero {
				for k := range matrix[i] {
					matrix[i][k] -= factor * matrix[r][k]
				}
			}
		}
		r++
	}
	found := map[string]float64{}
	for _, row := range matrix {
		at, more := -1, 0
		for k, f := range row {
			if math.Abs(f) > zero {
				at = k
				more++
			}
		}
		if more == 1 {
			found[names[at]] = value[at]
		}
	}
	return found
}

// printedShare is how many of n there are.
type printedShare struct {
	path     string
	count, n float64
}

// shares are those that are printed in full: figures with a count and an n,
// groups of a whole with one, and whom a comparison refers to.
func shares(objects []any) (list []printedShare) {
	add := func(path string, count, n any) {
		if count, ok := count.(float64); ok {
			if n, ok := n.(float64); ok {
				list = append(list, printedShare{path, count, n})
			}
		}
	}
	for _, o := range objects {
		o := o.(map[string]any)
		path := o["path"].(string)
		add(path, o["count"], o["n"])
		add(path+" reference", o["reference_count"], o["reference_n"])
		groups, _ := o["groups"].([]any)
		for i, g := range groups {
			add(fmt.Sprint(path, ".groups.", i), g.(map[string]any)["count"], o["n"])
		}
	}
	return list
}

// TestNothingHiddenCanBeWorkedOut: no small number is shown, what is shown is
// as without hiding, and no small number follows from what is shown.
func TestNothingHiddenCanBeWorkedOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		patients := random.patients(oneOf(random, 10, 40, 100, 200))
		r := random.request()
		r.Interval = oneOf(random, "", "month", "week")
		least := oneOf(random, 2, 5, 11)
		check := func(open, hidden any, identities []identity) {
			truth, objects := flatten(rt, open)
			shown, told := flatten(rt, hidden)
			for _, s := range shares(told) {
				if rest := s.n - s.count; rest > 0 && rest < float64(least) {
					rt.Fatalf("with a least cell of %d %s leaves %v of %v", least, s.path, rest, s.n)
				}
			}
			for path, v := range shown {
				name := path[strings.LastIndexByte(path, '.')+1:]
				counts := slices.Contains([]string{"count", "n", "undetermined", "considered", "not_recorded", "events", "censored", "at_risk", "reference_count", "reference_n"}, name)
				if v != nil && counts && *v > 0 && *v < float64(least) {
					rt.Fatalf("%s is %v", path, *v)
				}
				if strings.Contains(path, ".curve.") || strings.Contains(path, "insights.") || v == nil || path == "parameters.min_cell_size" {
					continue
				}
				if truth[path] == nil || *truth[path] != *v {
					rt.Fatalf("%s is %v", path, *v)
				}
			}
			for name, v := range determined(rt, append(general(objects), identities...), shown, truth) {
				if v > 0 && v < float64(least) {
					rt.Fatalf("with a least cell of %d it follows that %s is %v", least, name, v)
				}
			}
		}
		hiding := r
		hiding.MinCellSize = fmt.Sprint(least)
		open := outcomes(t, r, patients...)
		check(open, outcomes(t, hiding, patients...), outcomesIdentities(open))
		all := population(t, r, patients...)
		check(all, population(t, hiding, patients...), populationIdentities(all))
	})
}

// A small number of exclusions must not be the difference of two totals, one
// of which belongs to another figure.
func TestExclusionsAreNotDifferences(t *testing.T) {
	var patients []*Patient
	for i := range 60 {
		p := takes(prescription(t, drug.Opioid, "2024-03-01", 60, 40), prescription(t, drug.Opioid, "2024-05-01", 60, 40))
		p.Born = day(t, "1970-01-01")
		switch i {
		case 0, 1:
			p.Exempt.Add(pain.Cancer, 0)
		case 2, 3, 4:
			p.Born = day(t, "2010-01-01")
		}
		patients = append(patients, p)
	}
	r := year2024
	r.MinCellSize = "11"
	got := population(t, r, patients...)
	known := func(numbers ...*int) (sum int, ok bool) {
		for _, n := range numbers {
			if n == nil {
				return 0, false
			}
			sum += *n
		}
		return sum, true
	}
	for _, m := range []int{monitored, continued15} {
		of := &got.Measures[m]
		for name, whole := range map[string]*Proportion{"exposed": &got.Opioids.Exposure, "long-term": &got.Opioids.LongTerm} {
			all, ok := known(whole.Count, whole.Undetermined)
			rest, alsoOK := known(of.N, of.Undetermined, of.Exclusion("sickle_cell"), of.Exclusion("palliative_care"), of.Exclusion("oud_treatment"))
			if ok && alsoOK && all-rest == 5 {
				t.Errorf("%s: %d %s less %d are the %d who are excluded", of.ID, all, name, rest, all-rest)
			}
		}
	}
	impact := &got.Measures[highImpact]
	if all, ok := known(got.Cohort.Active.Count); ok {
		if rest, ok := known(impact.N, impact.Undetermined); ok {
			t.Errorf("%s: %d active less %d are the %d who are minors", impact.ID, all, rest, all-rest)
		}
	}
}
