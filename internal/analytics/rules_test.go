package analytics

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

func TestFollowUpWindow(t *testing.T) {
	for _, c := range []struct {
		name   string
		days   string
		scores []int
		want   string // not yet due, missing, followed up, pain at follow-up
	}{
		{"on the day", "90", []int{0, 8, 90, 4}, `[0,0,1,4]`},
		{"the nearest", "90", []int{0, 8, 80, 1, 95, 4, 110, 2}, `[0,0,1,4]`},
		{"two as near: the earlier", "90", []int{0, 8, 75, 3, 105, 6}, `[0,0,1,3]`},
		{"first day of the window", "90", []int{0, 8, 60, 3}, `[0,0,1,3]`},
		{"the day before it", "90", []int{0, 8, 59, 3}, `[0,1,0,null]`},
		{"last day of the window", "90", []int{0, 8, 120, 3}, `[0,0,1,3]`},
		{"the day after it", "90", []int{0, 8, 121, 3}, `[0,1,0,null]`},
		{"30 days", "30", []int{0, 8, 16, 5}, `[0,0,1,5]`},
		{"180 days", "180", []int{0, 8, 225, 5}, `[0,0,1,5]`},
		{"it ends on the last day", "90", []int{244, 8, 334, 5}, `[0,0,1,5]`},
		{"it ends after the last day, and there is a score", "90", []int{245, 8, 335, 5}, `[1,0,0,null]`},
		{"a year is not over", "365", []int{0, 8, 364, 5}, `[1,0,0,null]`},
	} {
		out := outcomes(t, Request{FollowUp: c.days}, scores(c.scores...))
		is(t, c.name, []any{out.Cohort.NotYetDue.Count, out.Cohort.Missing.Count, out.Cohort.FollowedUp.Count, out.FollowUp.Pain.Mean}, c.want)
	}
}

func TestBaseline(t *testing.T) {
	for _, c := range []struct {
		name   string
		scores []int
		want   string
	}{
		{"all of the day, and of the 13 before the period", []int{-13, 4, -1, 5, 0, 9, 0, 6}, `6`},
		{"not 14 days before", []int{-14, 4, 0, 9}, `9`},
		{"nothing later", []int{0, 9, 1, 3}, `9`},
		{"the first in the period is the index", []int{-5, 1, 20, 8}, `8`},
	} {
		is(t, c.name, outcomes(t, Request{}, scores(c.scores...)).Baseline.Mean, c.want)
	}
}

// at makes scores be of a kind.
func at(p *Patient, kind series.Kind) *Patient {
	for i := range p.Series.Scores {
		p.Series.Scores[i].Kind = kind
	}
	return p
}

// join makes one patient of several.
func join(list ...*Patient) *Patient {
	for _, p := range list[1:] {
		list[0].Series.Join(p.Series)
	}
	list[0].Series.Sort()
	return list[0]
}

// Change is only reported within one scale, aspect, site and side.
func TestPrimaryOutcome(t *testing.T) {
	current, vas, knee, words := series.Kind{Scale: 1, Aspect: series.Current}, series.Kind{Scale: 2, Aspect: series.Average}, series.Kind{Scale: 1, Aspect: series.Average, Site: 20}, series.Kind{Scale: 3, Aspect: series.Average}
	for _, c := range []struct {
		name    string
		patient *Patient
		want    string // by average, by current, baseline, change
	}{
		{"average before current, even with fewer", join(scores(0, 8, 90, 4), at(scores(0, 2, 30, 2, 90, 2), current)), `[1,0,8,-4]`},
		{"current when there is no average", at(scores(0, 2, 90, 1), current), `[0,1,2,-1]`},
		{"the scale with most scores at baseline: 2 against 1", join(scores(0, 8, 90, 8, 91, 8), at(scores(-5, 50, 0, 60, 90, 30), vas)), `[1,0,5.5,-2.5]`},
		{"the site with most scores at baseline: 2 against 1", join(scores(0, 8, 90, 8, 91, 8), at(scores(-13, 6, 0, 5, 90, 5), knee)), `[1,0,5.5,-0.5]`},
		{"of one score each the worse: 8 against 6", join(scores(0, 8), at(scores(0, 6, 90, 5), knee)), `[1,0,8,null]`},
		{"no change between kinds", join(scores(0, 8), at(scores(90, 5), knee)), `[1,0,8,null]`},
		{"words cannot be counted with", at(scores(0, 2, 90, 1), words), `[0,0,null,null]`},
	} {
		out := outcomes(t, Request{}, c.patient)
		is(t, c.name, []any{out.Cohort.ByAverage.Count, out.Cohort.ByCurrent.Count, out.Baseline.Mean, out.FollowUp.Change.Mean}, c.want)
	}
}

