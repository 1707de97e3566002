package cohort

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/timeline"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// today is the day of all measures in tests.
var today = time.Date(2024, 6, 30, 12, 0, 0, 0, time.UTC)

// act is one thing that is done on one of several nodes.
type act struct {
	node    int
	what    string // arrive, change, add, correct, retract, merge or ask
	pick    int    // which patient, and of it which record
	person  person
	records []string
	request analytics.Request
}

type person struct {
	gender, born string
	codes        []pain.HistoryEntry
}

var values = []struct{ dataType, value string }{
	{"pain_scores", `{"score":%d,"aspect":"average"}`}, {"pain_scores", `{"score":%d,"aspect":"average"}`}, {"pain_scores", `{"score":%d}`},
	{"pain_scores", `{"score":%d,"scale":"vas","aspect":"worst","body_site":"knee"}`},
	{"assessments", `{"instrument":"peg","items":{"1":%d,"2":7,"3":6}}`}, {"procedures", `{"procedure_type":"nerve_block","pre_score":8,"post_score":%d}`},
	{"medications", `{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":3%d}`},
	{"medications", `{"name":"lorazepam","days_supply":30,"start_date":"2024-0%d-28"}`}, {"medications", `{"name":"ibuprofen","dose":%d00,"dose_unit":"mg"}`},
	{"sleep", `{"hours":%d}`},
	{"functional_status", `{"measure":"pain_frequency","value":"most_days"}`}, {"functional_status", `{"measure":"limits_life_or_work","value":"every_day"}`},
	{"functional_status", `{"measure":"tug_s","value":%d}`}, {"labs", `{"analyte":"morphine","result":"negative","value":%d}`}, {"labs", `{"loinc":"2345-7","value":%d}`},
}

var (
	someday = rapid.Custom(func(t *rapid.T) string {
		return today.AddDate(0, 0, -rapid.IntRange(0, 700).Draw(t, "days ago")).Format("2006-01-02")
	})
	aPerson = rapid.Custom(func(t *rapid.T) person {
		p := person{gender: rapid.SampledFrom([]string{"female", "F", "male", "they", ""}).Draw(t, "gender"), born: rapid.SampledFrom([]string{"1950-02-28", "1984-06-30", "1984-07-01", "2010-01-01"}).Draw(t, "born")}
		for range rapid.IntRange(0, 2).Draw(t, "conditions") {
			p.codes = append(p.codes, pain.HistoryEntry{Condition: "x", ICD10Code: rapid.SampledFrom([]string{"M54.50", "M54.16", "C50.911", "D57.1", "Z51.5", ""}).Draw(t, "code"),
				Status: rapid.SampledFrom([]string{"", "active", "resolved"}).Draw(t, "status"), Category: rapid.SampledFrom([]string{"", "pain", "family"}).Draw(t, "category"),
				OnsetDate: someday.Draw(t, "onset")[:rapid.SampledFrom([]int{0, 4, 7, 10}).Draw(t, "known")]})
		}
		return p
	})
	aRecord = rapid.Custom(func(t *rapid.T) string {
		v := rapid.SampledFrom(values).Draw(t, "value")
		value := strings.Replace(v.value, "%d", strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "digit")), 1)
		return fmt.Sprintf(`{"data_type":%q,"recorded_at":%q,"value":%s}`, v.dataType, someday.Draw(t, "at"), value)
	})
	aRequest = rapid.Custom(func(t *rapid.T) analytics.Request {
		maybe := func(name string, words ...string) string {
			return rapid.SampledFrom(append(words, "", "")).Draw(t, name)
		}
		return analytics.Request{StartDate: maybe("start", "2023-10-01", "2024-05-01"), EndDate: maybe("end", "2024-05-31"), Interval: maybe("interval", "day", "week"), FollowUp: maybe("follow-up", "30"),
			Gender: maybe("gender", "female", "unknown"), AgeMin: maybe("age", "40"), AgeMax: maybe("age", "40"), Condition: maybe("condition", "M54", "C"),
			MedicationClass: maybe("class", "opioid", "nsaid"), MinCellSize: maybe("cell", "3"),
			Standard: maybe("standard", "age", "female:1,male:2"), Adjust: maybe("adjust", "case_mix"), CompareStart: maybe("compare", "2023-06-01")}
	})
	anAct = rapid.Custom(func(t *rapid.T) act {
		return act{rapid.IntRange(0, 2).Draw(t, "node"), rapid.SampledFrom([]string{"arrive", "change", "add", "add", "add", "correct", "retract", "merge", "ask", "ask"}).Draw(t, "what"),
			rapid.IntRange(0, 1000).Draw(t, "pick"), aPerson.Draw(t, "person"), rapid.SliceOfN(aRecord, 1, 6).Draw(t, "records"), aRequest.Draw(t, "request")}
	})
	acts = rapid.SliceOfN(anAct, 25, 40)
)

