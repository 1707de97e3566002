package portal

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/webhooks"
)

type webhookPage struct {
	webhookRow
	Status     string
	Deliveries []webhooks.Delivery
	Older      string
	Waiting    bool
	// Changeable is set if the member may change the webhook.
	Changeable bool
}

// showWebhook shows a webhook, its statistics and its deliveries.
func (p *Portal) showWebhook(v *visit) error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	stats, err := v.org.WebhookStats(v.r.Context(), w.ID, v.now)
	if err != nil {
		return err
	}
	page := webhookPage{webhookRow: rowOfWebhook(w, stats), Status: v.r.URL.Query().Get("status"), Changeable: w.ChangedBy(v.member.Role)}
	q := webhooks.DeliveryQuery{Limit: pageSize}
	if before := v.r.URL.Query().Get("before"); before != "" {
		if q.Before, err = id.Parse[id.DeliveryKind](before); err != nil {
			return fault.New(fault.InvalidParameter, "The position in the log is unknown.")
		}
	}
	if page.Status != "" {
		status, known := webhooks.ParseDeliveryStatus(page.Status)
		if !known {
			return fault.New(fault.InvalidParameter, "The status is unknown.")
		}
		q.Status = &status
	}
	next, err := v.org.Deliveries(v.r.Context(), w.ID, q, func(d *webhooks.Delivery) {
		page.Deliveries = append(page.Deliveries, *d)
		// A delivery without attempts will be attempted within moments.
		page.Waiting = page.Waiting || d.Status == webhooks.Pending && len(d.Attempts) == 0
	})
	if err != nil {
		return err
	}
	if !next.IsZero() {
		page.Older = "?" + url.Values{"before": {next.String()}, "status": {page.Status}}.Encode()
	}
	return v.show("webhook", "Webhook", page)
}

type deliveryPage struct {
	Webhook  webhooks.Webhook
	Delivery webhooks.Delivery
	Payload  string
	// Changeable is set if the member may redeliver it.
	Changeable bool
}

func (p *Portal) delivery(v *visit) error {
	w, deliveryID, err := v.delivery()
	if err != nil {
		return err
	}
	d, err := v.org.Delivery(v.r.Context(), w.ID, deliveryID)
	if err != nil {
		return err
	}
	page := deliveryPage{Webhook: w, Delivery: d, Payload: string(d.Payload), Changeable: w.ChangedBy(v.member.Role)}
	var pretty bytes.Buffer
	if json.Indent(&pretty, d.Payload, "", "  ") == nil {
		page.Payload = pretty.String()
	}
	return v.show("delivery", "Delivery", page)
}

// delivery returns the webhook and the identifier of the delivery in the path.
func (v *visit) delivery() (w webhooks.Webhook, deliveryID id.Delivery, err error) {
	if w, err = v.webhook(); err != nil {
		return w, deliveryID, err
	}
	deliveryID, err = pathID[id.DeliveryKind](v, "delivery", "delivery")
	return w, deliveryID, err
}

func (p *Portal) redeliver(v *visit) error {
	w, deliveryID, err := v.delivery()
	if err != nil {
		return err
	}
	if _, err := v.org.Redeliver(v.r.Context(), w.ID, deliveryID, v.change(audit.WebhookRedeliver, w.ID.String()), nil, v.now, nothing); err != nil {
		return err
	}
	v.redirect("/portal/webhooks/" + w.ID.String())
	return nil
}

// nothing is the outcome of a request without an idempotency key.
func nothing(*webhooks.Delivery) idempotency.Outcome { return idempotency.Outcome{} }

// actOnWebhook runs the action of a button on a webhook's page.
func (p *Portal) actOnWebhook(v *visit) error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	ctx, name := v.r.Context(), w.ID.String()
	switch v.form("act") {
	case "test":
		_, err = v.org.TestWebhook(ctx, w.ID, event.ForTest(v.now, w.ID), v.change(audit.WebhookTest, name), nil, nothing)
	case "rotate":
		return v.rotateWebhook(w)
	case "recover":
		err = v.recover(w)
	case "enable":
		return v.updateWebhook(w.ID, func(w *webhooks.Webhook) { w.Enabled, w.DisabledReason = true, "" })
	case "disable":
		return v.updateWebhook(w.ID, func(w *webhooks.Webhook) { w.Enabled, w.DisabledReason = false, webhooks.DisabledByRequest })
	case "delete":
		if v.form("sure") != "yes" {
			return fault.New(fault.InvalidParameter, "Confirm that you want to delete the endpoint and its delivery log.")
		}
		if err := v.org.DeleteWebhook(ctx, w.ID, v.change(audit.WebhookDelete, name)); err != nil {
			return err
		}
		v.redirect("/portal/webhooks")
		return nil
	default:
		err = fault.New(fault.InvalidParameter, "The action is unknown.")
	}
	if err != nil {
		return err
	}
	v.redirect("/portal/webhooks/" + name)
	return nil
}

func (v *visit) rotateWebhook(w webhooks.Webhook) error {
	secret := v.NewWebhookSecret()
	page := webhookSecret{ID: w.ID, Secret: secret}
	if _, err := v.org.RotateWebhookSecret(v.r.Context(), w.ID, secret, v.change(audit.WebhookRotate, w.ID.String()), nil, v.now, func(w webhooks.Webhook) idempotency.Outcome {
		page.OldEnds = w.OldSecretEnds
		return idempotency.Outcome{}
	}); err != nil {
		return err
	}
	return v.show("webhook-secret", "New signing secret", page)
}

// recover sends the events missed since a day.
func (v *visit) recover(w webhooks.Webhook) error {
	since, err := time.Parse(time.DateOnly, strings.TrimSpace(v.form("since")))
	if err != nil || since.After(v.now) {
		return fault.New(fault.InvalidParameter, "Choose a date that is not in the future.")
	}
	_, err = v.org.RecoverWebhook(v.r.Context(), w.ID, since, v.change(audit.WebhookRecover, w.ID.String()), nil, v.now, idempotency.Outcome{})
	return err
}
