package fhirwrite_test

import (
	"fmt"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fhirwrite"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A conditional update whose body lacks the identifier finds the same resource
// every time.
func TestConditionalUpdateAddsIdentifier(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "General Hospital")
	o := s.For(&who)
	bare := `{"resourceType":"Patient","name":[{"text":"Ada Nowak"}],"birthDate":"1984-05-17"}`
	answers := `{"resourceType":"QuestionnaireResponse","status":"completed","subject":{"reference":"` + adaByMRN + `"},"authored":"2026-01-15T10:30:00Z",` +
		`"questionnaire":"https://anodyne.example/fhir/Questionnaire/phq-2","item":[{"linkId":"1","answer":[{"valueInteger":1}]},{"linkId":"2","answer":[{"valueInteger":2}]}]}`
	mrn, lab := pain.Identifier{System: "https://example.org/mrn", Value: "1001"}, pain.Identifier{System: "https://lab.example/id", Value: "A1"}
	for _, one := range []struct {
		name, body string
		sought     pain.Identifier
	}{{"Patient", bare, mrn}, {"Observation", fmt.Sprintf(score, adaByMRN, 7), lab}, {"QuestionnaireResponse", answers, lab}} {
		item := fhirwrite.Item{Body: []byte(one.body), Update: true, Sought: one.sought}
		first := write(t, o, item).Result(0)
		if !strings.Contains(string(first.Resource()), one.sought.Value) {
			t.Errorf("%s: no identifier in %s", one.name, first.Resource())
		}
		for range 2 {
			if again := write(t, o, item).Result(0); again.ID != first.ID || again.Status != 200 || again.Version != 1 {
				t.Errorf("%s: first %s, then %+v", one.name, first.ID, again)
			}
		}
	}
}

// A conditional create is about the patient of the record that it finds,
// whatever its own subject.
func TestPatientOfFoundRecord(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "General Hospital")
	o := s.For(&who)
	people := write(t, o, fhirwrite.Item{Body: []byte(ada)}, fhirwrite.Item{Body: []byte(strings.Replace(ada, "1001", "1002", 1))})
	lab := pain.Identifier{System: "https://lab.example/id", Value: "A1"}
	body := func(patient int) []byte {
		return []byte(strings.Replace(fmt.Sprintf(score, "Patient/"+people.Result(patient).ID, 7), `"status"`, `"identifier":[{"system":"https://lab.example/id","value":"A1"}],"status"`, 1))
	}
	write(t, o, fhirwrite.Item{Body: body(0)})
	if found := write(t, o, fhirwrite.Item{Body: body(1), Sought: lab}); found.Patient(0) != people.Patient(0) || found.Result(0).Status != 200 {
		t.Errorf("found one of %s, want %s", found.Patient(0), people.Patient(0))
	}
}

// The audit line of an update names kept elements beside fields.
func TestAuditOfKeptElements(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "General Hospital")
	o := s.For(&who)
	first := write(t, o, fhirwrite.Item{Body: []byte(ada)})
	changed := strings.NewReplacer("1984-05-17", "1984-05-18", "married", "widowed").Replace(ada)
	if again := write(t, o, fhirwrite.Item{Body: []byte(changed), Update: true, ID: first.Result(0).ID}); again.Result(0).Version != 2 {
		t.Errorf("version %d", again.Result(0).Version)
	}
	storetest.Ship(t, s)
	lines, _, err := o.Audit(t.Context(), journal.AuditCursor{}, 10, journal.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	last := string(lines[len(lines)-1])
	for _, want := range []string{string(audit.PatientUpdate), `"date_of_birth"`, `"fhir"`, "widowed"} {
		if !strings.Contains(last, want) {
			t.Errorf("no %s in %s", want, last)
		}
	}
}
