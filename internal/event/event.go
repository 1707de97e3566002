// Package event defines the events of the service and their envelopes. An
// event only contains identifiers: clinical data only leaves the service
// through an authenticated read.
package event

import (
	"encoding/json"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/id"
)

// Event is an event, as sent and listed.
type Event struct {
	ID   id.Event
	Type Type
	At   time.Time
	// Data is a JSON object of identifiers.
	Data json.RawMessage
}

// Patient returns an event about one patient.
func Patient(t Type, at time.Time, patient id.Patient) *Event {
	data := append(make([]byte, 0, 48), `{"patient_id":"`...)
	data = append(patient.Append(data), `"}`...)
	return &Event{ID: id.New[id.EventKind](at), Type: t, At: at, Data: data}
}

// Merged returns the event for a patient that was merged into another one.
func Merged(at time.Time, patient, into id.Patient) *Event {
	data := append(make([]byte, 0, 96), `{"patient_id":"`...)
	data = append(patient.Append(data), `","into":"`...)
	data = append(into.Append(data), `"}`...)
	return &Event{ID: id.New[id.EventKind](at), Type: PatientMerged, At: at, Data: data}
}

// ClinicalData returns the event for records that were added or corrected.
func ClinicalData(at time.Time, patient id.Patient, records []id.Record, types []string) *Event {
	data := append(make([]byte, 0, 96+33*len(records)), `{"patient_id":"`...)
	data = append(patient.Append(data), `","record_ids":[`...)
	for i, record := range records {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(record.Append(append(data, '"')), '"')
	}
	data = append(data, `],"data_types":["`...)
	data = append(data, strings.Join(types, `","`)...)
	data = append(data, `"]}`...)
	return &Event{ID: id.New[id.EventKind](at), Type: ClinicalDataUpdated, At: at, Data: data}
}

// Records returns the records that the data of a ClinicalData event names.
func Records(data []byte) ([]id.Record, error) {
	var named struct {
		Records []id.Record `json:"record_ids"`
	}
	err := json.Unmarshal(data, &named)
	return named.Records, err
}

// Report returns the event for a completed or failed report.
func Report(t Type, at time.Time, report id.Report) *Event {
	data := append(make([]byte, 0, 48), `{"report_id":"`...)
	data = append(report.Append(data), `"}`...)
	return &Event{ID: id.New[id.EventKind](at), Type: t, At: at, Data: data}
}

// Export returns the event for a completed or failed export.
func Export(t Type, at time.Time, export id.Export) *Event {
	data := append(make([]byte, 0, 48), `{"export_id":"`...)
	data = append(export.Append(data), `"}`...)
	return &Event{ID: id.New[id.EventKind](at), Type: t, At: at, Data: data}
}

// Append appends the JSON form of the envelope: id, type, timestamp, data.
func (e *Event) Append(b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = e.ID.Append(b)
	b = append(b, `","type":"`...)
	b = append(b, e.Type...)
	b = append(b, `","timestamp":"`...)
	b = e.At.UTC().AppendFormat(b, time.RFC3339)
	b = append(b, `","data":`...)
	b = append(b, e.Data...)
	return append(b, '}')
}
