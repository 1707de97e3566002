package fhir

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/fhir/fhirtest"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
	"anodyne.example/anodyne/internal/synth"
	"anodyne.example/anodyne/internal/testneed"
)

// chart is a synthetic patient as stored.
type chart struct {
	patient pain.Patient
	records []pain.Record
}

func syntheticChart(t testing.TB, n int) chart {
	t.Helper()
	p := synth.Generator{Seed: 3, Until: testNow}.Patient(n)
	body := map[string]any{
		"name": p.Name, "date_of_birth": p.DateOfBirth.Format(time.DateOnly), "gender": p.Gender,
		"contact":     map[string]any{"email": p.Email, "phone": p.Phone},
		"identifiers": []any{map[string]any{"system": "mrn", "value": p.Name}},
	}
	var history []any
	for _, c := range p.History {
		history = append(history, map[string]any{"condition": c.Name, "icd10_code": c.ICD10, "status": c.Status, "category": c.Category, "onset_date": c.Onset})
	}
	history = append(history, map[string]any{"condition": "Alcoholism", "category": "family", "severity": "x", "notes": " "})
	body["medical_history"] = history
	patient, err := pain.NewPatient(asObjectOf(t, body), id.New[id.PatientKind](testNow), testNow)
	if err != nil {
		t.Fatal(err)
	}
	c := chart{patient: patient}
	for _, r := range p.Records {
		records, _, err := pain.NewRecords(asObjectOf(t, map[string]any{"data_type": r.Type, "recorded_at": r.At.Format(time.RFC3339), "source": r.Source, "value": r.Value}), pain.Intake{
			PatientID: patient.ID, NewID: func() id.Record { return id.New[id.RecordKind](testNow) }, Now: testNow,
		})
		if err != nil {
			t.Fatal(err)
		}
		c.records = append(c.records, records...)
	}
	return c
}

func asObjectOf(t testing.TB, body any) *strictjson.Object {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(text))
}

// resources maps a chart out.
func (c *chart) resources(t testing.TB) []Resource {
	t.Helper()
	var m Mapping
	patient, err := m.Patient(&c.patient)
	if err != nil {
		t.Fatal(err)
	}
	list, err := m.Conditions(&c.patient)
	if err != nil {
		t.Fatal(err)
	}
	list = append(list, patient)
	for i := range c.records {
		more, err := m.Record(&c.records[i], Version{Root: c.records[i].ID, Number: 1, LastUpdated: testNow})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, more...)
	}
	return list
}

// What synthetic patients and random records become is read again without
// issues, and is valid by another validator.
func TestValidResources(t *testing.T) {
	testneed.Long(t, "the FHIR validator")
	var bodies [][]byte
	take := func(list []Resource) {
		for _, r := range list {
			bodies = append(bodies, r.JSON)
			if _, issues := (Mapping{}).Read(r.JSON); len(issues) > 0 {
				t.Fatalf("%v in %s", issues, r.JSON)
			}
		}
	}
	for n := range 4 {
		c := syntheticChart(t, n)
		take(c.resources(t))
	}
	for _, info := range pain.DataTypes() {
		drawn := rapid.Custom(func(t *rapid.T) *pain.Record {
			rec, ok := drawRecord(t, info.Type, "")
			if !ok {
				return nil
			}
			return &rec
		})
		for seed := range 40 {
			if rec := drawn.Example(seed); rec != nil {
				list, err := Mapping{}.Record(rec, Version{Root: rec.ID, Number: 1, LastUpdated: testNow})
				if err != nil {
					t.Fatal(err)
				}
				take(list)
			}
		}
	}
	take(clinicalResources(t))
	for _, r := range (Mapping{}).Questionnaires() {
		bodies = append(bodies, r.JSON)
	}
	for _, system := range (Mapping{}).CodeSystems() {
		r, err := system.Resource()
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, r.JSON)
	}
	fhirtest.Judge(t, bodies...)
}
