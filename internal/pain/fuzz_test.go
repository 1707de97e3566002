package pain

import (
	"encoding/json"
	"testing"

	"anodyne.example/anodyne/internal/strictjson"
)

var bodies = []string{
	`{}`, patched, `{"name":"A","date_of_birth":"2000-01-01"}`,
	`{"name":" \u00e9\ud83d\ude00 ","date_of_birth":"2000-02-29","gender":null,"contact":{"email":"\u0000@b"}}`,
	`{"name":"A","date_of_birth":"2000-01-01","medical_history":["x",{"condition":"y","icd10_code":"M54.5","onset_date":"2019","resolved_date":"2019-01","notes":"\n"}]}`,
	`{"contact":null,"medical_history":null}`, `{"id":"x","nmae":1}`,
}

func FuzzNewPatient(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := strictjson.Parse(body)
		if err != nil {
			return
		}
		p, err := NewPatient(o, testID, testNow)
		if noted(t, err); err == nil {
			roundTrip(t, p)
		}
	})
}

func FuzzPatchPatient(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := strictjson.Parse(body)
		if err != nil {
			return
		}
		old := create(t, patched)
		p, changes, err := PatchPatient(old, o, testNow)
		if noted(t, err); err != nil {
			return
		}
		if (len(changes) > 0) != (p != old) || p.Version != old.Version+int64(min(len(changes), 1)) {
			t.Fatalf("changes %v, version %d", changes, p.Version)
		}
		p.Version = 1
		roundTrip(t, p)
	})
}

// roundTrip checks that an accepted patient is printed as valid JSON, from
// which the same patient can be created.
func roundTrip(t *testing.T, p Patient) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(AppendDetail(nil, &p), &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "id")
	delete(members, "created_at")
	body, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	o, err := strictjson.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewPatient(o, p.ID, testNow)
	if err != nil || again != p {
		t.Fatalf("got  %+v, %v\nwant %+v", again, noted(t, err), p)
	}
	if _, err := p.MedicalHistory.Entries(); err != nil {
		t.Fatal(err)
	}
}
