package event

import (
	"time"

	"anodyne.example/anodyne/internal/id"
)

// All is what an endpoint subscribes to that wants every event, also those
// that are added later.
const All Type = "*"

// Test is the event that a caller has sent to one endpoint to try it. It is in
// no log, and nobody subscribes to it.
const Test Type = "webhook.test"

// Types lists the events that can be subscribed to, in the contract's order.
func Types() []Type {
	return []Type{PatientCreated, PatientUpdated, ClinicalDataUpdated, ReportCompleted, ReportFailed, SystemAlert}
}

// ForTest makes the event that tries an endpoint.
func ForTest(at time.Time, webhook id.Webhook) *Event {
	data := append(make([]byte, 0, 48), `{"webhook_id":"`...)
	data = append(webhook.Append(data), `"}`...)
	return &Event{ID: id.New[id.EventKind](at), Type: Test, At: at, Data: data}
}
