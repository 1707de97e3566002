package api

import (
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
)

// pathID parses an identifier in the path. A malformed identifier is reported
// as not found.
func pathID[K id.Kind](x *exchange, name, resource string) (id.ID[K], error) {
	text := x.r.PathValue(name)
	parsed, err := id.Parse[K](text)
	if err != nil {
		return parsed, fault.Missing(resource, clip(text))
	}
	return parsed, nil
}

func (x *exchange) patientID() (id.Patient, error) { return pathID[id.PatientKind](x, "id", "patient") }

func (x *exchange) recordID() (id.Record, error) {
	return pathID[id.RecordKind](x, "record_id", "clinical record")
}

func (x *exchange) webhookID() (id.Webhook, error) { return pathID[id.WebhookKind](x, "id", "webhook") }

func (x *exchange) aliasID() (id.Alias, error) { return pathID[id.AliasKind](x, "id", "alias") }

func (x *exchange) cohortID() (id.Cohort, error) { return pathID[id.CohortKind](x, "id", "cohort") }

func (x *exchange) deliveryID() (id.Delivery, error) {
	return pathID[id.DeliveryKind](x, "delivery_id", "delivery")
}
