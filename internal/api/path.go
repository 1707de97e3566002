package api

import (
	"context"
	"net/http"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/journal"
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

// readItem reads the item named by a path without parameters.
func readItem[K id.Kind, T any](x *exchange, resource string, read func(context.Context, id.ID[K]) (T, error)) (item T, err error) {
	itemID, err := onPath[K](x, resource)
	if err != nil {
		return item, err
	}
	return read(x.ctx(), itemID)
}

// getItem answers with the item named by a path without parameters.
func getItem[K id.Kind, T any](x *exchange, resource string, read func(context.Context, id.ID[K]) (T, error), write func([]byte, *T) []byte) (answer, error) {
	item, err := readItem(x, resource, read)
	if err != nil {
		return answer{}, err
	}
	x.buf = write(x.buf, &item)
	return answer{status: http.StatusOK, body: x.buf}, nil
}

// deleteItem deletes the item named by a path without parameters. The action
// is what is audited.
func deleteItem[K id.Kind](x *exchange, resource string, remove func(context.Context, id.ID[K], journal.Change) error, action audit.Action) (answer, error) {
	itemID, err := onPath[K](x, resource)
	if err != nil {
		return answer{}, err
	}
	if err := remove(x.ctx(), itemID, journal.Change{Audit: x.line(action, itemID.String())}); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}
