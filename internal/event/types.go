package event

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
