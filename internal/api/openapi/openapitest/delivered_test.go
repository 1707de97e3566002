package openapitest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
)

// sent returns an event of each type, with all possible fields.
func sent() map[event.Type]*event.Event {
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	patient, report := id.New[id.PatientKind](now), id.New[id.ReportKind](now)
	export := id.New[id.ExportKind](now)
	client, webhook := id.New[id.ClientKind](now), id.New[id.WebhookKind](now)
	return map[event.Type]*event.Event{
		event.PatientCreated:      event.Patient(event.PatientCreated, now, patient),
		event.PatientUpdated:      event.Patient(event.PatientUpdated, now, patient),
		event.PatientMerged:       event.Merged(now, patient, id.New[id.PatientKind](now)),
		event.PatientErased:       event.Patient(event.PatientErased, now, patient),
		event.ClinicalDataUpdated: event.ClinicalData(now, patient, []id.Record{id.New[id.RecordKind](now), id.New[id.RecordKind](now)}, []string{"pain_scores", "notes"}),
		event.ReportCompleted:     event.Report(event.ReportCompleted, now, report),
		event.ReportFailed:        event.Report(event.ReportFailed, now, report),
		event.ExportCompleted:     event.Export(event.ExportCompleted, now, export),
		event.ExportFailed:        event.Export(event.ExportFailed, now, export),
		event.SystemAlert: event.Alert{Kind: event.HighDoseOpioid, Severity: event.Warning, Patient: &patient, Client: &client,
			Webhook: &webhook, Report: &report, Export: &export, Threshold: 90, Reason: "the receiver returned 410"}.Event(now),
	}
}

// Every event contains identifiers and enumerated values only.
func TestEventsLeaveWithIdentifiersOnly(t *testing.T) {
	all := sent()
	for _, name := range event.Types() {
		e := all[name]
		if e == nil {
			t.Errorf("%s: this test does not know what it holds", name)
			continue
		}
		body := e.Append(nil)
		Delivered(t, body)
		var envelope struct{ Data map[string]any }
		if err := json.Unmarshal(body, &envelope); err != nil || len(envelope.Data) == 0 {
			t.Fatalf("%s: %s, %v", name, body, err)
		}
		// The check can fail: any addition to an event is detected.
		for _, more := range []string{`"name":"Ada Nowak"`, `"score":7`, `"value":{"score":7}`, `"notes":"x"`} {
			changed := strings.Replace(string(body), `"data":{`, `"data":{`+more+`,`, 1)
			if !reports(func(tb testing.TB) { Delivered(tb, []byte(changed)) }) {
				t.Errorf("%s may leave with %s", name, more)
			}
		}
		changed := strings.Replace(string(body), `{"id"`, `{"patient":"Ada Nowak","id"`, 1)
		if !reports(func(tb testing.TB) { Delivered(tb, []byte(changed)) }) {
			t.Errorf("%s may leave with more in its envelope", name)
		}
	}
	if len(all) != len(event.Types()) {
		t.Errorf("%d events, and %d types", len(all), len(event.Types()))
	}
}

func TestDeliveredReports(t *testing.T) {
	good := string(sent()[event.PatientCreated].Append(nil))
	for _, wrong := range []string{
		"", "[]", "{}", good[:len(good)-1],
		strings.Replace(good, "patient.created", "patient.deleted", 1),
		strings.Replace(good, "pat_", "Ada ", 1),
		strings.Replace(good, "T10:30:00Z", "T10:30:00.5Z", 1),
	} {
		if !reports(func(tb testing.TB) { Delivered(tb, []byte(wrong)) }) {
			t.Errorf("%s was taken", wrong)
		}
	}
}

// reports returns whether check reports an error.
func reports(check func(testing.TB)) bool {
	var seen recorder
	check(&seen)
	return len(seen.faults) > 0
}
