package importer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/importer"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/strictjson"
	"anodyne.example/anodyne/internal/synth"
	"anodyne.example/anodyne/internal/testneed"
)

// allTypes has a record of each data type, with fields that FHIR has no place
// for.
var allTypes = []string{
	`{"data_type":"pain_scores","recorded_at":"2025-02-01T08:00:00Z","source":"patient","notes":"after sleep","value":{"score":6,"aspect":"worst","quality":["burning"]}}`,
	`{"data_type":"pain_scores","recorded_at":"2025-02-01T09:00:00Z","value":{"scale":"vas","score":61}}`,
	`{"data_type":"medications","recorded_at":"2025-02-01","author":"Dr. Bo","encounter_id":"E 1","value":{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}}`,
	`{"data_type":"assessments","recorded_at":"2025-02-02","value":{"instrument":"phq_9","items":{"1":1,"2":2,"3":3,"4":0,"5":1,"6":2,"7":3,"8":0,"9":1}}}`,
	`{"data_type":"assessments","recorded_at":"2025-02-02","value":{"instrument":"peg","items":{"1":4,"2":5,"3":6}}}`,
	`{"data_type":"procedures","recorded_at":"2025-02-03","value":{"procedure_type":"epidural_steroid"}}`,
	`{"data_type":"functional_status","recorded_at":"2025-02-04","value":{"measure":"six_minute_walk","value":410,"unit":"m"}}`,
	`{"data_type":"sleep","recorded_at":"2025-02-05","value":{"hours":6.5,"quality":4}}`,
	`{"data_type":"mood","recorded_at":"2025-02-06","value":{"score":5}}`,
	`{"data_type":"activity","recorded_at":"2025-02-07","value":{"steps":4200}}`,
	`{"data_type":"adverse_events","recorded_at":"2025-02-08","value":{"event":"constipation"}}`,
	`{"data_type":"vitals","recorded_at":"2025-02-09","value":{"systolic":128,"diastolic":82,"heart_rate":71,"respiratory_rate":14,"spo2":97,"temperature_c":36.8,"weight_kg":81.5,"height_cm":178}}`,
	`{"data_type":"labs","recorded_at":"2025-02-10","value":{"analyte":"creatinine","value":0.9,"unit":"mg/dL"}}`,
	`{"data_type":"notes","recorded_at":"2025-02-11","value":{"text":"Feels better.\nSleeps well."}}`,
}

