package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/alert"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store/storetest"
)

// The histories of some patients, once with unclassified medicines, and once
// with an opioid of 200 MME per day in place of each.

// history is what is recorded of one patient.
type history struct {
	id     id.Patient
	born   pain.Date
	gender string
	code   string // a condition, or none
	facts  []string
}

// unknowns and revealed are the two ways to write one medicine.
const (
	unknowns = `"name":"Zzyzx"`
	revealed = `"name":"morphine","dose":200,"dose_unit":"mg","frequency":"QD"`
)

func drawHistory(d *rand.Rand) history {
	pick := func(words ...string) string { return words[d.IntN(len(words))] }
	h := history{id: id.New[id.PatientKind](asOf), born: pain.Date{Year: 1950 + d.IntN(50), Month: time.May, Day: 1}, gender: pick("female", "male"), code: pick("", "", "C50.911", "G47.33", "F11.20")}
	day := func() time.Time { return asOf.AddDate(0, 0, -d.IntN(420)) }
	for range d.IntN(5) {
		at := day()
		medicine := pick(unknowns, unknowns, `"name":"lorazepam"`, `"name":"gabapentin"`, `"name":"naloxone"`, `"name":"ibuprofen"`, `"name":"oxycodone"`,
			`"name":"oxycodone","dose":10,"dose_unit":"mg","frequency":"TID"`, `"name":"methadone","dose":20,"dose_unit":"mg","frequency":"QD"`, `"name":"buprenorphine"`)
		length := pick(`,"days_supply":30`, `,"days_supply":90`, `,"days_supply":120`, ``, `,"end_date":"`+at.AddDate(0, 0, d.IntN(60)).Format(time.DateOnly)+`"`)
		status := pick(``, ``, `,"status":"active"`, `,"status":"stopped"`, `,"status":"completed"`)
		h.facts = append(h.facts, fmt.Sprintf(`{"data_type":"medications","recorded_at":%q,"value":{%s%s%s,"prescriber_id":"dr-%d"}}`, at.Format(time.RFC3339), medicine, length, status, d.IntN(6)))
	}
	for range d.IntN(4) {
		h.facts = append(h.facts, fmt.Sprintf(`{"data_type":"pain_scores","recorded_at":%q,"value":{"score":%d,"aspect":"average"}}`, day().Format(time.RFC3339), d.IntN(11)))
	}
	return h
}

// chartOf returns the patient's chart; reveal inserts the opioids.
func (h *history) chartOf(t testing.TB, reveal bool) *summary.Chart {
	t.Helper()
	c := &summary.Chart{Patient: pain.Patient{ID: h.id, Name: "P", Gender: h.gender, DateOfBirth: h.born}}
	if h.code != "" {
		c.Patient.MedicalHistory = pain.NewHistory(pain.HistoryEntry{Condition: "x", ICD10Code: h.code, Status: "active"})
	}
	for _, f := range h.facts {
		if reveal {
			f = strings.ReplaceAll(f, unknowns, revealed)
		}
		rec := storetest.RecordAt(t, asOf, h.id, f)
		if err := c.Series.Add(&rec); err != nil {
			t.Fatal(err)
		}
		if rec.Type == pain.TypeMedications {
			c.Records = append(c.Records, rec)
		}
	}
	slices.SortStableFunc(c.Records, func(a, b pain.Record) int { return a.RecordedAt.Compare(b.RecordedAt) })
	c.Series.Sort()
	return c
}

// tree is an answer as JSON.
type tree map[string]any

