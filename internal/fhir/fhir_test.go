package fhir

import (
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

var testNow = time.Date(2026, 5, 4, 10, 30, 0, 0, time.UTC)

func parse(t testing.TB, body string) *strictjson.Object {
	t.Helper()
	o, err := strictjson.Parse([]byte(body))
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return o
}

// newRecord makes a record as POST does.
func newRecord(t testing.TB, body string) pain.Record {
	t.Helper()
	records, _, err := pain.NewRecords(parse(t, body), testIntake())
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return records[0]
}

// fataler is a testing.T or a rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sameRecord compares records. New medications hold pointers, so == cannot.
func sameRecord(a, b *pain.Record) bool {
	return string(pain.AppendRecord(nil, a)) == string(pain.AppendRecord(nil, b)) && a.Aliases == b.Aliases
}

// outAndIn maps a record out and reads it back as a record of the same
// patient. It also returns the resources.
func outAndIn(t fataler, rec *pain.Record) (again pain.Record, shown string) {
	t.Helper()
	var m Mapping
	resources, err := m.Record(rec, Version{Root: rec.ID, Number: 1, LastUpdated: testNow})
	if err != nil {
		t.Fatalf("%v", err)
	}
	drafts := make([]*Draft, len(resources))
	for i, r := range resources {
		shown += string(r.JSON) + "\n"
		d, issues := m.Read(r.JSON)
		if len(issues) > 0 {
			t.Fatalf("%v in %s", issues, r.JSON)
		}
		drafts[i] = d
	}
	whole, issues := Join(drafts)
	if len(issues) > 0 {
		t.Fatalf("%v in %s", issues, shown)
	}
	o, err := strictjson.Parse(whole.Record)
	if err != nil {
		t.Fatalf("%v in %s", err, whole.Record)
	}
	records, _, err := pain.NewRecords(o, testIntake())
	if err != nil {
		t.Fatalf("%v in %s from %s", err, whole.Record, shown)
	}
	again = records[0]
	again.ID, again.PatientID, again.CreatedAt = rec.ID, rec.PatientID, rec.CreatedAt
	return again, shown
}

func TestRecords(t *testing.T) {
	for _, body := range []string{
		`{"data_type":"pain_scores","recorded_at":"2024-05-01T10:30:00.5+02:00","value":{"score":7,"aspect":"worst","recall":"24h","body_site":"knee","laterality":"left",
			"quality":["aching","burning"],"breakthrough":{"peak":9,"trigger":"incident"},"context":"rest"},"notes":"a\nb","source":"patient","author":"Dr. A","encounter_id":"E 1"}`,
		`{"data_type":"pain_scores","value":{"scale":"vas","score":35}, "notes":"  "}`,
	} {
		rec := newRecord(t, body)
		if again, _ := outAndIn(t, &rec); !sameRecord(&again, &rec) {
			t.Errorf("sent %+v\nback %+v", rec, again)
		}
	}
}

func TestPatient(t *testing.T) {
	for _, body := range []string{
		`{"name":"Ana María  López","date_of_birth":"1961-03-14","gender":"F","contact":{"email":"a@b","phone":"1"},"identifiers":[{"system":"mrn","value":"7"},{"system":"urn:x","value":"8"}]}`,
		`{"name":"Prince","date_of_birth":"1961-03-14"}`,
		`{"name":"A","date_of_birth":"1961-03-14","gender":"unknown","contact":{"phone":" "}}`,
	} {
		p, err := pain.NewPatient(parse(t, body), id.New[id.PatientKind](testNow), testNow)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Mapping{}.Patient(&p)
		if err != nil {
			t.Fatal(err)
		}
		d, issues := Mapping{}.Read(r.JSON)
		if len(issues) > 0 {
			t.Fatal(issues)
		}
		again, err := pain.NewPatient(parse(t, string(d.Patient)), p.ID, testNow)
		if err != nil || again != p {
			t.Errorf("sent %+v\nback %+v, %v\nby %s", p, again, err, r.JSON)
		}
	}
}

func TestConditions(t *testing.T) {
	for _, entry := range []string{
		`{"condition":"Low back pain"}`,
		`{"condition":"Low back pain","icd10_code":"M54.50","snomed_code":"279039007","onset_date":"2015","resolved_date":"2016-02","status":"remission","severity":"bad","category":"pain","notes":"a\nb"}`,
		`{"condition":"Alcoholism","category":"family","onset_date":"1980-01"}`,
		`{"condition":"X","snomed_code":"a  b ","severity":" ","notes":"\n"}`,
	} {
		p, err := pain.NewPatient(parse(t, `{"name":"A","date_of_birth":"1961-03-14","medical_history":[`+entry+`,"other",`+entry+`]}`), testPatient, testNow)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Mapping{}.Conditions(&p)
		if err != nil || len(list) != 3 || list[0].ID+"-2" != list[2].ID || list[1].ID == list[0].ID {
			t.Fatalf("%v, %v", list, err)
		}
		d, issues := Mapping{}.Read(list[0].JSON)
		if len(issues) > 0 {
			t.Fatalf("%v in %s", issues, list[0].JSON)
		}
		again, err := pain.NewPatient(parse(t, `{"name":"A","date_of_birth":"1961-03-14","medical_history":[`+string(d.History)+`,"other",`+string(d.History)+`]}`), testPatient, testNow)
		if err != nil || again.MedicalHistory != p.MedicalHistory {
			t.Errorf("sent %s\nback %s, %v\nby %s", p.MedicalHistory.JSON(), again.MedicalHistory.JSON(), err, list[0].JSON)
		}
		if strings.Contains(entry, "family") && (strings.Contains(string(list[0].JSON), "problem-list-item") || !strings.Contains(string(list[0].JSON), "modifierExtension")) {
			t.Errorf("a relative's condition is a problem of the patient: %s", list[0].JSON)
		}
	}
}

// The gender as written and the administrative gender must agree.
func TestGenderExtension(t *testing.T) {
	const gender = "https://anodyne.example/fhir/StructureDefinition/patient-gender"
	for _, c := range []struct {
		gender string
		agrees bool
	}{{`"gender":"other",`, true}, {"", true}, {`"gender":"female",`, false}, {`"gender":"unknown",`, false}} {
		d, issues := Mapping{}.Read([]byte(`{"resourceType":"Patient","extension":[{"url":"` + gender + `","valueString":"nonbinary"}],` + c.gender + `"name":[{"text":"Ann Lee"}],"birthDate":"1961-03-14"}`))
		if c.agrees != (d != nil) || d == nil && (len(issues) != 1 || issues[0].Expression != "Patient.gender") {
			t.Errorf("%s: %v", c.gender, issues)
		}
	}
}
