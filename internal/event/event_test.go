package event

import (
	"encoding/json"
	"testing"
	"time"

	"anodyne/internal/id"
)

func TestEnvelope(t *testing.T) {
	at := time.Date(2026, 1, 15, 10, 30, 0, 999, time.FixedZone("", 3600))
	patient := id.New[id.PatientKind](at)
	e := Patient(PatientCreated, at, patient)
	var got struct {
		ID, Type, Timestamp string
		Data                map[string]string
	}
	if err := json.Unmarshal(e.Append(nil), &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != e.ID.String() || got.Type != "patient.created" || got.Timestamp != "2026-01-15T09:30:00Z" {
		t.Errorf("envelope %+v", got)
	}
	if len(got.Data) != 1 || got.Data["patient_id"] != patient.String() {
		t.Errorf("data %v: want the identifier and nothing else", got.Data)
	}
}
