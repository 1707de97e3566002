package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/strictjson"
	"anodyne.example/anodyne/internal/synth"
	"anodyne.example/anodyne/internal/testneed"
)

// clinic is an organisation of synthetic patients in a real database,
// including what clean examples lack: corrected and withdrawn records, unknown
// values, odd names. The active records are also kept in memory, so that
// numbers can be recomputed independently of the program.
type clinic struct {
	org      store.Org
	cohorts  *cohort.Cohorts
	patients []*chronicle
	all      bool // every format is looked at, and several periods

	// What was written last, and its files.
	written contents
	files   map[reports.ReportFormat][]byte
}

// chronicle is a patient with the active records, sorted by time.
type chronicle struct {
	pain.Patient
	history []pain.HistoryEntry
	facts   []fact
}

// fact is one record as it was sent.
type fact struct {
	id    id.Record
	kind  string
	at    time.Time
	value map[string]any
}

// clinicPatients are so many that a cell of ten is small and one of fifty is
// not.
const clinicPatients = 220

// writers store at the same time; what they write is committed together.
const writers = 74

// hostile are names that must be texts wherever they appear.
var hostile = []string{
	`<script>alert(1)</script>`, `=cmd|' /C calc'!A0`, "+49 1", "-5", "@SUM(A1)", "abc\u202edef\u200f", "Ζωή Παππάς", "Наталья Щербакова", "José Núñez", "李明",
	`"quoted", comma`, "_x0041_", "&amp; <b>", "O'Hara {nb} %s",
}

// TestNumbers compares every number of every report, in every format, with the
// response, for a clinic and for one without patients.
//
//test:norace
func TestNumbers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		// What is generated from the same data on one engine is not generated
		// again on the other, except for the tables of one report of each type.
		all := strings.HasSuffix(t.Name(), "/"+storetest.SQLite)
		for name, c := range map[string]*clinic{"clinic": newClinic(t, s), "nobody": emptyClinic(t, s)} {
			c.all = all
			t.Run(name, func(t *testing.T) {
				t.Run("summaries", c.checkSummaries)
				t.Run("measures", c.checkMeasures)
				seen := map[reporttype.Type]int{}
				for _, r := range c.requests() {
					t.Run(r.name, func(t *testing.T) {
						if seen[r.kind]++; seen[r.kind] > 1 {
							testneed.Long(t, "more than one report of each type")
						}
						d := c.made(t, r)
						if !c.all && seen[r.kind] > 1 {
							return
						}
						t.Run("tables", func(t *testing.T) { c.checkTables(t, d) })
						if !c.all {
							return
						}
						if seen[r.kind] > 1 || len(seen) > 1 {
							testneed.Long(t, "the PDF of more than one report")
						}
						t.Run("pdf", func(t *testing.T) { c.checkPDF(t, d) })
						t.Run("again", func(t *testing.T) { c.checkAgain(t, r, d) })
					})
				}
			})
		}
	})
}

// emptyClinic is an organisation without patients.
func emptyClinic(t *testing.T, s *store.Store) *clinic {
	t.Helper()
	who := storetest.Client(t, s, "Nobody's Clinic")
	return &clinic{org: s.For(&who), cohorts: cohort.New(64<<20, nil)}
}

