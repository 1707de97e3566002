package fhirwrite_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhirwrite"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func TestMain(m *testing.M) { testwait.Main(m) }

func writer(o store.Org) *fhirwrite.Writer {
	now := time.Now()
	return &fhirwrite.Writer{Org: o, Now: now, Line: func(action audit.Action, resource string) audit.Entry {
		return audit.Entry{At: now, Actor: "test", Action: action, Resource: resource}
	}}
}

// write plans and writes items, which must have no problems.
func write(t *testing.T, o store.Org, items ...fhirwrite.Item) *fhirwrite.Plan {
	t.Helper()
	plan := plan(t, o, items...)
	for _, p := range plan.Problems {
		t.Fatalf("item %d: %+v %v", p.Item, p.Issues, p.Err)
	}
	if _, err := o.WriteAll(t.Context(), plan.Writes, time.Now(), nil, nil); err != nil {
		t.Fatal(err)
	}
	return plan
}

func plan(t *testing.T, o store.Org, items ...fhirwrite.Item) *fhirwrite.Plan {
	t.Helper()
	plan, err := writer(o).Plan(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

const (
	ada       = `{"resourceType":"Patient","identifier":[{"system":"https://example.org/mrn","value":"1001"}],"name":[{"family":"Nowak","given":["Ada"]}],"birthDate":"1984-05-17","maritalStatus":{"text":"married"},"generalPractitioner":[{"reference":"urn:uuid:3"}]}`
	score     = `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"72514-3"}]},"subject":{"reference":%q},"effectiveDateTime":"2026-01-15T10:30:00Z","valueQuantity":{"value":%d,"unit":"{score}"}}`
	backPain  = `{"resourceType":"Condition","code":{"text":"Low back pain","coding":[{"system":"http://hl7.org/fhir/sid/icd-10-cm","code":"M54.50"}]},"subject":{"reference":%q},"onsetDateTime":"2020"}`
	adaByMRN  = "Patient?identifier=https://example.org/mrn|1001"
	adaIsHere = "urn:uuid:1"
)

func recordsOf(t *testing.T, o store.Org, p *fhirwrite.Plan) (list []pain.Record) {
	t.Helper()
	if _, err := o.Records(t.Context(), p.Patient(0), patients.RecordQuery{Page: 1, Limit: 100, Inactive: true}, func(rec *pain.Record) { list = append(list, *rec) }); err != nil {
		t.Fatal(err)
	}
	return list
}

// A patient, his conditions and records are created together, found by their
// references, and updated.
func TestWrite(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "General Hospital")
		o := s.For(&who)
		made := write(t, o,
			fhirwrite.Item{Body: fmt.Appendf(nil, score, adaIsHere, 7)}, // before the patient
			fhirwrite.Item{Body: []byte(ada), FullURL: adaIsHere},
			fhirwrite.Item{Body: fmt.Appendf(nil, backPain, adaIsHere), FullURL: "urn:uuid:2"},
			fhirwrite.Item{Body: fmt.Appendf(nil, score, adaIsHere, 4), FullURL: "urn:uuid:3"})
		p, err := o.Patient(t.Context(), made.Patient(0))
		if err != nil || p.Name != "Ada Nowak" || p.MedicalHistory.JSON() != `[{"condition":"Low back pain","icd10_code":"M54.50","onset_date":"2020"}]` || p.Version != 1 {
			t.Fatalf("%+v, %v", p, err)
		}
		if list := recordsOf(t, o, made); len(list) != 2 {
			t.Errorf("%d records", len(list))
		}
		for i, want := range []string{"Observation", "Patient", "Condition", "Observation"} {
			r := made.Result(i)
			if r.Type != want || r.Status != 201 || r.Version != 1 || r.ID == "" || !strings.Contains(string(r.Resource()), `"id":"`+r.ID+`"`) {
				t.Errorf("item %d became %+v", i, r)
			}
		}
		// By identifier and by id; the second score becomes a correction.
		observation := made.Result(3).ID
		again := write(t, o,
			fhirwrite.Item{Body: fmt.Appendf(nil, score, adaByMRN, 5), Update: true, ID: observation},
			fhirwrite.Item{Body: []byte(strings.Replace(ada, "Ada", "Adele", 1)), Update: true, ID: made.Result(1).ID},
			fhirwrite.Item{Body: []byte(strings.Replace(fmt.Sprintf(backPain, "Patient/"+made.Result(1).ID), "2020", "2021", 1)), Update: true, ID: made.Result(2).ID})
		list := recordsOf(t, o, made)
		if r := again.Result(0); len(list) != 3 || r.Version != 2 || r.ID != observation || r.Status != 200 {
			t.Errorf("%d records, %+v", len(list), r)
		}
		// The same update again changes nothing.
		if r := write(t, o, fhirwrite.Item{Body: fmt.Appendf(nil, score, adaByMRN, 5), Update: true, ID: observation}).Result(0); r.Version != 2 || len(recordsOf(t, o, made)) != 3 {
			t.Errorf("again: %+v", r)
		}
		p, err = o.Patient(t.Context(), made.Patient(0))
		if err != nil || p.Name != "Adele Nowak" || !strings.Contains(p.MedicalHistory.JSON(), `"2021"`) || strings.Contains(p.MedicalHistory.JSON(), `"2020"`) || p.Version != 2 {
			t.Errorf("%+v, %v", p, err)
		}
		// A conditional create of a patient that exists does nothing.
		mrn := pain.Identifier{System: "https://example.org/mrn", Value: "1001"}
		if same := write(t, o, fhirwrite.Item{Body: []byte(ada), Sought: mrn}); same.Patient(0) != made.Patient(0) || same.Result(0).Status != 200 || same.Result(0).Version != 2 || len(same.Writes) != 0 {
			t.Errorf("%+v", same.Result(0))
		}
		// A conditional update changes it, or creates it.
		if same := write(t, o, fhirwrite.Item{Body: []byte(ada), Sought: mrn, Update: true}); same.Patient(0) != made.Patient(0) || same.Result(0).Version != 3 {
			t.Errorf("%+v", same.Result(0))
		}
		mrn.Value = "1002"
		if other := write(t, o, fhirwrite.Item{Body: []byte(strings.Replace(ada, "1001", "1002", 1)), Sought: mrn, Update: true}); other.Patient(0) == made.Patient(0) || other.Result(0).Status != 201 {
			t.Errorf("%+v", other.Result(0))
		}
		storetest.Clean(t, s)
	})
}

