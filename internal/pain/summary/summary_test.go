package summary

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/strictjson"
)

var now = time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)

// chart makes the chart of a patient of 1970 from lines "TIME TYPE VALUE", or
// "history CODE [STATUS [CATEGORY]]".
func chart(t *testing.T, lines ...string) *Chart {
	t.Helper()
	c := &Chart{Patient: pain.Patient{ID: id.New[id.PatientKind](now), DateOfBirth: pain.Date{Year: 1970, Month: time.May, Day: 17}}}
	var history []pain.HistoryEntry
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "history "); ok {
			words := append(strings.Fields(rest), "", "")
			history = append(history, pain.HistoryEntry{Condition: "x", ICD10Code: words[0], Status: words[1], Category: words[2]})
			continue
		}
		words := strings.SplitN(line, " ", 3)
		body, err := strictjson.Parse(fmt.Appendf(nil, `{"recorded_at":%q,"data_type":%q,"value":%s}`, words[0], words[1], words[2]))
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		var fields fault.Fields
		rec := pain.NewRecord(body, &fields, pain.Intake{NewID: func() id.Record { return id.New[id.RecordKind](now) }, Now: now})
		if err := fields.Err(); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if err := c.Series.Add(&rec); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(RecordTypes[:], rec.Type) {
			c.Records = append(c.Records, rec)
		}
	}
	c.Series.Sort()
	c.Patient.MedicalHistory = pain.NewHistory(history...)
	return c
}