func TestMissingAreNotResponders(t *testing.T) {
	out := outcomes(t, Request{}, scores(0, 8, 90, 2), scores(0, 8, 90, 8), scores(0, 8), scores(0, 0), scores(300, 8))
	r := out.Response
	is(t, "complete cases", []any{r.Responder30.Count, r.Responder30.N, r.Responder30.Percent, out.Cohort.Missing.Count, out.Cohort.Missing.Percent}, `[1,2,50,2,50]`)
	i := r.NonresponderImputation.Responder50
	is(t, "imputed", []any{i.Count, i.N, i.Percent, i.Definition}, `[1,3,33.33,"nonresponder_imputation"]`)
}

func TestTrend(t *testing.T) {
	frequent, seldom := scores(0, 10, 1, 10, 2, 10, 3, 10), scores(4, 2)
	out := outcomes(t, Request{StartDate: "2024-01-02", EndDate: "2024-03-15"}, frequent, seldom)
	is(t, "months", out.Trend.Buckets, `[{"from":"2024-01-02","to":"2024-01-31","n":2,"mean":6,"min":2,"max":10,"suppressed":false},`+
		`{"from":"2024-02-01","to":"2024-02-29","n":0,"mean":null,"min":null,"max":null,"suppressed":false},`+
		`{"from":"2024-03-01","to":"2024-03-15","n":0,"mean":null,"min":null,"max":null,"suppressed":false}]`)
	weeks := outcomes(t, Request{StartDate: "2024-01-02", EndDate: "2024-01-14", Interval: "week"}, frequent, seldom).Trend.Buckets
	is(t, "weeks", []any{weeks[0].From, weeks[0].To, weeks[0].N, weeks[1].From, weeks[1].To, weeks[1].N, len(weeks)}, `["2024-01-02","2024-01-07",2,"2024-01-08","2024-01-14",0,2]`)
	days := outcomes(t, Request{StartDate: "2024-01-02", EndDate: "2024-01-06", Interval: "day"}, frequent, seldom).Trend.Buckets
	is(t, "days", []any{len(days), days[3].N, days[4].Mean, days[4].To}, `[5,1,2,"2024-01-06"]`)
}

func TestDirection(t *testing.T) {
	for slope, want := range map[float64]string{-0.1: "improving", -0.0999: "stable", 0.0999: "stable", 0.1: "worsening", -0.1 + 1e-12: "improving"} {
		if got := directions[direction(slope)]; got != want {
			t.Errorf("%v a week is %s, want %s", slope, got, want)
		}
	}
	is(t, "nobody", outcomes(t, Request{}).Trend.Slope.Direction, `null`)
}

