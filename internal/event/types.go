package event

import (
	"time"

	"anodyne.example/anodyne/internal/id"
)

// All subscribes a webhook to all events, including those added in future
// versions.
const All Type = "*"

// Test is the event sent to a single webhook to test it. It is in no log and
// cannot be subscribed to.
const Test Type = "webhook.test"

// Types lists the events that can be subscribed to, in the order of the
// contract.
func Types() []Type {
	return []Type{PatientCreated, PatientUpdated, ClinicalDataUpdated, ReportCompleted, ReportFailed, SystemAlert}
}

// ForTest returns an event for testing a webhook.
func ForTest(at time.Time, webhook id.Webhook) *Event {
	data := append(make([]byte, 0, 48), `{"webhook_id":"`...)
	data = append(webhook.Append(data), `"}`...)
	return &Event{ID: id.New[id.EventKind](at), Type: Test, At: at, Data: data}
}