func newClinic(t *testing.T, s *store.Store) *clinic {
	t.Helper()
	who := storetest.Client(t, s, "Riverside Pain Clinic")
	c := &clinic{org: s.For(&who), cohorts: cohort.New(64<<20, nil), patients: make([]*chronicle, clinicPatients)}
	people := synth.Generator{Seed: 11, Until: asOf}
	var wg sync.WaitGroup
	for worker := range writers {
		wg.Go(func() {
			for n := worker; n < clinicPatients; n += writers {
				made := people.Patient(n)
				made.Records = append(made.Records, oddities(n)...)
				slices.SortStableFunc(made.Records, func(a, b synth.Record) int { return a.At.Compare(b.At) })
				c.patients[n] = c.admit(t, n, &made)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return c
}

// oddities are records that no example has, for one patient in some.
func oddities(n int) (list []synth.Record) {
	add := func(ago int, kind string, value map[string]any) {
		list = append(list, synth.Record{Type: kind, At: asOf.AddDate(0, 0, -ago).Add(-time.Duration(n%7) * time.Minute), Source: "clinician", Value: value})
	}
	type v = map[string]any
	switch n % 20 {
	case 0: // what it is nobody knows
		add(70, "medications", v{"name": "Qorvexin 100 mg", "strength": 100, "strength_unit": "mg", "quantity": 90, "days_supply": 30, "prescriber_id": "dr-q"})
	case 18: // nor how long it is taken
		add(33, "medications", v{"name": "Zzyzx", "dose": 1, "dose_unit": "tablet", "frequency": "TID"})
	case 19: // nor of either of two; of one until when
		add(100, "medications", v{"name": "Zzyzx", "status": "stopped", "start_date": "2025-08-01"})
		add(130, "medications", v{"name": "Qorvexin 100 mg", "days_supply": 120})
	case 1: // the dose is not known
		add(40, "medications", v{"name": "hydromorphone", "days_supply": 90})
	case 2: // must not be counted
		add(35, "medications", v{"name": "buprenorphine", "dose": 8, "dose_unit": "mg", "frequency": "QD", "route": "sublingual"})
	case 3: // neither supply nor end
		add(300, "medications", v{"name": "morphine", "dose": 15, "dose_unit": "mg", "frequency": "TID"})
		add(200, "medications", v{"name": "diazepam", "dose": 5, "dose_unit": "mg", "frequency": "QHS"})
	case 4: // cannot be put on 0 to 10
		add(3, "pain_scores", v{"scale": "vrs4", "score": 3, "aspect": "average"})
	case 5: // fractions
		for k := range 9 {
			add(250-27*k, "pain_scores", v{"scale": "vas", "score": 83 - 7*k, "aspect": "average", "body_site": "knee"})
		}
		for k := range 4 { // of both knees, the left the worse
			add(249-30*k, "pain_scores", v{"score": 6 - k, "aspect": "average", "body_site": "knee", "laterality": "right"})
			add(249-30*k, "pain_scores", v{"score": 9 - 2*k, "aspect": "average", "body_site": "knee", "laterality": "left"})
		}
	case 6: // cannot be scored; prorated
		add(6, "assessments", v{"instrument": "phq_9", "items": map[string]int{"1": 1, "2": 2, "3": 3, "9": 2}})
		add(5, "assessments", v{"instrument": "gad_7", "items": map[string]int{"1": 1, "2": 2, "3": 3, "4": 2, "5": 1, "6": 1}})
	case 7: // early refills, of which some is dropped; a baseline of 0
		for k := range 5 {
			add(120-9*k, "medications", v{"name": "morphine", "strength": 30, "strength_unit": "mg", "quantity": 60, "days_supply": 30, "prescriber_id": fmt.Sprint("dr-", k)})
		}
		add(12, "medications", v{"name": "morphine", "strength": 15, "strength_unit": "mg", "quantity": 60, "days_supply": 30, "end_date": "2026-01-20"})
		add(364, "pain_scores", v{"score": 0, "aspect": "average", "body_site": "jaw"})
	case 8: // replaced, and stopped; licensed, by total
		add(80, "medications", v{"name": "oxymorphone", "dose": 10, "dose_unit": "mg", "frequency": "BID"})
		add(50, "medications", v{"name": "oxymorphone", "dose": 5, "dose_unit": "mg", "frequency": "BID"})
		add(9, "medications", v{"name": "oxymorphone", "status": "stopped"})
		add(40, "medications", v{"name": "clonazepam", "dose": 1, "dose_unit": "mg", "frequency": "QHS"})
		for k := range 3 {
			add(280-90*k, "assessments", v{"instrument": "odi", "score": 52.5 - 9*float64(k)})
			add(281-90*k, "assessments", v{"instrument": "promis_pi", "score": 64.3 - 1.7*float64(k)})
		}
	case 9: // fractions of MME, and at once
		add(25, "medications", v{"name": "codeine", "strength": 30, "strength_unit": "mg", "quantity": 100, "days_supply": 33, "pharmacy_id": "ph-7"})
		add(20, "medications", v{"name": "tapentadol", "dose": 75, "dose_unit": "mg", "doses_per_day": 2.5, "days_supply": 60, "prescriber_id": "dr-ahn"})
		add(18, "medications", v{"name": "fentanyl", "strength": 25, "strength_unit": "mcg/h", "quantity": 10, "days_supply": 30, "route": "transdermal"})
	case 10: // as needed
		add(28, "medications", v{"name": "oxycodone", "dose": 5, "dose_unit": "mg", "prn": true, "max_doses_per_day": 6, "days_supply": 40})
	case 11: // begins long before it is recorded, and ends
		add(60, "medications", v{"name": "methadone", "dose": 5, "dose_unit": "mg", "frequency": "TID", "start_date": "2025-03-01", "end_date": "2025-08-31"})
	case 12:
		add(30, "medications", v{"name": "methadone", "dose": 40, "dose_unit": "mg", "frequency": "QD", "indication": "opioid use disorder", "days_supply": 60})
	case 13: // taken back by its status
		add(30, "medications", v{"name": "oxymorphone", "dose": 10, "dose_unit": "mg", "frequency": "BID", "days_supply": 90, "status": "cancelled"})
		add(29, "medications", v{"name": "oxycodone", "dose": 10, "dose_unit": "mg", "frequency": "BID", "status": "stopped"})
	case 14: // an overdose, and a screen long ago
		add(90, "adverse_events", v{"event": "overdose"})
		add(500, "labs", v{"analyte": "oxycodone", "result": "negative", "expected": "positive"})
		add(45, "medications", v{"name": "oxycodone", "strength": 20, "strength_unit": "mg", "quantity": 180, "days_supply": 60, "prescriber_id": "dr-x", "pharmacy_id": "ph-1"})
		add(44, "medications", v{"name": "lorazepam", "dose": 1, "dose_unit": "mg", "frequency": "QHS", "days_supply": 20})
	case 15: // several prescribers
		for k := range 5 {
			add(100-20*k, "medications", v{"name": "tramadol", "dose": 50, "dose_unit": "mg", "frequency": "TID", "days_supply": 20, "prescriber_id": fmt.Sprint("dr-", k), "pharmacy_id": fmt.Sprint("ph-", k%2)})
		}
	case 16: // more than are shown
		for k := range 24 {
			add(350-14*k, "procedures", v{"procedure_type": "physical_therapy", "body_site": "hip", "laterality": "left", "pre_score": 6, "post_score": 5.5, "relief_percent": 12.5})
		}
	case 17: // no pain before, some after; no number at all
		add(70, "procedures", v{"procedure_type": "nerve_block", "body_site": "knee", "level": "L3"})
		add(69, "procedures", v{"procedure_type": "trigger_point", "post_score": 2})
	}
	if n == 37 { // more than are listed
		for k := range 1100 {
			list = append(list, synth.Record{Type: "pain_scores", At: asOf.Add(-time.Duration(k) * 7 * time.Hour), Source: "patient", Value: v{"score": (k / 9) % 11, "aspect": "average", "body_site": "hand"}})
		}
	}
	return list
}

// admit stores a patient, and corrects some of what was recorded.
func (c *clinic) admit(t *testing.T, n int, made *synth.Patient) *chronicle {
	who := &chronicle{Patient: pain.Patient{ID: id.New[id.PatientKind](asOf), Name: made.Name, Gender: made.Gender, DateOfBirth: pain.DateOf(made.DateOfBirth),
		Contact: pain.Contact{Email: made.Email, Phone: made.Phone}, CreatedAt: asOf, Version: 1}}
	if n%5 == 0 && n/5 < 3*len(hostile) {
		who.Name = hostile[n/5%len(hostile)]
	}
	for _, h := range made.History {
		who.history = append(who.history, pain.HistoryEntry{Condition: h.Name, ICD10Code: h.ICD10, Status: h.Status, Category: h.Category, OnsetDate: h.Onset})
	}
	if n%19 == 0 {
		who.history = append(who.history, pain.HistoryEntry{Condition: "Chronic kidney disease", ICD10Code: "N18.4"}, pain.HistoryEntry{Condition: "Cancer of a relative", ICD10Code: "C50.911", Status: "active", Category: "family"})
	}
	who.MedicalHistory = pain.NewHistory(who.history...)
	ctx := context.Background()
	if _, err := c.org.CreatePatient(ctx, &who.Patient, storetest.Created(who.Patient), nil, idempotency.Outcome{}); err != nil {
		t.Error(err)
		return who
	}
	var records []pain.Record
	for _, r := range made.Records {
		body, err := json.Marshal(map[string]any{"data_type": r.Type, "recorded_at": r.At.Format(time.RFC3339), "source": r.Source, "value": r.Value})
		if err != nil {
			t.Error(err)
			return who
		}
		rec := storetest.RecordAt(t, asOf, who.ID, string(body))
		records = append(records, rec)
		who.facts = append(who.facts, fact{rec.ID, r.Type, rec.RecordedAt.UTC(), r.Value})
	}
	for batch := range slices.Chunk(records, 1000) {
		if err := storetest.AddRecordsAt(ctx, c.org, asOf, who.ID, batch...); err != nil {
			t.Errorf("patient %d: %v", n, err)
			return who
		}
	}
	if err := c.mend(n, who); err != nil {
		t.Errorf("patient %d: %v", n, err)
	}
	slices.SortStableFunc(who.facts, func(a, b fact) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.id.String(), b.id.String())) })
	return who
}

// mend corrects and takes back records of some patients.
func (c *clinic) mend(n int, who *chronicle) error {
	correct := func(i int, body map[string]any) (pain.Correction, error) {
		text, err := json.Marshal(body)
		if err != nil {
			return pain.Correction{}, err
		}
		return storetest.CorrectAt(context.Background(), c.org, asOf, who.ID, who.facts[i].id, string(text))
	}
	for i, seen := 0, 0; i < len(who.facts); i, seen = i+1, seen+1 {
		f := &who.facts[i]
		value := map[string]any{}
		for k, v := range f.value {
			value[k] = v
		}
		switch pick := (n*31 + seen) % 47; {
		case pick == 0 && f.kind == "pain_scores" && f.value["scale"] == "nrs": // another score, an hour earlier
			value["score"] = (n + i) % 11
			at := f.at.Add(-time.Hour)
			done, err := correct(i, map[string]any{"value": value, "recorded_at": at.Format(time.RFC3339), "reason": "misread"})
			if err != nil {
				return err
			}
			*f = fact{done.New.ID, f.kind, at, value}
		case pick == 1 && f.kind == "medications" && f.value["dose"] != nil:
			value["dose"] = 12.5
			done, err := correct(i, map[string]any{"value": value})
			if err != nil {
				return err
			}
			f.id, f.value = done.New.ID, value
		case pick == 2 && len(who.facts) > 3:
			if _, err := correct(i, map[string]any{"entered_in_error": true, "reason": "another patient"}); err != nil {
				return err
			}
			who.facts = slices.Delete(who.facts, i, i+1)
			i--
		}
	}
	return nil
}

// request is one report of the clinic.
type request struct {
	name       string
	kind       reporttype.Type
	parameters string
}

// requests are all types with parameters that matter.
func (c *clinic) requests() []request {
	list := []request{
		{"outcomes", reporttype.Outcomes, `{}`},
		{"outcomes of some", reporttype.Outcomes, `{"min_cell_size":11,"interval":"week","follow_up":30}`},
		{"outcomes filtered", reporttype.Outcomes, `{"follow_up":180,"gender":"female","age_min":30,"age_max":70,"medication_class":"opioid","interval":"month","min_cell_size":5}`},
		{"outcomes of nobody", reporttype.Outcomes, `{"condition":"Z99","interval":"day","start_date":"2026-01-01"}`},
		{"outcomes adjusted", reporttype.Outcomes, `{"follow_up":30,"adjust":"case_mix","gender":"female","compare_start_date":"2024-01-01","min_cell_size":2}`},
		{"outcomes compared", reporttype.Outcomes, `{"follow_up":30,"adjust":"case_mix","start_date":"2025-09-01","compare_end_date":"2025-08-31"}`},
		{"population compared", reporttype.Population, `{"start_date":"2025-09-01","compare_start_date":"2025-03-01","standard":"age"}`},
		{"population standardised", reporttype.Population, `{"condition":"M54","standard":"female:1,male:2","compare_end_date":"2024-12-31","min_cell_size":3}`},
		{"population", reporttype.Population, `{}`},
		{"population hidden", reporttype.Population, `{"min_cell_size":11}`},
		{"population filtered", reporttype.Population, `{"condition":"M54","age_min":40,"min_cell_size":3,"start_date":"2025-06-01"}`},
		{"population of nobody", reporttype.Population, `{"condition":"Z99"}`},
		{"stewardship", reporttype.Stewardship, `{}`},
		{"stewardship filtered", reporttype.Stewardship, `{"gender":"male","start_date":"2025-07-01","end_date":"2025-11-30"}`},
	}
	for n := range c.patients {
		if n < 20 || n == 37 {
			list = append(list, c.about(n, ""))
		}
	}
	if len(c.patients) > 0 {
		list = append(list, c.about(14, `,"start_date":"2025-09-01","end_date":"2025-12-15"`))
	}
	return list
}

// about is the report about a patient.
func (c *clinic) about(n int, more string) request {
	return request{fmt.Sprint("patient ", n, " ", strings.Trim(more, ",")), reporttype.PatientSummary, `{"patient_id":"` + c.patients[n].ID.String() + `"` + more + `}`}
}

// made is the data of a report.
func (c *clinic) made(t *testing.T, r request) contents {
	t.Helper()
	body, err := strictjson.Parse([]byte(`{"type":"` + string(r.kind) + `","parameters":` + r.parameters + `}`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := ReadRequest(body, asOf)
	if err != nil {
		t.Fatal(err)
	}
	d, err := read(t.Context(), c.cohorts, c.org, &q, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// checkAgain reads the data of a report again: it results in the same bytes.
func (c *clinic) checkAgain(t *testing.T, r request, d contents) {
	t.Helper()
	again := c.made(t, r)
	for _, format := range reports.ReportFormats {
		if !bytes.Equal(c.file(t, d, format), file(t, again, format)) {
			t.Errorf("as %s it has other bytes the second time", format)
		}
	}
}

// file is a report in a format, written once for all who look at it.
func (c *clinic) file(t *testing.T, d contents, format reports.ReportFormat) []byte {
	t.Helper()
	if c.written != d {
		c.written, c.files = d, map[reports.ReportFormat][]byte{}
	}
	if c.files[format] == nil {
		c.files[format] = file(t, d, format)
	}
	return c.files[format]
}

// file is a report in a format.
func file(t *testing.T, d contents, format reports.ReportFormat) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeTo(&b, d, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkMeasures compares the measures of the list of patients with those of
// the population: they include no patient outside the list.
func (c *clinic) checkMeasures(t *testing.T) {
	for _, parameters := range []string{`{}`, `{"gender":"male","start_date":"2025-07-01","end_date":"2025-11-30"}`} {
		listed := c.made(t, request{kind: reporttype.Stewardship, parameters: parameters}).(*Stewardship).Measures
		all := analytics.OpioidMeasures(c.made(t, request{kind: reporttype.Population, parameters: parameters}).(*Population).Result.Measures)
		a, errA := json.Marshal(listed)
		b, errB := json.Marshal(all)
		if errA != nil || errB != nil || string(a) != string(b) || len(listed) != len(analytics.AlignedMeasures())-2 {
			t.Errorf("%s: the list has\n%s\nthe population\n%s", parameters, a, b)
		}
	}
}
