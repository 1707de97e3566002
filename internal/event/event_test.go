package event

import (
	"encoding/json"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
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

func TestAlertSaysOnlyWhatItIsAbout(t *testing.T) {
	at := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	patient := id.New[id.PatientKind](at)
	e := Alert{Kind: HighDoseOpioid, Severity: Warning, Patient: &patient, Threshold: 50}.Event(at)
	want := `{"kind":"high_dose_opioid","severity":"warning","patient_id":"` + patient.String() + `","threshold":50}`
	if e.Type != SystemAlert || string(e.Data) != want {
		t.Errorf("%s %s, want %s", e.Type, e.Data, want)
	}
}

func TestReportEvent(t *testing.T) {
	at := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	report := id.New[id.ReportKind](at)
	if e := Report(ReportCompleted, at, report); string(e.Data) != `{"report_id":"`+report.String()+`"}` {
		t.Errorf("data %s", e.Data)
	}
}