// A stopped medicine keeps the day on which its stop was recorded, whenever it is
// sent to another organisation; one from another system has the day of the write.
func TestStopIsRecordedOnce(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "General Hospital")
	o := s.For(&who)
	const stopped = `{"resourceType":"MedicationRequest","status":"stopped","intent":"order","subject":{"reference":"urn:uuid:1"},"authoredOn":"2025-01-15","medicationCodeableConcept":{"text":"morphine 15 mg tablet"},
		"dispenseRequest":{"quantity":{"value":60},"expectedSupplyDuration":{"value":30,"unit":"d"}}%s}`
	derived := func(inner string) string {
		return `,"extension":[{"url":"https://anodyne.example/fhir/StructureDefinition/medications-derived","extension":[{"url":"drug_class","valueCode":"opioid"}` + inner + `]}]`
	}
	on := func(day string) string { return derived(`,{"url":"stop_recorded_on","valueDate":"` + day + `"}`) }
	const today = "today"
	for _, c := range []struct{ name, more, want string }{
		{"of another system", "", today},
		{"recorded earlier", on("2025-02-03"), "2025-02-03"},
		{"recorded on its own day", derived(""), ""},
		{"before the record", on("2025-01-15"), today},
		{"in the future", on("2999-01-01"), today},
		{"only a month", on("2025-02"), today},
	} {
		before := pain.DateOf(time.Now())
		made := write(t, o, fhirwrite.Item{Body: []byte(strings.Replace(ada, "1001", c.name, 1)), FullURL: adaIsHere}, fhirwrite.Item{Body: fmt.Appendf(nil, stopped, c.more)})
		m, err := pain.ReadMedication(recordsOf(t, o, made)[0].Value)
		got := ""
		switch m.Derived.StopRecordedOn {
		case pain.Date{}:
		case before, pain.DateOf(time.Now()): // midnight may have passed
			got = today
		default:
			got = m.Derived.StopRecordedOn.String()
		}
		if err != nil || got != c.want {
			t.Errorf("%s: the stop was recorded on %q, want %q; %v", c.name, got, c.want, err)
		}
	}
	storetest.Clean(t, s)
}

// Each problem names its item and the element, and the other items can be
// written.
func TestProblems(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	who, other := storetest.Client(t, s, "General Hospital"), storetest.Client(t, s, "Other Clinic")
	foreign := write(t, s.For(&other), fhirwrite.Item{Body: []byte(ada)})
	made := plan(t, s.For(&who),
		fhirwrite.Item{Body: []byte(ada), FullURL: adaIsHere},
		fhirwrite.Item{Body: fmt.Appendf(nil, score, adaIsHere, 11)},
		fhirwrite.Item{Body: fmt.Appendf(nil, score, "Patient/"+foreign.Result(0).ID, 5)},
		fhirwrite.Item{Body: fmt.Appendf(nil, score, "urn:uuid:9", 5)},
		fhirwrite.Item{Body: fmt.Appendf(nil, score, adaIsHere, 5), Update: true, ID: foreign.Result(0).ID},
		fhirwrite.Item{Body: []byte(`{"resourceType":"Claim"}`)},
		fhirwrite.Item{Body: []byte(strings.Replace(fmt.Sprintf(backPain, adaIsHere), "Low", strings.Repeat("x", 2000), 1))},
		fhirwrite.Item{Body: fmt.Appendf(nil, score, adaIsHere, 5)})
	want := []struct {
		item       int
		code       fault.Code
		expression string
	}{
		{1, fault.InvalidParameter, "Observation.valueQuantity.value"}, {2, fault.InvalidParameter, "Observation.subject"}, {3, fault.InvalidParameter, "Observation.subject"},
		{4, fault.NotFound, ""}, {5, fault.InvalidParameter, "Claim"}, {6, fault.InvalidParameter, "Condition.code"},
	}
	if len(made.Problems) != len(want) {
		t.Fatalf("%+v", made.Problems)
	}
	for i, p := range made.Problems {
		w := want[i]
		if p.Item != w.item || p.Code() != w.code || w.expression != "" && (len(p.Issues) == 0 || !strings.HasPrefix(p.Issues[0].Expression, w.expression)) {
			t.Errorf("%+v, want %+v", p, w)
		}
	}
	if _, err := s.For(&who).WriteAll(context.Background(), made.Writes, time.Now(), nil, nil); err != nil || len(made.Writes) != 2 {
		t.Errorf("%d writes, %v", len(made.Writes), err)
	}
}
