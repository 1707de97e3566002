package event

import (
	"encoding/json"
	"time"

	"anodyne.example/anodyne/internal/id"
)

// AlertKind is the kind of a system alert.
type AlertKind string

// The kinds of alerts.
const (
	WebhookDisabled             AlertKind = "webhook_disabled"
	ReportDidFail               AlertKind = "report_failed"
	ExportDidFail               AlertKind = "export_failed"
	QuotaWarning                AlertKind = "quota_warning"
	HighDoseOpioid              AlertKind = "high_dose_opioid"
	OpioidBenzodiazepineOverlap AlertKind = "opioid_benzodiazepine_overlap"
)

// Severity is the urgency of an alert.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Alert is the data of a system alert: its kind, its subject, and the
// threshold crossed. It contains no measured values.
type Alert struct {
	Kind      AlertKind   `json:"kind"`
	Severity  Severity    `json:"severity"`
	Patient   *id.Patient `json:"patient_id,omitempty"`
	Client    *id.Client  `json:"client_id,omitempty"`
	Webhook   *id.Webhook `json:"webhook_id,omitempty"`
	Report    *id.Report  `json:"report_id,omitempty"`
	Export    *id.Export  `json:"export_id,omitempty"`
	Threshold int         `json:"threshold,omitempty"`
	Reason    string      `json:"reason,omitempty"`
}

// Event returns the event of the alert.
func (a Alert) Event(at time.Time) *Event {
	data, err := json.Marshal(a)
	if err != nil {
		panic(err) // identifiers, words and a number can always be marshalled
	}
	return &Event{ID: id.New[id.EventKind](at), Type: SystemAlert, At: at, Data: data}
}