// fill stores patients with records of all types, some of them corrected.
func fill(t *testing.T, o store.Org, count int) {
	t.Helper()
	now := time.Now()
	for n := range count {
		made := synth.Generator{Seed: 5, Until: now.AddDate(0, -1, 0)}.Patient(n)
		r := rand.New(rand.NewPCG(7, uint64(n)))
		body := map[string]any{"name": made.Name, "date_of_birth": made.DateOfBirth.Format(time.DateOnly), "gender": made.Gender, "contact": map[string]any{"email": made.Email, "phone": made.Phone}}
		if n%3 > 0 {
			body["identifiers"] = []any{map[string]any{"system": "mrn", "value": fmt.Sprint(n)}}
		}
		var history []any
		for _, c := range made.History {
			history = append(history, map[string]any{"condition": c.Name, "icd10_code": c.ICD10, "status": c.Status, "onset_date": c.Onset})
		}
		body["medical_history"] = history
		p, err := pain.NewPatient(object(t, body), id.New[id.PatientKind](now), now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		var records []pain.Record
		for _, rec := range made.Records {
			text, err := json.Marshal(map[string]any{"data_type": rec.Type, "recorded_at": rec.At.Format(time.RFC3339), "source": rec.Source, "value": rec.Value})
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, storetest.Record(t, p.ID, string(text)))
		}
		for _, text := range allTypes {
			records = append(records, storetest.Record(t, p.ID, text))
		}
		if t.Failed() {
			t.FailNow()
		}
		if err := storetest.AddRecords(t.Context(), o, p.ID, records...); err != nil {
			t.Fatal(err)
		}
		for _, rec := range records {
			correction := ""
			switch {
			case r.IntN(20) == 0:
				correction = `{"entered_in_error":true,"reason":"wrong patient"}`
			case rec.Type == pain.TypePainScores && r.IntN(6) == 0:
				correction = `{"value":{"score":3},"notes":"corrected"}`
			default:
				continue
			}
			if _, err := storetest.Correct(t.Context(), o, p.ID, rec.ID, correction); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func object(t *testing.T, body any) *strictjson.Object {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	o, err := strictjson.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// everyType selects all records.
func everyType() (q patients.FHIRQuery) {
	for _, t := range pain.DataTypes() {
		q.Types = append(q.Types, t.Type)
	}
	return q
}

// resources returns the resources of an organisation, by type, one per line.
func resources(t *testing.T, o store.Org) map[string][]string {
	t.Helper()
	var m fhir.Mapping
	files := map[string][]string{}
	add := func(list []fhir.Resource, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			files[r.Type] = append(files[r.Type], string(r.JSON))
		}
	}
	if _, err := o.FHIRCharts(t.Context(), 1, 1_000_000, everyType(), func(c *patients.FHIRChart) error {
		p, err := m.StoredPatient(&c.Patient.Patient, c.Patient.UpdatedAt, c.Patient.Kept)
		add([]fhir.Resource{p}, err)
		add(m.StoredConditions(&c.Patient.Patient, c.Patient.UpdatedAt, c.Patient.Kept))
		for i := range c.Records {
			rec := &c.Records[i]
			add(m.StoredRecord(&rec.Record, fhir.Version{Root: rec.Root, Number: int(rec.Number), LastUpdated: rec.UpdatedAt}, rec.Kept))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

// serverSet are the fields that the service sets.
var serverSet = regexp.MustCompile(`"(id|patient_id|corrects|created_at|updated_at)":"[^"]*",?|"version":[0-9]+,?`)

// answers returns what /v1 answers about an organisation, but for ids and times
// of the server.
func answers(t *testing.T, o store.Org) (list []string) {
	t.Helper()
	if _, err := o.FHIRCharts(t.Context(), 1, 1_000_000, everyType(), func(c *patients.FHIRChart) error {
		person := serverSet.ReplaceAllString(string(pain.AppendDetail(nil, &c.Patient.Patient)), "")
		var records []string
		for i := range c.Records {
			records = append(records, person+serverSet.ReplaceAllString(string(pain.AppendRecord(nil, &c.Records[i].Record)), ""))
		}
		slices.Sort(records) // records of one time are ordered by id
		list = append(append(list, person), records...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// derived returns what summaries, analytics and worklists are computed from.
func derived(t *testing.T, s *store.Store, org any) []string {
	t.Helper()
	return slices.Concat(
		storetest.Texts(t, s, 3, `SELECT patient_no, year, bytes FROM patient_series WHERE org_no = $1 ORDER BY patient_no, year`, org),
		storetest.Texts(t, s, 4, `SELECT patient_no, level, overlap, next_day FROM alert_state WHERE org_no = $1 AND (level > 0 OR overlap > 0 OR next_day IS NOT NULL) ORDER BY patient_no`, org))
}

// Patients with records of all types and corrections become resources, which
// become the same patients in another organisation, and the same resources.
func TestRoundTrip(t *testing.T) {
	testneed.Long(t, "hundreds of patients")
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		count := 300
		if s.Engine() != storetest.SQLite {
			count = 30
		}
		ours, theirs := storetest.Client(t, s, "Ours"), storetest.Client(t, s, "Theirs")
		from, to := s.For(&ours), s.For(&theirs)
		fill(t, from, count)
		p := &place{t, s, to, t.TempDir()}
		var files []string
		total := 0
		for _, kind := range []string{"Observation", "Procedure", "QuestionnaireResponse", "MedicationRequest", "AdverseEvent", "DocumentReference", "Condition", "Patient"} {
			lines := resources(t, from)[kind]
			if len(lines) == 0 {
				t.Errorf("there is no %s", kind)
			}
			total += len(lines)
			files = append(files, p.file(kind+".ndjson", lines...))
		}
		done := p.run(fmt.Sprint(total, 0, 0), nil, files...)
		t.Logf("%d resources in %v", total, done[0].Elapsed)
		want, got := answers(t, from), answers(t, to)
		if len(want) != len(got) {
			t.Errorf("%d answers, want %d", len(got), len(want))
		}
		for i := range min(len(want), len(got)) {
			if want[i] != got[i] {
				t.Fatalf("an answer is\n%s, want\n%s", got[i], want[i])
			}
		}
		if a, b := derived(t, s, int64(ours.Org)), derived(t, s, int64(theirs.Org)); !slices.Equal(a, b) {
			t.Errorf("what is derived differs: %d rows, want %d", len(b), len(a))
		}
		storetest.Clean(t, s)
		p.run(fmt.Sprint(0, total, 0), func(cfg *importer.Config) { slices.Reverse(cfg.Files) }, files...)
	})
}