func treeOf(t testing.TB, v any) (out tree) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (a tree) at(path string) any {
	var v any = map[string]any(a)
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

func (a tree) in(path string) tree { m, _ := a.at(path).(map[string]any); return m }

func (a tree) list(path string) (list []tree) {
	entries, _ := a.at(path).([]any)
	for _, e := range entries {
		list = append(list, e.(map[string]any))
	}
	return list
}

func (a tree) number(path string) float64 { f, _ := a.at(path).(float64); return f }

func sameJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// unknownTest compares two answers.
type unknownTest struct{ *rapid.T }

// open fails when an answer differs that was not marked.
func (t unknownTest) open(what string, before, after any, marked bool) {
	t.Helper()
	if !sameJSON(before, after) && !marked {
		x, _ := json.Marshal(before)
		y, _ := json.Marshal(after)
		t.Errorf("%s is %s, and %s once the unknown is known; nothing said so", what, x, y)
	}
}

// moves fails when a count moves by more than are undetermined.
func (t unknownTest) moves(what string, before, after, undetermined float64) {
	t.Helper()
	if math.Abs(before-after) > undetermined {
		t.Errorf("%s is %v, and %v once the unknown is known; undetermined were %v", what, before, after, undetermined)
	}
}

func (t unknownTest) summaries(before, after tree) {
	t.Helper()
	incomplete := before.at("mme.incomplete") == true
	for name, is := range before.in("mme") {
		t.open("mme."+name, is, after.at("mme."+name), incomplete)
	}
	band := before.at("mme.current_band")
	t.open("the band", band, after.at("mme.current_band"), band == summary.UnknownBand)
	t.open("the current dose", before.at("mme.current"), after.at("mme.current"), band == summary.UnknownBand || band == ">=90" && incomplete)
	for i, f := range before.list("flags") {
		g := after.list("flags")[i]
		t.open(fmt.Sprint(f["flag"], " is active"), f["active"], g["active"], f["active"] == nil)
		unclassified, _ := f.at("basis.unclassified").([]any)
		for name, is := range f.in("basis") {
			t.open(fmt.Sprint(f["flag"], " rests on ", name), is, g.at("basis."+name), len(unclassified) > 0 || incomplete)
		}
		marked, isDose := f.at("basis.since_incomplete").(bool)
		t.open(fmt.Sprint(f["flag"], " since"), f["since"], g["since"], len(unclassified) > 0 || marked || !isDose && incomplete || f["active"] == nil)
	}
	for i, m := range before.list("medications.current") {
		if m["drug_class"] != string(drug.Unclassified) && !slices.ContainsFunc(after.list("medications.current"), func(n tree) bool {
			return m["name"] == n["name"] && m["start_date"] == n["start_date"] && m["mme_per_day"] == n["mme_per_day"]
		}) {
			t.Errorf("medicine %d, %v, is gone", i, m)
		}
	}
}

func (t unknownTest) stewards(before, after tree) {
	t.Helper()
	rows := map[any]tree{}
	for _, r := range after.list("patients") {
		rows[r["patient_id"]] = r
	}
	for _, r := range before.list("patients") {
		s := rows[r["patient_id"]]
		unclassified, _ := r["unclassified"].([]any)
		for name, is := range r {
			switch name {
			case "opioid_exposure", "current", "ge_50", "ge_90", "opioid_benzo_overlap", "naloxone_gap":
				t.open(name, is, s[name], is == nil)
			case "mme_band":
				t.open(name, is, s[name], is == summary.UnknownBand)
			case "mme":
				t.open(name, is, s[name], r["mme_incomplete"] == true)
			default:
				t.open(name, is, s[name], len(unclassified) > 0)
			}
		}
	}
	open := before.in("counts.undetermined")
	for name, n := range before.in("counts") {
		switch name {
		case "undetermined", "incomplete":
		case "mme_bands":
			for band := range before.in("counts.mme_bands") {
				t.moves("band "+band, before.number("counts.mme_bands."+band), after.number("counts.mme_bands."+band), before.number("counts.mme_bands.unknown"))
			}
		default:
			undetermined, _ := open[name].(float64)
			t.moves(name, n.(float64), after.number("counts."+name), undetermined)
		}
	}
}

func (t unknownTest) share(what string, before, after tree) {
	t.Helper()
	undetermined := before.number("undetermined")
	t.moves(what+" count", before.number("count"), after.number("count"), undetermined)
	t.moves(what+" n", before.number("n"), after.number("n"), undetermined)
}

func (t unknownTest) groups(what, open string, before, after tree) {
	t.Helper()
	undetermined := 0.0
	for _, g := range before.list("groups") {
		if g["group"] == open {
			undetermined = g.number("count")
		}
	}
	for i, g := range before.list("groups") {
		t.moves(fmt.Sprint(what, " ", g["group"]), g.number("count"), after.list("groups")[i].number("count"), undetermined)
	}
}

func (t unknownTest) populations(before, after tree) {
	t.Helper()
	cohort := before.number("cohort.undetermined.count")
	for _, name := range []string{"patients", "active", "inactive"} {
		t.moves("cohort "+name, before.number("cohort."+name+".count"), after.number("cohort."+name+".count"), cohort)
	}
	if cohort > 0 {
		return // a patient joining the cohort may change everything else
	}
	for _, same := range []string{"severity_prevalence", "age_bands", "genders", "follow_up_gap"} {
		t.open(same, before.at(same), after.at(same), false)
	}
	for _, name := range []string{"opioid_exposure", "long_term_opioid", "ge_50", "ge_90", "opioid_benzo_overlap", "opioid_gabapentinoid_overlap", "naloxone_coverage"} {
		t.share(name, before.in("opioids."+name), after.in("opioids."+name))
	}
	for _, name := range []string{"opioid_exposure", "ge_50", "ge_90", "opioid_benzo_overlap"} {
		path := "opioids.out_of_guideline_scope."
		t.moves("out of scope "+name, before.number(path+name+".count"), after.number(path+name+".count"), before.number(path+"undetermined.count"))
	}
	for _, name := range []string{"opioids.mme.peak", "opioids.mme.average"} {
		t.groups(name, "unknown", before.in(name+".bands"), after.in(name+".bands"))
		unknown := before.list(name + ".bands.groups")[5].number("count")
		for _, figure := range []string{"n", "mean", "q1", "median", "q3", "p90"} {
			t.open(name+" "+figure, before.at(name+"."+figure), after.at(name+"."+figure), unknown > 0 || before.number("opioids.mme.incomplete.count") > 0)
		}
	}
	for i, class := range before.list("treatment_mix.classes") {
		if name := class["definition"]; name != "treatment_mix.unclassified" {
			t.share(fmt.Sprint(name), class, after.list("treatment_mix.classes")[i])
		}
	}
	t.groups("mix", "undetermined", before.in("treatment_mix.exclusive"), after.in("treatment_mix.exclusive"))
	for i, d := range before.list("disparities") {
		for k, g := range d.list("groups") {
			h := after.list("disparities")[i].list("groups")[k]
			t.share(fmt.Sprint(d["measure"], " of ", g["group"]), g, h)
			t.open(fmt.Sprint(d["measure"], " of ", g["group"], ", standardised"), g["standardized"], h["standardized"], g.number("undetermined") > 0)
		}
	}
	for i, r := range before.list("standardized.rates") {
		s := after.list("standardized.rates")[i]
		t.share(fmt.Sprint(r["measure"], " standardised"), r.in("crude"), s.in("crude"))
		t.open(fmt.Sprint(r["measure"], " standardised"), r["standardized"], s["standardized"], r.number("crude.undetermined") > 0)
	}
	t.open("strata", before.at("standardized.strata"), after.at("standardized.strata"), false)
	maybe := before.number("comparison.undetermined.count")
	t.moves("cohort before", before.number("comparison.patients.count"), after.number("comparison.patients.count"), maybe)
	for i, r := range before.list("comparison.rates") {
		if maybe > 0 {
			break // a patient joining the cohort may change everything
		}
		s := after.list("comparison.rates")[i]
		t.share(fmt.Sprint(r["figure"], " now"), r.in("current"), s.in("current"))
		t.share(fmt.Sprint(r["figure"], " before"), r.in("earlier"), s.in("earlier"))
	}
	for _, in := range before.list("insights") {
		unsaid := true
		for _, later := range after.list("insights") {
			unsaid = unsaid && later["text"] != in["text"]
		}
		if text := fmt.Sprint(in["text"]); unsaid && !strings.Contains(text, "this is unknown") && !strings.HasPrefix(fmt.Sprint(in["insight"]), "disparity") {
			t.Errorf("%q is not said any more once the unknown is known", text)
		}
	}
}

func (t unknownTest) outcomes(before, after tree) {
	t.Helper()
	cohort := before.number("cohort.undetermined.count")
	t.moves("cohort", before.number("cohort.patients.count"), after.number("cohort.patients.count"), cohort)
	for name, is := range before {
		if name == "medication_classes_undetermined" || name == "generated_at" {
			continue
		}
		unsure := name == "medication_classes" && before.number("medication_classes_undetermined.count") > 0
		if name == "cohort" {
			continue
		}
		unsure = unsure || name == "comparison" && before.number("comparison.undetermined.count") > 0
		if name == "adjusted" {
			unsure = before.number("adjusted.organization.opioid_use_undetermined.count") > 0
		}
		t.open(name, is, after[name], cohort > 0 || unsure)
	}
}

// alertsOn are those of a day on which nothing was alerted before.
func alertsOn(s *series.Series, day drug.Day) []event.Alert {
	var none, now alert.Watched
	now.Add(s.Medications)
	_, alerts := alert.Judge(alert.Standing{Day: day}, &none, &now, day)
	return alerts
}

// TestUnknownIsNeverZero replaces unclassified medicines by 200 MME of an
// opioid: every total, band, flag and count that changes was marked as
// uncertain.
func TestUnknownIsNeverZero(t *testing.T) {
	today := pain.DateOf(asOf)
	rapid.Check(t, func(rt *rapid.T) {
		u := unknownTest{rt}
		d := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 13))
		period := drug.Span{First: today.DayNumber() - drug.Day(30+d.IntN(335)), Last: today.DayNumber()}
		request := analytics.Request{StartDate: pain.DateOfDay(period.First).String(), EndDate: today.String(), Adjust: "case_mix", CompareStart: "2020-01-01"}
		if d.IntN(4) == 0 {
			request.MedicationClass = []string{"opioid", "benzodiazepine", "nsaid"}[d.IntN(3)]
		}
		var fields fault.Fields
		params := request.Params(today, &fields)
		if err := fields.Err(); err != nil {
			t.Fatal(err)
		}
		var populations [2]*analytics.PopulationTally
		var outcomes [2]*analytics.OutcomesTally
		var stewards [2]*Stewardship
		earlier := params.Earlier()
		var populationsBefore [2]*analytics.PopulationTally
		var outcomesBefore [2]*analytics.OutcomesTally
		for i := range 2 {
			populationsBefore[i], outcomesBefore[i] = analytics.NewPopulationTally(earlier), analytics.NewOutcomesTally(earlier)
			populations[i], outcomes[i], stewards[i] = analytics.NewPopulationTally(&params), analytics.NewOutcomesTally(&params), &Stewardship{Head: head()}
		}
		for range 1 + d.IntN(8) {
			h := drawHistory(d)
			var summaries [2]tree
			var alerts [2][]event.Alert
			for i := range 2 {
				c := h.chartOf(t, i == 1)
				sum, err := summary.Over(c, period, asOf)
				if err != nil {
					t.Fatal(err)
				}
				if m := &sum.MME; m.Current != nil && *m.Current > 0 && (m.Peak == nil || *m.Peak < *m.Current) {
					rt.Fatalf("the current dose is %v, the peak %v", *m.Current, m.Peak)
				}
				summaries[i] = treeOf(t, sum)
				p := analytics.Patient{Born: h.born.DayNumber(), Gender: analytics.FoldGender(h.gender), Series: &c.Series}
				if h.code != "" {
					p.Codes = []string{h.code}
				}
				populations[i].Add(&p)
				outcomes[i].Add(&p)
				populationsBefore[i].Add(&p)
				outcomesBefore[i].Add(&p)
				if summary.MayTakeOpioid(&c.Series, period) {
					row, err := stewardshipRow(c, period)
					if err != nil {
						t.Fatal(err)
					}
					stewards[i].Rows = append(stewards[i].Rows, row)
				}
				alerts[i] = alertsOn(&c.Series, today.DayNumber())
			}
			u.summaries(summaries[0], summaries[1])
			for _, a := range alerts[0] {
				if !slices.ContainsFunc(alerts[1], func(b event.Alert) bool { return a.Kind == b.Kind && a.Threshold <= b.Threshold }) {
					rt.Errorf("%v is alerted of what is not known", a)
				}
			}
		}
		u.populations(treeOf(t, populations[0].ResultAgainst(populationsBefore[0], asOf)), treeOf(t, populations[1].ResultAgainst(populationsBefore[1], asOf)))
		u.outcomes(treeOf(t, outcomes[0].ResultAgainst(outcomesBefore[0], asOf)), treeOf(t, outcomes[1].ResultAgainst(outcomesBefore[1], asOf)))
		var written [2]tree
		for i, s := range stewards {
			var b bytes.Buffer
			if err := s.writeJSON(&b); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b.Bytes(), &written[i]); err != nil {
				t.Fatal(err)
			}
		}
		u.stewards(written[0], written[1])
	})
}