func checked(tb testing.TB, r analytics.Request) *analytics.Params {
	tb.Helper()
	var fields fault.Fields
	p := r.Params(pain.DateOf(today), &fields)
	if err := fields.Err(); err != nil {
		tb.Fatal(err)
	}
	return &p
}

// both returns both measures, as in the responses.
func (h hospital) both(tb testing.TB, p *analytics.Params) string {
	tb.Helper()
	outcomes, err := h.cohorts.Outcomes(tb.Context(), h.Org, p, today)
	if err != nil {
		tb.Fatal(err)
	}
	population, err := h.cohorts.Population(tb.Context(), h.Org, p, today)
	if err != nil {
		tb.Fatal(err)
	}
	return printed(tb, outcomes, population)
}

func printed(tb testing.TB, measures ...any) string {
	tb.Helper()
	text, err := json.Marshal(measures)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// naive makes the measures from every patient and record that the database
// lists, one after the other.
func (h hospital) naive(tb testing.TB, p *analytics.Params) (answer string, passed int) {
	tb.Helper()
	outcomes, population, passed := h.tallies(tb, p)
	var outcomesBefore *analytics.OutcomesTally
	var populationBefore *analytics.PopulationTally
	if earlier := p.Earlier(); earlier != nil {
		outcomesBefore, populationBefore, _ = h.tallies(tb, earlier)
	}
	return printed(tb, outcomes.ResultAgainst(outcomesBefore, today), population.ResultAgainst(populationBefore, today)), passed
}

func (h hospital) tallies(tb testing.TB, p *analytics.Params) (outcomes *analytics.OutcomesTally, population *analytics.PopulationTally, passed int) {
	tb.Helper()
	outcomes, population = analytics.NewOutcomesTally(p), analytics.NewPopulationTally(p)
	var ids []id.Patient
	if _, err := h.PatientPage(tb.Context(), 1, 1000, func(item patients.PatientItem) { ids = append(ids, item.ID) }); err != nil {
		tb.Fatal(err)
	}
	for _, patientID := range ids {
		patient, err := h.Patient(tb.Context(), patientID)
		if err != nil {
			tb.Fatal(err)
		}
		entries, err := patient.MedicalHistory.Entries()
		if err != nil {
			tb.Fatal(err)
		}
		var s series.Series
		if _, err := h.Records(tb.Context(), patientID, patients.RecordQuery{Page: 1, Limit: 1000}, func(rec *pain.Record) {
			if err := s.Add(rec); err != nil {
				tb.Fatal(err)
			}
		}); err != nil {
			tb.Fatal(err)
		}
		s.Sort()
		member := analytics.Patient{Born: patient.DateOfBirth.DayNumber(), Gender: analytics.FoldGender(patient.Gender), Series: &s}
		for _, e := range entries {
			if e.ICD10Code != "" && e.Category != "family" {
				member.Codes = append(member.Codes, e.ICD10Code)
			}
			// In other words: of an unfinished date the day is that of the end.
			standing := !slices.Contains([]string{"inactive", "remission", "resolved"}, e.Status) && e.Category != "family"
			if on := pain.DateOfDay(p.AsOf).String(); standing && exempt[e.ICD10Code] != nil && (e.OnsetDate == "" || e.OnsetDate <= on[:len(e.OnsetDate)]) {
				member.Exempt.Add(*exempt[e.ICD10Code], p.AsOf)
			}
		}
		if naivePasses(p, &patient, &member) {
			passed++
			outcomes.Add(&member)
			population.Add(&member)
			continue
		}
		population.PassBy(&member)
		if p.Adjust != nil { // with whom those who pass are compared
			outcomes.Add(&member)
		}
	}
	return outcomes, population, passed
}

var exempt = map[string]*pain.Exemption{"C50.911": new(pain.Cancer), "D57.1": new(pain.SickleCell), "Z51.5": new(pain.Palliative)}

// naivePasses is the filter in other words.
func naivePasses(p *analytics.Params, patient *pain.Patient, m *analytics.Patient) bool {
	on := pain.DateOfDay(p.AsOf)
	age := on.Year - patient.DateOfBirth.Year
	if on.String()[5:] < patient.DateOfBirth.String()[5:] {
		age--
	}
	medications := slices.Clone(m.Series.Medications)
	timeline.Lay(medications)
	took := p.MedicationClass == nil || slices.ContainsFunc(medications, func(e series.Medication) bool {
		return e.Class.String() == *p.MedicationClass && e.First <= p.AsOf && e.Last >= p.Start
	})
	return took && (p.Gender == nil || m.Gender.String() == *p.Gender) && (p.AgeMin == nil || age >= *p.AgeMin) && (p.AgeMax == nil || age <= *p.AgeMax) &&
		(p.Condition == nil || slices.ContainsFunc(m.Codes, func(code string) bool { return strings.HasPrefix(code, *p.Condition) }))
}

// ward is what a history is acted out on: one organisation on several nodes.
type ward struct {
	nodes    []hospital
	patients []id.Patient
	records  map[id.Patient][]id.Record
}

// do acts. What is refused, such as a second correction of a record, is left.
func (w *ward) do(t *testing.T, a act) {
	t.Helper()
	node := w.nodes[a.node%len(w.nodes)]
	if a.what == "arrive" || len(w.patients) == 0 {
		p := storetest.Patient("Arlo Finch")
		a.person.dress(t, &p)
		if _, err := node.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		w.patients = append(w.patients, p.ID)
		return
	}
	patientID := w.patients[a.pick%len(w.patients)]
	switch a.what {
	case "change":
		node.change(t, patientID, func(p *pain.Patient) { a.person.dress(t, p) })
	case "add":
		var records []pain.Record
		for _, body := range a.records {
			records = append(records, storetest.Record(t, patientID, body))
			w.records[patientID] = append(w.records[patientID], records[len(records)-1].ID)
		}
		if err := storetest.AddRecords(t.Context(), node.Org, patientID, records...); err != nil {
			t.Fatal(err)
		}
	case "correct", "retract":
		w.correct(t, node, patientID, a)
	case "merge":
		w.merge(t, node, patientID, a)
	}
}

func (w *ward) merge(t *testing.T, node hospital, from id.Patient, a act) {
	t.Helper()
	into := w.patients[a.pick/7%len(w.patients)]
	if into == from {
		return
	}
	if err := storetest.Merge(t.Context(), node.Org, from, into); err != nil {
		t.Fatal(err)
	}
	w.patients = slices.DeleteFunc(w.patients, func(p id.Patient) bool { return p == from })
	w.records[into] = append(w.records[into], w.records[from]...)
}

func (w *ward) correct(t *testing.T, node hospital, patientID id.Patient, a act) {
	t.Helper()
	records := w.records[patientID]
	if len(records) == 0 {
		return
	}
	body := `{"entered_in_error":true,"reason":"x"}`
	if a.what == "correct" {
		body = `{"value":{"score":` + fmt.Sprint(a.pick%11) + `},"recorded_at":"` + today.AddDate(0, 0, -a.pick%500).Format("2006-01-02") + `"}`
	}
	c, err := storetest.Correct(context.WithoutCancel(t.Context()), node.Org, patientID, records[a.pick%len(records)], body)
	if err == nil && c.Replaced {
		w.records[patientID] = append(records, c.New.ID)
	}
	if code := fault.CodeOf(err); err != nil && code != fault.Conflict && code != fault.InvalidParameter {
		t.Fatal(err)
	}
}

func (p *person) dress(t *testing.T, patient *pain.Patient) {
	t.Helper()
	born, err := pain.ParseDate(p.born)
	if err != nil {
		t.Fatal(err)
	}
	patient.Gender, patient.DateOfBirth, patient.MedicalHistory = p.gender, born, pain.NewHistory(p.codes...)
}

// change changes a patient.
func (h hospital) change(t *testing.T, patientID id.Patient, edit func(*pain.Patient)) {
	t.Helper()
	if _, err := h.UpdatePatient(t.Context(), patientID, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
		edit(&old)
		old.Version++
		change := storetest.Updated(old)
		return old, &change, nil
	}); err != nil {
		t.Fatal(err)
	}
}

// execute runs a statement on a SQLite file, past the store.
func execute(t *testing.T, cfg store.Config, sql string) {
	t.Helper()
	conn, err := sqlite3.Open(strings.TrimPrefix(cfg.Database, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(sql); err != nil {
		t.Fatal(err)
	}
}