func of(t *testing.T, c *Chart, day string) Summary {
	t.Helper()
	d, err := pain.ParseDate(day)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Of(c, d, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shown is the JSON form of a value.
func shown(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// is compares a value with its JSON form.
func is(t *testing.T, what string, v any, want string) {
	t.Helper()
	if got := shown(t, v); got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", what, got, want)
	}
}

func flagNamed(t *testing.T, s Summary, name string) Flag {
	t.Helper()
	i := slices.IndexFunc(s.Flags, func(f Flag) bool { return f.Flag == name })
	if i < 0 {
		t.Fatalf("no flag %s", name)
	}
	return s.Flags[i]
}

func TestNothingKnown(t *testing.T) {
	s := of(t, chart(t), "2024-06-30")
	if s.Pain.Aspect != nil || s.Pain.Latest != nil || s.Pain.Baseline != nil || s.Pain.Change != nil {
		t.Errorf("pain: %s", shown(t, s.Pain))
	}
	is(t, "points", s.Pain.Points, `[]`)
	is(t, "medications", s.Medications, `{"current":[]}`)
	is(t, "instruments", s.Instruments, `[]`)
	is(t, "procedures", s.Procedures, `[]`)
	is(t, "timeline", s.MME.Timeline, `[]`)
	is(t, "peak and average", []*float64{s.MME.Current, s.MME.Peak, s.MME.Average}, `[0,0,null]`)
	if s.GeneratedAt != "2026-01-15T10:30:00Z" || s.AsOf != "2024-06-30" || s.MME.From != "2023-07-02" || s.MME.To != "2024-06-30" {
		t.Errorf("%s, as of %s, window %s to %s", s.GeneratedAt, s.AsOf, s.MME.From, s.MME.To)
	}
	for _, f := range s.Flags {
		if f.Flag == "phq9_item9" {
			is(t, f.Flag, f.Active, `null`)
		} else {
			is(t, f.Flag, f.Active, `false`)
		}
	}
}

func TestPainSeries(t *testing.T) {
	current := []string{"2024-01-01T08:00:00Z pain_scores 9", "2024-01-02T08:00:00Z pain_scores 9", "2024-01-03T08:00:00Z pain_scores 9"}
	score := func(at, value string) string { return at + " pain_scores " + value }
	for _, c := range []struct {
		name                                  string
		lines                                 []string
		aspect, latest, base, points, percent string
		responder30, responder50, two, worse  string
		low                                   bool
		scores                                int
		scale, site                           string
		wantChange                            bool
	}{
		{name: "vector 11", lines: []string{score("2024-01-01", "7"), score("2024-04-01", "4")}, aspect: "current", latest: "4", base: "7", points: "-3", percent: "-42.86",
			responder30: "true", responder50: "false", two: "true", worse: "false", scores: 2, scale: "nrs", wantChange: true},
		{name: "vector 12", lines: []string{score("2024-01-01", "2"), score("2024-04-01", "1")}, aspect: "current", latest: "1", base: "2", points: "-1", percent: "-50",
			responder30: "true", responder50: "true", two: "false", worse: "false", low: true, scores: 2, scale: "nrs", wantChange: true},
		{name: "a baseline of 0 has no percentage", lines: []string{score("2024-01-01", "0"), score("2024-04-01", "3")}, aspect: "current", latest: "3", base: "0", points: "3", percent: "null",
			responder30: "null", responder50: "null", two: "false", worse: "null", low: true, scores: 2, scale: "nrs", wantChange: true},
		{name: "average before current, however many", lines: append(current, score("2024-02-01", `{"score":60,"scale":"vas","aspect":"average"}`)), aspect: "average", latest: "6", base: "6",
			scores: 1, scale: "vas"},
		{name: "most scores of one site", lines: []string{score("2024-01-01", `{"score":8,"body_site":"knee"}`), score("2024-01-02", `{"score":2,"body_site":"hip"}`), score("2024-01-03", `{"score":5,"body_site":"knee"}`)},
			aspect: "current", latest: "5", base: "8", points: "-3", percent: "-37.5", responder30: "true", responder50: "false", two: "true", worse: "false", scores: 2, scale: "nrs", site: "knee", wantChange: true},
		{name: "the scores of the first day are the baseline", lines: []string{score("2024-01-01T08:00:00Z", "6"), score("2024-01-01T23:59:59.999Z", "7"), score("2024-01-02", "9")},
			aspect: "current", latest: "9", base: "6.5", points: "2.5", percent: "38.46", responder30: "false", responder50: "false", two: "false", worse: "true", scores: 3, scale: "nrs", wantChange: true},
		{name: "words are no number", lines: []string{score("2024-01-01", `{"score":3,"scale":"vrs4","aspect":"average"}`), score("2024-01-05", "5")}, aspect: "current", latest: "5", base: "5", scores: 1, scale: "nrs"},
		{name: "what comes after the day does not count", lines: []string{score("2024-06-30T23:59:59Z", "5"), score("2024-07-01T00:00:00Z", "1")}, aspect: "current", latest: "5", base: "5", scores: 1, scale: "nrs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := of(t, chart(t, c.lines...), "2024-06-30").Pain
			if *p.Aspect != c.aspect || *p.Scale != c.scale || *p.BodySite != c.site || p.Scores != c.scores || len(p.Points) != c.scores || p.Truncated || p.Scheme != "default" {
				t.Errorf("%s", shown(t, p))
			}
			is(t, "latest", p.Latest.Score, c.latest)
			is(t, "baseline", p.Baseline.Score, c.base)
			if (p.Change != nil) != c.wantChange {
				t.Fatalf("change %s", shown(t, p.Change))
			}
			if p.Change == nil {
				return
			}
			is(t, "change", p.Change, fmt.Sprintf(`{"points":%s,"percent":%s,"responder_30":%s,"responder_50":%s,"nrs_ge_2":%s,"worsened_30":%s,"low_baseline":%t}`,
				c.points, c.percent, c.responder30, c.responder50, c.two, c.worse, c.low))
		})
	}
}

func TestPointsAreBounded(t *testing.T) {
	c := chart(t)
	for i := range maxPoints + 5 {
		c.Series.Scores = append(c.Series.Scores, series.Score{At: int64(i) * millisecondsPerDay, Kind: series.Kind{Scale: 1, Aspect: series.Average}, Value: uint8(i % 11)})
	}
	p := of(t, c, "2024-06-30").Pain
	if len(p.Points) != maxPoints || !p.Truncated || p.Scores != maxPoints+5 || p.Points[0].RecordedAt != "1970-01-06T00:00:00Z" || p.Points[maxPoints-1] != *p.Latest && p.Latest.RecordedAt != p.Points[maxPoints-1].RecordedAt {
		t.Errorf("%d points of %d, truncated %v, first %+v", len(p.Points), p.Scores, p.Truncated, p.Points[0])
	}
	if p.Baseline.IndexDate != "1970-01-01" {
		t.Errorf("the baseline is of %s", p.Baseline.IndexDate)
	}
}

// medicine is a line about a prescription from a day on.
func medicineLine(day, value string) string { return day + " medications " + value }

var (
	// vector 7: morphine ER 30 mg BID for 30 days, oxycodone 5 mg, 60 tablets
	// for 15 days from the 21st.
	vector7 = []string{
		medicineLine("2024-01-01", `{"name":"Morphine ER","dose":30,"dose_unit":"mg","frequency":"BID","days_supply":30}`),
		medicineLine("2024-01-21", `{"name":"oxycodone","strength":5,"strength_unit":"mg","quantity":60,"days_supply":15}`),
	}
	lorazepam = medicineLine("2024-01-10", `{"name":"lorazepam","days_supply":30}`)
)

func TestVector7(t *testing.T) {
	m := of(t, chart(t, vector7...), "2024-03-30").MME
	is(t, "timeline", m.Timeline, `[{"from":"2024-01-01","to":"2024-01-20","mme":60,"incomplete":false,"assumed":false},`+
		`{"from":"2024-01-21","to":"2024-01-30","mme":90,"incomplete":false,"assumed":false},{"from":"2024-01-31","to":"2024-02-04","mme":30,"incomplete":false,"assumed":false}]`)
	is(t, "numbers", []any{m.Peak, m.Average, m.CoveredDays, m.DaysFrom50, m.DaysFrom90, m.Incomplete, m.Current, m.CurrentBand}, `[90,64.3,35,30,10,false,0,"0"]`)
	if m.Caveat != "MME is for risk assessment, not for converting between opioids." || m.Table != "CDC 2022" || !strings.Contains(m.Definitions.Peak, "definition 4") || !strings.Contains(m.Definitions.Average, "definition 2") {
		t.Errorf("%+v", m)
	}
	// In the middle of it, and with the window cutting its beginning off.
	s := of(t, chart(t, vector7...), "2024-01-25")
	is(t, "current", []any{s.MME.Current, s.MME.CurrentBand, s.MME.DaysFrom90}, `[90,"\u003e=90",5]`)
	is(t, "ge_90", flagNamed(t, s, "ge_90"), `{"flag":"ge_90","active":true,"since":"2024-01-21","basis":{"assumed":false,"incomplete":false,"mme":90,"out_of_guideline_scope":false,"since_incomplete":false,"threshold":90,"unclassified":[]}}`)
	is(t, "ge_50", flagNamed(t, s, "ge_50").Since, `"2024-01-01"`)
	cut := of(t, chart(t, vector7...), "2025-01-20").MME
	is(t, "cut", cut.Timeline[0], `{"from":"2024-01-22","to":"2024-01-30","mme":90,"incomplete":false,"assumed":false}`)
}

func TestVector8(t *testing.T) {
	s := of(t, chart(t, append(vector7, lorazepam)...), "2024-03-30")
	f := flagNamed(t, s, "opioid_benzo_overlap")
	is(t, "active", []any{f.Active, f.Since}, `[true,"2024-01-10"]`)
	is(t, "basis", []any{f.Basis["shared_days"], f.Basis["last_shared_day"], f.Basis["current"]}, `[26,"2024-02-04",false]`)
	is(t, "the other", flagNamed(t, s, "opioid_gabapentinoid_overlap").Active, `false`)
	before := of(t, chart(t, append(vector7, lorazepam)...), "2024-01-09")
	is(t, "the day before", flagNamed(t, before, "opioid_benzo_overlap").Active, `false`)
	gone := of(t, chart(t, append(vector7, lorazepam)...), "2025-02-05")
	is(t, "a year later", flagNamed(t, gone, "opioid_benzo_overlap").Active, `false`)
}

// Vectors 3 to 6, and what cannot be counted.
func TestCurrentDose(t *testing.T) {
	oxycodone := medicineLine("2024-06-20", `{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}`)
	patch := medicineLine("2024-06-20", `{"name":"fentanyl","route":"transdermal","strength":25,"strength_unit":"mcg/h","quantity":10,"days_supply":30}`)
	buprenorphine := medicineLine("2024-06-20", `{"name":"buprenorphine","dose":8,"dose_unit":"mg","frequency":"QD","days_supply":30}`)
	unknown := medicineLine("2024-06-20", `{"name":"oxycodone","days_supply":30}`)
	for _, c := range []struct {
		name, current, peak, ge50, ge90 string
		incomplete                      bool
		lines                           []string
	}{
		{"vector 3", "70.5", "70.5", "true", "false", false, []string{medicineLine("2024-06-20", `{"name":"methadone","dose":5,"dose_unit":"mg","frequency":"TID","days_supply":30}`)}},
		{"vector 6", "105", "105", "true", "true", false, []string{oxycodone, patch, buprenorphine}},
		{"buprenorphine alone does not count", "null", "null", "false", "false", false, []string{buprenorphine}},
		{"an opioid of unknown dose", "null", "null", "null", "null", true, []string{unknown}},
		{"and one of known dose", "60", "60", "true", "null", true, []string{unknown, patch}},
		{"nobody says how long, on day 90", "70.5", "70.5", "true", "false", false, []string{medicineLine("2024-04-02", `{"name":"methadone","dose":5,"dose_unit":"mg","frequency":"TID","status":"active"}`)}},
		{"nobody says how long, on day 91", "0", "70.5", "false", "false", false, []string{medicineLine("2024-04-01", `{"name":"methadone","dose":5,"dose_unit":"mg","frequency":"TID","status":"active"}`)}},
		{"nobody says how long, nor how much", "null", "null", "null", "null", true, []string{medicineLine("2024-04-02", `{"name":"methadone"}`)}},
		{"it was stopped before the day", "0", "70.5", "false", "false", false, []string{medicineLine("2024-02-20", `{"name":"methadone","dose":5,"dose_unit":"mg","frequency":"TID","status":"stopped","start_date":"2024-01-01"}`)}},
		{"it begins later", "0", "0", "false", "false", false, []string{medicineLine("2024-06-20", `{"name":"methadone","dose":5,"dose_unit":"mg","frequency":"TID","days_supply":30,"start_date":"2024-07-01"}`)}},
		{"no opioid", "0", "0", "false", "false", false, []string{medicineLine("2024-06-20", `{"name":"ibuprofen","days_supply":30}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := of(t, chart(t, c.lines...), "2024-06-30")
			is(t, "current", s.MME.Current, c.current)
			is(t, "peak", s.MME.Peak, c.peak)
			is(t, "ge_50", flagNamed(t, s, "ge_50").Active, c.ge50)
			is(t, "ge_90", flagNamed(t, s, "ge_90").Active, c.ge90)
			if s.MME.Incomplete != c.incomplete {
				t.Errorf("incomplete is %v", s.MME.Incomplete)
			}
		})
	}
}

func TestCurrentMedications(t *testing.T) {
	c := chart(t,
		medicineLine("2024-06-01", `{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}`),
		medicineLine("2024-04-01", `{"name":"Oxycodone HCl 10 mg tab","quantity":90,"days_supply":30}`), // filled again in June
		medicineLine("2024-03-01", `{"name":"oxycodone/acetaminophen","days_supply":30}`),               // another medicine
		medicineLine("2024-06-01", `{"name":"gabapentin"}`),
		medicineLine("2024-05-01", `{"name":"dihydrocodeine","days_supply":90,"dose":30,"dose_unit":"mg","frequency":"BID"}`),
		medicineLine("2024-06-02", `{"name":"ibuprofen","days_supply":28}`), // up to the 29th
		medicineLine("2024-06-02", `{"name":"naproxen","days_supply":60,"status":"stopped"}`),
		medicineLine("2024-06-02", `{"name":"meloxicam","days_supply":60,"status":"completed","end_date":"2024-06-30"}`),
		medicineLine("2024-06-02", `{"name":"celecoxib","days_supply":60,"status":"cancelled"}`),
	)
	var got []string
	for _, m := range of(t, c, "2024-06-30").Medications.Current {
		m.RecordID = ""
		got = append(got, strings.TrimPrefix(shown(t, m), `{"record_id":"",`))
	}
	want := []string{
		`"name":"dihydrocodeine","drug_class":"opioid","status":"","first_start_date":"2024-05-01","last_start_date":"2024-05-01","start_date":"2024-05-01","end_date":"2024-07-29","assumed":false,"assumed_until":null,"mme_per_day":null,"mme_excluded_reason":"no_conversion_factor"}`,
		`"name":"gabapentin","drug_class":"gabapentinoid","status":"","first_start_date":"2024-06-01","last_start_date":"2024-06-01","start_date":"2024-06-01","end_date":null,"assumed":true,"assumed_until":"2024-08-29","mme_per_day":null,"mme_excluded_reason":null}`,
		`"name":"oxycodone","drug_class":"opioid","status":"","first_start_date":"2024-04-01","last_start_date":"2024-06-01","start_date":"2024-06-01","end_date":"2024-06-30","assumed":false,"assumed_until":null,"mme_per_day":45,"mme_excluded_reason":null}`,
		`"name":"meloxicam","drug_class":"nsaid","status":"completed","first_start_date":"2024-06-02","last_start_date":"2024-06-02","start_date":"2024-06-02","end_date":"2024-06-30","assumed":false,"assumed_until":null,"mme_per_day":null,"mme_excluded_reason":null}`,
		// Nobody says on which day it was stopped: its supply counts.
		`"name":"naproxen","drug_class":"nsaid","status":"stopped","first_start_date":"2024-06-02","last_start_date":"2024-06-02","start_date":"2024-06-02","end_date":"2024-07-31","assumed":false,"assumed_until":null,"mme_per_day":null,"mme_excluded_reason":null}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s := of(t, c, "2024-06-30")
	is(t, "both are current", flagNamed(t, s, "opioid_gabapentinoid_overlap").Active, `true`)
	ended := of(t, chart(t, vector7[0], medicineLine("2024-01-20", `{"name":"gabapentin","status":"stopped","start_date":"2024-01-02"}`)), "2024-06-30")
	// From the 2nd to the 19th, of which only the first day is certain.
	overlap := flagNamed(t, ended, "opioid_gabapentinoid_overlap")
	is(t, "up to the day before it was stopped", []any{overlap.Active, overlap.Basis["shared_days"], overlap.Basis["assumed_days"], overlap.Basis["last_shared_day"]}, `[true,18,17,"2024-01-19"]`)
}

func TestNaloxoneGap(t *testing.T) {
	low := medicineLine("2024-06-20", `{"name":"oxycodone","strength":5,"strength_unit":"mg","quantity":60,"days_supply":30}`)
	high := medicineLine("2024-06-20", `{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":180,"days_supply":30}`)
	unknown := medicineLine("2024-06-20", `{"name":"oxycodone","days_supply":30}`)
	for _, c := range []struct {
		name, active, reasons string
		lines                 []string
	}{
		{"no opioid", "false", `["overdose_or_substance_use"]`, []string{"history F11.20"}},
		{"an opioid and no more", "false", `[]`, []string{low}},
		{"a high dose", "true", `["mme_ge_50"]`, []string{high}},
		{"a high dose, and naloxone", "false", `["mme_ge_50"]`, []string{high, medicineLine("2023-07-03", `{"name":"Narcan (naloxone)"}`)}},
		{"naloxone too long ago", "true", `["mme_ge_50"]`, []string{high, medicineLine("2023-07-01", `{"name":"naloxone"}`)}},
		{"naloxone within an opioid", "true", `["mme_ge_50"]`, []string{high, medicineLine("2024-06-20", `{"name":"Suboxone (buprenorphine/naloxone)","days_supply":30}`)}},
		{"a benzodiazepine", "true", `["benzodiazepine"]`, []string{low, medicineLine("2024-06-20", `{"name":"lorazepam","days_supply":30}`)}},
		{"an overdose", "true", `["overdose_or_substance_use"]`, []string{low, `2022-01-01 adverse_events {"event":"overdose"}`}},
		{"an overdose in the family", "false", `[]`, []string{low, "history F11.20 active family"}},
		{"substance use that is over", "true", `["overdose_or_substance_use"]`, []string{low, "history F11.20 remission"}},
		{"tobacco", "false", `[]`, []string{low, "history F17.200 active substance_use"}},
		{"sleep apnoea", "true", `["sleep_disordered_breathing"]`, []string{low, "history G47.33"}},
		{"a kidney that is well again", "false", `[]`, []string{low, "history N17.9 resolved"}},
		{"kidney and liver", "true", `["renal_or_hepatic_failure"]`, []string{low, "history N18.6", "history K72.10"}},
		{"a dose that is not known", "null", `[]`, []string{unknown}},
		{"it is not known, and does not matter", "true", `["sleep_disordered_breathing"]`, []string{unknown, "history G47.33"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := flagNamed(t, of(t, chart(t, c.lines...), "2024-06-30"), "naloxone_gap")
			is(t, "active", f.Active, c.active)
			is(t, "reasons", f.Basis["reasons"], c.reasons)
		})
	}
	old := chart(t, low)
	old.Patient.DateOfBirth = pain.Date{Year: 1959, Month: time.June, Day: 30}
	is(t, "65 today", flagNamed(t, of(t, old, "2024-06-30"), "naloxone_gap").Basis["reasons"], `["age_65_or_over"]`)
	is(t, "64 yesterday", flagNamed(t, of(t, old, "2024-06-29"), "naloxone_gap").Basis["reasons"], `[]`)
}

func TestScopeOfTheGuideline(t *testing.T) {
	for history, want := range map[string]string{
		"C50.911": "true", "C00": "true", "C96.9": "true", "C7A.00": "true", "D57.1": "true", "Z51.5": "true",
		"C97": "false", "D56.1": "false", "Z51.0": "false", "M54.50": "false", "C50.911 resolved": "false", "C50.911 active family": "false", "C50.911 recurrence": "true",
	} {
		s := of(t, chart(t, "history "+history, vector7[0]), "2024-01-10")
		is(t, history, flagNamed(t, s, "out_of_guideline_scope").Active, want)
		is(t, history+" marks the others", flagNamed(t, s, "ge_50").Basis["out_of_guideline_scope"], want)
		is(t, history+" changes none", flagNamed(t, s, "ge_50").Active, "true")
	}
	later := chart(t)
	later.Patient.MedicalHistory = pain.NewHistory(pain.HistoryEntry{Condition: "x", ICD10Code: "C50.911", OnsetDate: "2024-03"})
	is(t, "before its onset", flagNamed(t, of(t, later, "2024-02-29"), "out_of_guideline_scope").Active, "false")
	is(t, "in the month of its onset", flagNamed(t, of(t, later, "2024-03-01"), "out_of_guideline_scope").Active, "true")
}

func TestInstruments(t *testing.T) {
	c := chart(t,
		`2024-01-01 assessments {"instrument":"peg","items":{"1":7,"2":7,"3":6}}`,
		`2024-02-01 assessments {"instrument":"peg","items":{"1":7,"2":7}}`,
		`2024-03-01 assessments {"instrument":"peg","items":{"1":5,"2":4,"3":4}}`,
		`2024-01-01 assessments {"instrument":"phq_9","items":{"1":2,"2":2,"3":2,"4":2,"5":1,"6":0,"7":0,"9":1}}`,
		`2024-01-02 assessments {"instrument":"pcs","score":30}`,
		`2024-03-02 assessments {"instrument":"pcs","score":20}`,
		`2024-08-02 assessments {"instrument":"gad_7","items":{"1":1}}`,
	)
	is(t, "instruments", of(t, c, "2024-06-30").Instruments, `[`+
		// vector 10
		`{"instrument":"peg","recorded_at":"2024-03-01T00:00:00Z","status":"complete","score":4.3,"band":"","previous":{"recorded_at":"2024-01-01T00:00:00Z","score":6.7},"change":-2.3,"mcid_met":true},`+
		`{"instrument":"phq_9","recorded_at":"2024-01-01T00:00:00Z","status":"prorated","score":11,"band":"moderate","previous":null,"change":null,"mcid_met":null},`+
		`{"instrument":"pcs","recorded_at":"2024-03-02T00:00:00Z","status":"complete","score":20,"band":"below_threshold","previous":{"recorded_at":"2024-01-02T00:00:00Z","score":30},"change":-10,"mcid_met":null}]`)
	unscored := of(t, c, "2024-02-15").Instruments[0]
	is(t, "unscorable", unscored, `{"instrument":"peg","recorded_at":"2024-02-01T00:00:00Z","status":"unscorable","score":null,"band":"","previous":{"recorded_at":"2024-01-01T00:00:00Z","score":6.7},"change":null,"mcid_met":null}`)
}

func TestSelfHarmItem(t *testing.T) {
	c := chart(t,
		`2024-01-01 assessments {"instrument":"phq_9","items":{"9":1}}`,
		`2024-02-01 assessments {"instrument":"phq_9","items":{"1":1,"9":2}}`,
		`2024-03-01 assessments {"instrument":"phq_9","items":{"1":1}}`, // the item was left out
		`2024-04-01 assessments {"instrument":"phq_9","items":{"9":0}}`,
	)
	for day, want := range map[string]string{
		"2023-12-31": `[null,null,null]`,
		"2024-01-01": `[true,"2024-01-01","2024-01-01T00:00:00Z"]`,
		"2024-03-31": `[true,"2024-01-01","2024-02-01T00:00:00Z"]`,
		"2024-04-01": `[false,null,"2024-04-01T00:00:00Z"]`,
	} {
		f := flagNamed(t, of(t, c, day), "phq9_item9")
		is(t, day, []any{f.Active, f.Since, f.Basis["recorded_at"]}, want)
	}
}

func TestProcedures(t *testing.T) {
	var lines []string
	for i := range 25 {
		lines = append(lines, fmt.Sprintf(`2024-01-%02d procedures {"procedure_type":"nerve_block","pre_score":8,"level":"L%d"}`, i+1, i+1))
	}
	list := of(t, chart(t, lines...), "2024-01-24").Procedures
	if len(list) != 20 || list[0].Level != "L5" || list[19].Level != "L24" || *list[0].PreScore != 8 || list[0].PostScore != nil {
		t.Errorf("%s", shown(t, list))
	}
}

func TestUnreadable(t *testing.T) {
	day := pain.Date{Year: 2024, Month: time.June, Day: 30}
	for _, dataType := range RecordTypes {
		c := chart(t)
		c.Records = []pain.Record{{Type: dataType, Value: pain.StoredValue("{")}}
		if _, err := Of(c, day, now); err == nil {
			t.Errorf("%v: no error", dataType)
		}
	}
	c := chart(t)
	c.Patient.MedicalHistory = pain.StoredHistory("{")
	if _, err := Of(c, day, now); err == nil {
		t.Error("history: no error")
	}
}

// BenchmarkOf sums up ten years of a patient who reports daily.
func BenchmarkOf(b *testing.B) {
	var c Chart
	for i := range 3650 {
		c.Series.Scores = append(c.Series.Scores, series.Score{At: int64(16000+i) * millisecondsPerDay, Kind: series.Kind{Scale: 1, Aspect: series.Average}, Value: uint8(i % 11)})
	}
	for i := range 120 {
		at := time.Date(2014, time.January, 1+30*i, 9, 0, 0, 0, time.UTC)
		c.Records = append(c.Records, pain.Record{Type: pain.TypeMedications, RecordedAt: at,
			Value: pain.StoredValue(`{"name":"oxycodone","days_supply":30,"derived":{"drug_class":"opioid","ingredients":["oxycodone"],"mme_per_day":45}}`)})
	}
	for b.Loop() {
		s, err := Of(&c, pain.Date{Year: 2023, Month: time.June, Day: 30}, now)
		if err != nil || len(s.MME.Timeline) == 0 {
			b.Fatal(err, s.MME)
		}
	}
}

// Pain is shown within one site and side: of those scored in the last 365 days
// that with the most scores on the first day of them all, then the worst.
func TestSitesAndSidesApart(t *testing.T) {
	score := func(at string, value int, more string) string {
		return fmt.Sprintf(`%s pain_scores {"score":%d,"aspect":"average"%s}`, at, value, more)
	}
	const left, right, back = `,"body_site":"knee","laterality":"left"`, `,"body_site":"knee","laterality":"right"`, `,"body_site":"lower back"`
	for _, c := range []struct {
		name  string
		lines []string
		want  string // site, side, scores, index date, baseline, latest, change in points
	}{
		{"the worse side", []string{score("2024-03-01", 8, right), score("2024-03-01", 7, left), score("2024-05-01", 2, left), score("2024-05-02", 3, left)},
			`["knee","right",1,"2024-03-01",8,8]`},
		{"more scores on the first day", []string{score("2024-03-01T08:00:00Z", 8, right), score("2024-03-01T08:00:00Z", 5, left), score("2024-03-01T09:00:00Z", 6, left), score("2024-05-02", 3, left)},
			`["knee","left",3,"2024-03-01",5.5,3,-2.5]`},
		{"what was not scored for a year gives way", []string{score("2023-06-30", 8, right), score("2024-03-01", 5, left), score("2024-05-02", 3, left)},
			`["knee","left",2,"2024-03-01",5,3,-2]`},
		{"365 days ago is in the year", []string{score("2023-07-02", 8, right), score("2024-03-01", 5, left), score("2024-05-02", 3, left)},
			`["knee","right",1,"2023-07-02",8,8]`},
		{"what is scored on keeps its first day", []string{score("2020-01-01", 6, back), score("2024-03-01", 9, left), score("2024-05-02", 4, back)},
			`["lower back","",2,"2020-01-01",6,4,-2]`},
		{"none in the year", []string{score("2020-01-01", 6, back), score("2020-01-02", 9, left)}, `["lower back","",1,"2020-01-01",6,6]`},
		{"a side that does not apply is none", []string{score("2024-03-01", 6, back+`,"laterality":"na"`), score("2024-03-02", 4, back)}, `["lower back","",2,"2024-03-01",6,4,-2]`},
	} {
		p := of(t, chart(t, c.lines...), "2024-06-30").Pain
		got := []any{p.BodySite, p.Laterality, p.Scores, p.Baseline.IndexDate, p.Baseline.Score, p.Latest.Score}
		if p.Change != nil {
			got = append(got, p.Change.Points)
		}
		is(t, c.name, got, c.want)
	}
	if p := of(t, chart(t), "2024-06-30").Pain; p.Laterality != nil || p.BodySite != nil {
		t.Errorf("no score has a site: %s", shown(t, p))
	}
}

// Of scores at one time the last by its identifier is the latest: the series has
// them in that order.
func TestLatestOfOneTime(t *testing.T) {
	for _, values := range [][2]int{{2, 8}, {8, 2}} {
		p := of(t, chart(t, "2024-03-01 pain_scores 5", fmt.Sprintf("2024-05-01T09:00:00.123Z pain_scores %d", values[0]), fmt.Sprintf("2024-05-01T09:00:00.123Z pain_scores %d", values[1])), "2024-06-30").Pain
		is(t, "latest", []any{p.Latest.Score, p.Change.Points, p.Points[1].Score}, fmt.Sprintf("[%d,%d,%d]", values[1], values[1]-5, values[0]))
	}
}
