package event

import (
	"slices"
	"time"

	"anodyne.example/anodyne/internal/id"
)

// Type is an event's name.
type Type string

// The events of the service.
const (
	PatientCreated      Type = "patient.created"
	PatientUpdated      Type = "patient.updated"
	PatientMerged       Type = "patient.merged"
	PatientErased       Type = "patient.erased"
	ClinicalDataUpdated Type = "clinical_data.updated"
	ReportCompleted     Type = "report.completed"
	ReportFailed        Type = "report.failed"
	ExportCompleted     Type = "export.completed"
	ExportFailed        Type = "export.failed"
	SystemAlert         Type = "system.alert"
)

// Declaration is the one declaration of an event that can be subscribed to. The
// OpenAPI document, the Go client and the documentation follow it.
type Declaration struct {
	Type Type
	// Summary is what happened, as a sentence; SentWhen is the same in the
	// middle of one.
	Summary, SentWhen string
	// Schema is the event as it is sent, among the components of the OpenAPI
	// document, and Data an example of its data in YAML.
	Schema, Data string
}

// declared is in the contract's order.
var declared = []Declaration{
	{PatientCreated, "A patient was created", "a patient was created", "PatientEvent", "{patient_id: pat_01kf0k8y20a14c3emmv2g2jemj}"},
	{PatientUpdated, "A patient was updated", "a patient was changed", "PatientEvent", "{patient_id: pat_01kf0k8y20a14c3emmv2g2jemj}"},
	{PatientMerged, "A patient was merged into another one", "a patient was merged into another one, which has its data now", "PatientMergedEvent",
		"{patient_id: pat_01kf0k8y20a14c3emmv2g2jemj, into: pat_01kf0k8y20t5d8sqd0vq2k4ckn}"},
	{PatientErased, "A patient was erased", "a patient and all its data were erased", "PatientEvent", "{patient_id: pat_01kf0k8y20a14c3emmv2g2jemj}"},
	{ClinicalDataUpdated, "Clinical data was added or corrected", "clinical data was added or corrected; one event per request", "ClinicalDataEvent",
		"{patient_id: pat_01kf0k8y20a14c3emmv2g2jemj, record_ids: [rec_01kf0k8y20ebz49trwgsgjxktz], data_types: [pain_scores]}"},
	{ReportCompleted, "A report can be downloaded", "a report is ready for download", "ReportEvent", "{report_id: rep_01kf0k8y20w3y5vvd7xx0wbgab}"},
	{ReportFailed, "A report failed", "a report could not be generated", "ReportEvent", "{report_id: rep_01kf0k8y20w3y5vvd7xx0wbgab}"},
	{ExportCompleted, "An export can be downloaded", "the files of an export are ready for download", "ExportEvent", "{export_id: exp_01kf0k8y20w3y5vvd7xx0wbgab}"},
	{ExportFailed, "An export failed", "an export could not be written", "ExportEvent", "{export_id: exp_01kf0k8y20w3y5vvd7xx0wbgab}"},
	{SystemAlert, "An alert was raised", "something needs attention: see `kind` and `severity`", "AlertEvent",
		"{kind: high_dose_opioid, severity: critical, patient_id: pat_01kf0k8y20a14c3emmv2g2jemj, threshold: 90}"},
}

// All subscribes a webhook to all events, including those added in future
// versions.
const All Type = "*"

// Test is the event sent to a single webhook to test it. It is in no log and
// cannot be subscribed to.
const Test Type = "webhook.test"

// Declared lists the events that can be subscribed to, in the contract's order.
func Declared() []Declaration { return slices.Clone(declared) }

// Types lists the events that can be subscribed to, in the order of the
// contract.
func Types() []Type {
	types := make([]Type, len(declared))
	for i := range declared {
		types[i] = declared[i].Type
	}
	return types
}

// ForTest returns an event for testing a webhook.
func ForTest(at time.Time, webhook id.Webhook) *Event {
	data := append(make([]byte, 0, 48), `{"webhook_id":"`...)
	data = append(webhook.Append(data), `"}`...)
	return &Event{ID: id.New[id.EventKind](at), Type: Test, At: at, Data: data}
}
