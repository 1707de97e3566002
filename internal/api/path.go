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

func (x *exchange) deliveryID() (id.Delivery, error) {
	return pathID[id.DeliveryKind](x, "delivery_id", "delivery")
}

// onPath reads the identifier of a request without query parameters.
func onPath[K id.Kind](x *exchange, resource string) (id.ID[K], error) {
	if err := x.noQuery(); err != nil {
		return id.ID[K]{}, err
	}
	return pathID[K](x, "id", resource)
}

func (x *exchange) onPatient() (id.Patient, error) { return onPath[id.PatientKind](x, "patient") }

func (x *exchange) onWebhook() (id.Webhook, error) { return onPath[id.WebhookKind](x, "webhook") }

func (x *exchange) onAlias() (id.Alias, error) { return onPath[id.AliasKind](x, "alias") }

func (x *exchange) onCohort() (id.Cohort, error) { return onPath[id.CohortKind](x, "cohort") }

func (x *exchange) onReport() (id.Report, error) { return onPath[id.ReportKind](x, "report") }

func (x *exchange) onExport() (id.Export, error) { return onPath[id.ExportKind](x, "export") }
