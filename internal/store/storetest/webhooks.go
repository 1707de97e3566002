package storetest

import (
	"context"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// WebhookSecret signs the messages of all test endpoints.
const WebhookSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// Webhook returns an enabled endpoint that is not stored yet. Without types it
// receives all events.
func Webhook(url string, types ...event.Type) webhooks.Webhook {
	if len(types) == 0 {
		types = []event.Type{event.All}
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	return webhooks.Webhook{ID: id.New[id.WebhookKind](now), URL: url, Events: types, Enabled: true, CreatedAt: now, Version: 1}
}

// WebhookLine returns the change for an action on an endpoint.
func WebhookLine(action audit.Action, webhookID id.Webhook) journal.Change {
	return journal.Change{Audit: audit.Entry{At: time.Now(), Actor: "test", Action: action, Resource: webhookID.String()}}
}

// AddWebhook stores a new endpoint.
func AddWebhook(tb testing.TB, o store.Org, url string, types ...event.Type) webhooks.Webhook {
	tb.Helper()
	w := Webhook(url, types...)
	if _, err := o.CreateWebhook(context.Background(), &w, WebhookSecret, WebhookLine(audit.WebhookCreate, w.ID), nil, idempotency.Outcome{}); err != nil {
		tb.Fatal(err)
	}
	return w
}

// SwitchWebhook enables or disables an endpoint.
func SwitchWebhook(tb testing.TB, o store.Org, webhookID id.Webhook, enabled bool) {
	tb.Helper()
	if _, err := o.UpdateWebhook(context.Background(), webhookID, func(w webhooks.Webhook) (webhooks.Webhook, *journal.Change, error) {
		w.Enabled, w.DisabledReason = enabled, ""
		if !enabled {
			w.DisabledReason = webhooks.DisabledByRequest
		}
		w.Version++
		c := WebhookLine(audit.WebhookUpdate, webhookID)
		return w, &c, nil
	}); err != nil {
		tb.Fatal(err)
	}
}

// Deliveries lists all deliveries to an endpoint, newest first.
func Deliveries(tb testing.TB, o store.Org, webhookID id.Webhook) (list []webhooks.Delivery) {
	tb.Helper()
	q := webhooks.DeliveryQuery{Limit: 100}
	for {
		next, err := o.Deliveries(context.Background(), webhookID, q, func(d *webhooks.Delivery) { list = append(list, *d) })
		if err != nil {
			tb.Fatal(err)
		}
		if next.IsZero() {
			return list
		}
		q.Before = next
	}
}

// HookLine returns the change for an action on an endpoint.
func HookLine(action audit.Action, w webhooks.Webhook) journal.Change {
	return WebhookLine(action, w.ID)
}
