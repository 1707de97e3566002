package api

import (
	"net/http"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/webhooks"
	"anodyne.example/anodyne/internal/strictjson"
)

// actOnWebhook reads the path and the Idempotency-Key of a POST without
// content.
func (x *exchange) actOnWebhook() (id.Webhook, *idempotency.Once, error) {
	key, err := x.readBare()
	if err != nil {
		return id.Webhook{}, nil, err
	}
	webhookID, err := x.webhookID()
	return webhookID, key, err
}

const webhooksPath = "/v1/webhooks"

func (a *API) createWebhook(x *exchange) (answer, error) {
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	w := webhooks.Webhook{ID: id.New[id.WebhookKind](x.now), Enabled: true, CreatedAt: x.now.UTC().Truncate(time.Second), Version: 1}
	if err := a.mergeWebhook(&w, object, true); err != nil {
		return answer{}, err
	}
	name, secret := w.ID.String(), a.NewWebhookSecret()
	change := journal.Change{Audit: x.line(audit.WebhookCreate, name)}
	change.Audit.Details = audit.Changes((&webhooks.Webhook{Enabled: true}).Changes(&w))
	x.buf = appendSecret(appendWebhook(x.buf, &w), secret, time.Time{})
	out, err := x.org.CreateWebhook(x.ctx(), &w, secret, change, key.Seal(), idempotency.Outcome{
		Status: http.StatusCreated, Location: webhooksPath + "/" + name, Body: x.buf,
	})
	if err != nil {
		return answer{}, err
	}
	return x.revealed(out, strings.TrimPrefix(out.Location, webhooksPath+"/")), nil
}

// revealed is an outcome that contains a secret. If replayed, it is audited.
func (x *exchange) revealed(out idempotency.Outcome, webhook string) answer {
	done := x.outcome(out)
	if out.Replayed {
		done.line = x.saw(audit.WebhookReveal, webhook)
	}
	return done
}

func (a *API) listWebhooks(x *exchange) (answer, error) {
	done, _, err := listPage(x, webhooksPath, x.org.WebhookPage, appendWebhook)
	return done, err
}

func (a *API) getWebhook(x *exchange) (answer, error) {
	return getItem(x, "webhook", x.org.Webhook, appendWebhook)
}

func (a *API) patchWebhook(x *exchange) (answer, error) {
	object, err := x.readPatch()
	if err != nil {
		return answer{}, err
	}
	// A body that is invalid for any webhook is rejected before the webhook is
	// looked up.
	if err := a.mergeWebhook(&webhooks.Webhook{}, object, false); err != nil {
		return answer{}, err
	}
	webhookID, err := x.webhookID()
	if err != nil {
		return answer{}, err
	}
	w, err := x.org.UpdateWebhook(x.ctx(), webhookID, func(old webhooks.Webhook) (webhooks.Webhook, *journal.Change, error) {
		updated := old
		if err := a.mergeWebhook(&updated, object, false); err != nil {
			return old, nil, err
		}
		changes := old.Changes(&updated)
		if len(changes) == 0 {
			return old, nil, nil
		}
		updated.Version++
		line := x.line(audit.WebhookUpdate, webhookID.String())
		line.Details = audit.Changes(changes)
		return updated, &journal.Change{Audit: line}, nil
	})
	if err != nil {
		return answer{}, err
	}
	x.buf = appendWebhook(x.buf, &w)
	return answer{status: http.StatusOK, body: x.buf}, nil
}

func (a *API) deleteWebhook(x *exchange) (answer, error) {
	return deleteItem(x, "webhook", x.org.DeleteWebhook, audit.WebhookDelete)
}

func (a *API) rotateWebhookSecret(x *exchange) (answer, error) {
	webhookID, key, err := x.actOnWebhook()
	if err != nil {
		return answer{}, err
	}
	secret := a.NewWebhookSecret()
	change := journal.Change{Audit: x.line(audit.WebhookRotate, webhookID.String())}
	out, err := x.org.RotateWebhookSecret(x.ctx(), webhookID, secret, change, key.Seal(), x.now, func(w webhooks.Webhook) idempotency.Outcome {
		return idempotency.Outcome{Status: http.StatusOK, Body: appendSecret(appendWebhook(nil, &w), secret, w.OldSecretEnds)}
	})
	if err != nil {
		return answer{}, err
	}
	return x.revealed(out, webhookID.String()), nil
}

// appendWebhook appends the JSON form of a webhook, without its secret.
func appendWebhook(b []byte, w *webhooks.Webhook) []byte {
	b = append(b, `{"id":"`...)
	b = w.ID.Append(b)
	b = strictjson.AppendString(append(b, `","url":`...), w.URL)
	b = append(b, `,"events":["`...)
	for i, t := range w.Events {
		if i > 0 {
			b = append(b, `","`...)
		}
		b = append(b, t...)
	}
	b = strictjson.AppendString(append(b, `"],"description":`...), w.Description)
	b = append(b, `,"status":"`...)
	b = append(b, w.Status()...)
	if !w.Enabled {
		b = append(b, `","disabled_reason":"`...)
		b = append(b, w.DisabledReason...)
	}
	b = append(b, `","created_at":"`...)
	b = w.CreatedAt.AppendFormat(b, time.RFC3339)
	return append(b, `"}`...)
}

// appendSecret adds a secret to the JSON form of a webhook, and the time when
// the previous one expires.
func appendSecret(b []byte, secret string, oldEnds time.Time) []byte {
	b = append(b[:len(b)-1], `,"secret":"`...)
	b = append(b, secret...)
	if !oldEnds.IsZero() {
		b = append(b, `","previous_secret_expires_at":"`...)
		b = oldEnds.UTC().AppendFormat(b, time.RFC3339)
	}
	return append(b, `"}`...)
}
