package synth

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

var until = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestSameSeedSamePatient(t *testing.T) {
	one, two := Generator{7, until}.Patient(3), Generator{7, until}.Patient(3)
	if !reflect.DeepEqual(one, two) {
		t.Error("the same number gives two patients")
	}
	if reflect.DeepEqual(one, Generator{8, until}.Patient(3)) || reflect.DeepEqual(one, Generator{7, until}.Patient(4)) {
		t.Error("another seed or number gives the same patient")
	}
}

// TestEverythingIsValid checks synthetic data against the rules of the API.
func TestEverythingIsValid(t *testing.T) {
	types := map[string]int{}
	for n := range 300 {
		p := Generator{1, until}.Patient(n)
		if len(p.Records) == 0 || p.Name == "" || len(p.History) == 0 {
			t.Fatalf("patient %d has %d records, name %q", n, len(p.Records), p.Name)
		}
		intake := pain.Intake{
			PatientID: id.New[id.PatientKind](until), Birth: pain.DateOf(p.DateOfBirth), Now: until,
			NewID: func() id.Record { return id.New[id.RecordKind](until) },
		}
		for i, r := range p.Records {
			types[r.Type]++
			if r.At.After(until) || r.At.Before(until.AddDate(0, 0, -Days-1)) || i > 0 && r.At.Before(p.Records[i-1].At) {
				t.Fatalf("patient %d: record %d is of %v", n, i, r.At)
			}
			body, err := json.Marshal(map[string]any{"data_type": r.Type, "recorded_at": r.At, "source": r.Source, "value": r.Value})
			if err != nil {
				t.Fatal(err)
			}
			object, err := strictjson.Parse(body)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := pain.NewRecords(object, intake); err != nil {
				t.Fatalf("patient %d: %v\n%s", n, err, body)
			}
		}
	}
	for _, kind := range []string{"pain_scores", "medications", "assessments", "procedures", "sleep", "activity", "adverse_events", "vitals", "labs", "functional_status"} {
		if types[kind] == 0 {
			t.Errorf("nobody has %s", kind)
		}
	}
}

// TestCoursesAreNeitherFlatNorMagic looks at the first and the last score of
// those who were seen for three months.
func TestCoursesAreNeitherFlatNorMagic(t *testing.T) {
	responders, worse, all := 0, 0, 0
	for n := range 1000 {
		first, last := -1, -1
		var from, to time.Time
		for _, r := range (Generator{1, until}).Patient(n).Records {
			if r.Type == "pain_scores" && r.Value["aspect"] == "average" {
				if first < 0 {
					first, from = r.Value["score"].(int), r.At
				}
				last, to = r.Value["score"].(int), r.At
			}
		}
		if first <= 0 || to.Sub(from) < 90*24*time.Hour {
			continue
		}
		all++
		if 10*last <= 7*first {
			responders++
		}
		if last > first {
			worse++
		}
	}
	if all < 500 || responders*100/all < 30 || responders*100/all > 60 || worse*100/all < 8 || worse*100/all > 35 {
		t.Errorf("of %d, %d responded and %d got worse", all, responders, worse)
	}
}