func TestMedicationClassBegins(t *testing.T) {
	p := func(medications ...series.Medication) *Patient {
		p := scores(20, 8, 110, 4)
		p.Series.Medications = medications
		return p
	}
	began := prescription(t, drug.NSAID, "2024-01-22", 10, 0)
	before := func(from string, days int) series.Medication { return prescription(t, drug.NSAID, from, days, 0) }
	// Of an open one 90 days are assumed: from August 1st to October 29th, 85
	// days before; from July 25th to October 22nd, 92 days before.
	open := func(from string) series.Medication {
		return series.Medication{Span: drug.Span{First: day(t, from), Last: day(t, from)}, Open: true, Class: began.Class}
	}
	for _, c := range []struct {
		name    string
		patient *Patient
		want    int
	}{
		{"it begins", p(began), 1},
		{"refilled", p(began, before("2024-01-30", 30)), 1},
		{"it was taken 91 days before", p(began, before("2023-10-01", 23)), 1},
		{"it was taken 90 days before", p(began, before("2023-10-01", 24)), 0},
		{"it was assumed until then", p(began, open("2023-08-01")), 0},
		{"it was assumed, long ago", p(began, open("2023-07-25")), 1},
		{"another class", p(began, prescription(t, drug.Opioid, "2023-12-01", 60, 20)), 1},
		{"before the period", p(before("2023-10-01", 200)), 0},
	} {
		if got := len(outcomes(t, Request{}, c.patient).MedicationClasses); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestRecordedWithProcedures(t *testing.T) {
	p := scores()
	known := func(f float64) series.Value { return series.Value{Number: f, Known: true} }
	p.Series.Procedures = []series.Procedure{{At: startOf(19800), Type: 1, Pre: known(8)}, {At: startOf(19801), Type: 1, Pre: known(7), Post: known(3)}, {At: startOf(19802), Type: 1, Pre: known(9), Post: known(9)}}
	got := outcomes(t, Request{}, p).Procedures[0]
	is(t, "recorded", []any{got.Patients.Count, got.NoBaseline.Count, got.Recorded.Change.N, got.Recorded.Change.Mean, got.Recorded.Definition, got.Label}, `[1,1,1,-4,"before_after_recorded","`+uncontrolled+`"]`)
}

func TestGlobalImpression(t *testing.T) {
	p := scores()
	for i, answer := range []float64{2, 4, 1} {
		p.Series.Assessments = append(p.Series.Assessments, series.Assessment{At: startOf(19800 + drug.Day(i)), Instrument: pgic, Score: series.Value{Number: answer, Known: true}})
	}
	other := scores()
	other.Series.Assessments = p.Series.Assessments[:2]
	out := outcomes(t, Request{}, p, other)
	is(t, "impression", []any{out.GlobalImpression.Count, out.GlobalImpression.N, len(out.Instruments)}, `[1,2,0]`)
}

// What is not known of an opioid is never zero.
func TestUnknownDoses(t *testing.T) {
	opioid := func(change func(*series.Medication)) *Patient {
		m := prescription(t, drug.Opioid, "2024-06-01", 100, 60)
		change(&m)
		return takes(m)
	}
	for _, c := range []struct {
		name string
		of   *Patient
		want string // exposed, long-term and how many undetermined, n of peak, incomplete, >= 50 and of how many and undetermined
	}{
		{"known", opioid(func(*series.Medication) {}), `[1,1,0,1,0,1,1,0]`},
		{"dose unknown", opioid(func(m *series.Medication) { m.MME, m.Reason = 0, 8 }), `[1,1,0,0,1,0,0,1]`},
		{"buprenorphine", opioid(func(m *series.Medication) { m.MME, m.Reason = 0, 1 }), `[1,1,0,0,0,0,0,1]`},
		{"it goes on, nobody says how long", opioid(func(m *series.Medication) { m.Open, m.Last = true, m.First }), `[1,1,0,1,0,1,1,0]`},
	} {
		o := population(t, Request{}, c.of).Opioids
		is(t, c.name, []any{o.Exposure.Count, o.LongTerm.Count, o.LongTerm.Undetermined, o.MME.Peak.N, o.MME.Incomplete.Count, o.AtLeast50.Count, o.AtLeast50.N, o.AtLeast50.Undetermined}, c.want)
	}
	is(t, "mean of nobody", population(t, Request{}).Opioids.MME.Peak.Mean, `null`)
}

func TestFoldGender(t *testing.T) {
	for written, want := range map[string]string{"Female": "female", "F": "female", " m ": "male", "MALE": "male", "": "unknown", "non-binary": "other", "Unknown": "unknown"} {
		if got := FoldGender(written).String(); got != want {
			t.Errorf("%q is %s, want %s", written, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	for _, c := range []struct{ born, on, want string }{
		{"2006-06-30", "2024-06-30", "18-29"}, {"2006-07-01", "2024-06-30", "<18"},
		{"2004-02-29", "2022-02-28", "<18"}, {"2004-02-29", "2022-03-01", "18-29"},
		{"2006-02-28", "2024-02-29", "18-29"}, {"2006-03-01", "2024-02-29", "<18"},
		{"1959-06-30", "2024-06-30", "65+"}, {"1980-01-01", "2024-06-30", "30-44"}, {"1979-01-01", "2024-06-30", "45-64"},
	} {
		p := takes(prescription(t, drug.NSAID, c.on, 1, 0))
		p.Born = day(t, c.born)
		for _, g := range population(t, Request{EndDate: c.on}, p).AgeBands.Groups {
			if (*g.Count == 1) != (g.Group == c.want) {
				t.Errorf("born %s, on %s: %s has %d", c.born, c.on, g.Group, *g.Count)
			}
		}
	}
}

func TestRequest(t *testing.T) {
	today := pain.DateOf(now)
	for _, c := range []struct {
		request   Request
		parameter string
		value     any
	}{
		{Request{StartDate: "2024-02-30"}, "start_date", "2024-02-30"}, {Request{EndDate: "soon"}, "end_date", "soon"},
		{Request{StartDate: "2024-05-02", EndDate: "2024-05-01"}, "start_date", "2024-05-02"}, {Request{StartDate: "1900-01-01"}, "start_date", "1900-01-01"},
		{Request{StartDate: "2000-01-01", Interval: "day"}, "interval", "day"}, {Request{StartDate: "1940-01-01", Interval: "week"}, "interval", "week"}, {Request{Interval: "year"}, "interval", "year"},
		{Request{FollowUp: "60"}, "follow_up", "60"}, {Request{Gender: "Femal"}, "gender", "Femal"}, {Request{AgeMin: "-1"}, "age_min", "-1"}, {Request{AgeMax: "151"}, "age_max", "151"},
		{Request{AgeMin: "+5"}, "age_min", "+5"}, {Request{AgeMin: "40", AgeMax: "39"}, "age_min", "40"}, {Request{Condition: "54"}, "condition", "54"},
		{Request{MedicationClass: "opiate"}, "medication_class", "opiate"}, {Request{MinCellSize: "1.5"}, "min_cell_size", "1.5"},
		{Request{Adjust: "age"}, "adjust", "age"}, {Request{Standard: "who"}, "standard", "who"}, {Request{Standard: "female:1,18-29:1"}, "standard", "female:1,18-29:1"},
		{Request{Standard: "female:0"}, "standard", "female:0"}, {Request{Standard: "female:-1"}, "standard", "female:-1"}, {Request{Standard: "female:NaN"}, "standard", "female:NaN"},
		{Request{Standard: "female:1,female:2"}, "standard", "female:1,female:2"}, {Request{Standard: "female/20-30:1"}, "standard", "female/20-30:1"}, {Request{Standard: "18-29/female:1"}, "standard", "18-29/female:1"},
		{Request{Standard: "female/male:1"}, "standard", "female/male:1"}, {Request{Standard: "female/<18/x:1"}, "standard", "female/<18/x:1"}, {Request{Standard: "female"}, "standard", "female"},
		{Request{CompareEnd: "soon"}, "compare_end_date", "soon"}, {Request{CompareStart: "2024-02-30"}, "compare_start_date", "2024-02-30"},
		{Request{CompareEnd: "2024-01-02"}, "compare_end_date", "2024-01-02"}, {Request{CompareStart: "2024-01-02"}, "compare_start_date", "2024-01-02"},
		{Request{CompareStart: "2023-02-01", CompareEnd: "2023-01-31"}, "compare_start_date", "2023-02-01"}, {Request{CompareStart: "1900-01-01", CompareEnd: "2023-01-31"}, "compare_start_date", "1900-01-01"},
	} {
		var fields fault.Fields
		c.request.Params(today, &fields)
		e, ok := fields.Err().(*fault.Error)
		if !ok || e.Code != fault.InvalidParameter || e.Details["parameter"] != c.parameter || e.Details["value"] != c.value || len(e.Details) != 2 {
			t.Errorf("%+v: %+v", c.request, e)
		}
		if strings.HasSuffix(c.parameter, "_date") && c.value == "soon" && !strings.Contains(e.Message, "YYYY-MM-DD") {
			t.Errorf("%s", e.Message)
		}
	}
	is(t, "defaults", ask(t, Request{}), `{"start_date":"2024-01-02","end_date":"2024-12-31","as_of":"2024-12-31","interval":"month","follow_up":90,"gender":null,"age_min":null,"age_max":null,"condition":null,"medication_class":null,"min_cell_size":0}`)
	is(t, "all", ask(t, Request{"2024-01-01", "2025-03-31", "week", "365", "Male", "18", "65", "m54.5", "opioid", "11", "65+:2,18-29:1", "case_mix", "", "2023-12-31"}),
		`{"start_date":"2024-01-01","end_date":"2025-03-31","as_of":"2024-12-31","interval":"week","follow_up":365,"gender":"male","age_min":18,"age_max":65,"condition":"M54.5","medication_class":"opioid","min_cell_size":11,"standard":"65+:2,18-29:1","adjust":"case_mix","compare_start_date":"2022-10-02","compare_end_date":"2023-12-31"}`)
	var r Request
	for i := range Parameters {
		if name := Parameters[i].Name; !r.Set(name, name) || reflect.ValueOf(r).Field(i).String() != name {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r.Set("from", "x") {
		t.Error("there is no parameter from")
	}
}

// A period after today has no patients, and nothing breaks.
func TestPeriodAfterToday(t *testing.T) {
	r := Request{StartDate: "2025-06-01", EndDate: "2025-06-30"}
	is(t, "outcomes", outcomes(t, r, scores(0, 5)).Cohort.WithScores.Count, `0`)
	is(t, "population", population(t, r, scores(0, 5)).Cohort.Active.Count, `0`)
}

func TestInsights(t *testing.T) {
	var patients []*Patient
	for i := range 40 {
		p := scores(300, 3)
		if i < 20 {
			p = scores(300, 8)
			p.Gender = Male
		}
		patients = append(patients, p)
	}
	list := population(t, Request{}, patients...).Insights
	if len(list) == 0 || list[0].Text != "20 of 40 patients with an average or current pain score in the period (50.0 %) have severe pain according to their latest score." {
		t.Errorf("%+v", list)
	}
	last := list[len(list)-1]
	is(t, "disparity", []any{last.Insight, last.Text, last.Figures["difference"]}, `["disparity.severe_pain.gender.male",`+
		`"Severe pain by gender: male 100.0 % (20 of 20), female 0.0 % (0 of 20); difference 100.0 percentage points (95 % interval 77.2 to 100.0).",1]`)
	is(t, "nobody", population(t, Request{}).Insights, `[]`)
	for _, in := range population(t, Request{MinCellSize: "21"}, patients...).Insights {
		if in.Figures["count"] == 20 || in.Figures["n"] == 20 {
			t.Errorf("%+v", in)
		}
	}
}

// Two numbers of 1 that are hidden in a sum of 2 would be known all the same.
func TestOnesAreNotEnough(t *testing.T) {
	l := &ledger{min: 2}
	whole, a, b, c, none := l.cell(32), l.cell(1), l.cell(1), l.cell(30), l.cell(0)
	l.sum(whole, a, b, c, none)
	l.settle()
	if !a.hidden || !b.hidden || !c.hidden || whole.hidden || none.hidden {
		t.Errorf("%+v %+v %+v %+v %+v", whole, a, b, c, none)
	}
}

func TestCurveIsCoarse(t *testing.T) {
	events, censored := make([]int32, 60), make([]int32, 60)
	for day := 1; day < 40; day++ {
		events[day] = 3
	}
	censored[5], censored[20] = 4, 9
	curve, _ := kaplanMeier(events, censored)
	shown := 0
	for _, p := range coarse(curve, 130, 0, 11) {
		if p.Events < 11 || p.Censored > 0 && p.Censored < 11 || p.AtRisk < 11 {
			t.Errorf("%+v", p)
		}
		shown += p.Events
	}
	if rest := 39*3 - shown; shown == 0 || rest > 0 && rest < 11 {
		t.Errorf("%d are shown", shown)
	}
}

// Every figure says by which definition it was made, the page explains each,
// and none is invented there.
func TestEveryDefinitionIsExplained(t *testing.T) {
	page, err := os.ReadFile("../../docs/analytics.md")
	if err != nil {
		t.Fatal(err)
	}
	p := scores(20, 8, 110, 4)
	p.Series.Procedures = []series.Procedure{{At: startOf(19800), Type: 1}}
	p.Series.Medications = vector7(t)
	p.Series.Assessments = []series.Assessment{{At: startOf(19800), Instrument: 1, Score: series.Value{Number: 5, Known: true}}}
	var tree []any
	b, err := json.Marshal([]any{outcomes(t, Request{}, p), population(t, Request{}, p)})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if name, ok := v["definition"].(string); ok {
				name, _, _ = strings.Cut(name, ".")
				names[name] = true
			}
			if _, ok := v["ci95"]; ok && v["definition"] == "" {
				t.Errorf("no definition: %v", v)
			}
			for _, member := range v {
				walk(member)
			}
		case []any:
			for _, member := range v {
				walk(member)
			}
		}
	}
	walk(tree)
	if len(names) < 35 {
		t.Errorf("%d definitions", len(names))
	}
	for name := range names {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/analytics.md does not explain %s", name)
		}
	}
}
