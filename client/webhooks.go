package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// EventAll subscribes to every event, also to those that are added later.
const EventAll EventType = "*"

// EventWebhookTest is the event that TestWebhook has sent. Nobody subscribes to
// it.
const EventWebhookTest EventType = "webhook.test"

// The states of a webhook.
const (
	WebhookEnabled  = "enabled"
	WebhookDisabled = "disabled"
)

// Webhook is an endpoint that events are sent to.
type Webhook struct {
	ID          string      `json:"id"`
	URL         string      `json:"url"`
	Events      []EventType `json:"events"`
	Description string      `json:"description"`
	Status      string      `json:"status"`
	// DisabledReason says why a disabled webhook is so.
	DisabledReason string    `json:"disabled_reason"`
	CreatedAt      time.Time `json:"created_at"`
}

// WebhookWithSecret is a webhook and the secret that signs what is sent to it.
// The secret is shown by CreateWebhook and RotateWebhookSecret and never again.
type WebhookWithSecret struct {
	Webhook
	Secret string `json:"secret"`
	// PreviousSecretExpiresAt is, after a rotation, until when the secret
	// before signs as well.
	PreviousSecretExpiresAt time.Time `json:"previous_secret_expires_at,omitzero"`
}

// NewWebhook is what CreateWebhook sends. URL and Events are required.
type NewWebhook struct {
	URL         string      `json:"url"`
	Events      []EventType `json:"events"`
	Description string      `json:"description,omitempty"`
}

// WebhookPatch is what UpdateWebhook changes: absent members stay, [Set]
// replaces one. Events are replaced as a whole.
type WebhookPatch struct {
	URL         Optional[string]      `json:"url,omitzero"`
	Events      Optional[[]EventType] `json:"events,omitzero"`
	Description Optional[string]      `json:"description,omitzero"`
	Status      Optional[string]      `json:"status,omitzero"`
}

// WebhookStats says how a webhook has done of late.
type WebhookStats struct {
	WebhookID string `json:"webhook_id"`
	// WindowHours is how far back the figures go.
	WindowHours int `json:"window_hours"`
	Succeeded   int `json:"succeeded"`
	Failed      int `json:"failed"`
	// SuccessRate is from 0 to 1; nil when nothing was sent.
	SuccessRate *float64 `json:"success_rate"`
	// LatencyMS has the median and the 95th percentile of the answer times in
	// milliseconds; nil when nothing was answered.
	LatencyMS *struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
	} `json:"latency_ms"`
	LastFailure *WebhookFailure `json:"last_failure"`
	// Backlog is how many events are yet to be delivered.
	Backlog int `json:"backlog"`
}

// WebhookFailure is an attempt that failed.
type WebhookFailure struct {
	At    time.Time `json:"at"`
	Error string    `json:"error"`
}

func webhookPath(id string, more ...string) []string {
	return append([]string{"v1", "webhooks", id}, more...)
}

// CreateWebhook registers an endpoint. Keep the secret: it is not shown again.
// It needs the scope webhooks:write.
func (c *Client) CreateWebhook(ctx context.Context, webhook NewWebhook, opts ...CallOption) (*WebhookWithSecret, error) {
	return answered[WebhookWithSecret](ctx, c, &call{op: "create webhook", method: http.MethodPost, path: []string{"v1", "webhooks"}, body: webhook}, opts)
}

// Webhook returns a webhook. It needs the scope webhooks:read.
func (c *Client) Webhook(ctx context.Context, id string) (*Webhook, error) {
	return answered[Webhook](ctx, c, &call{op: "get webhook", method: http.MethodGet, path: webhookPath(id)}, nil)
}

// Webhooks returns one page of the webhooks in the order of their creation;
// zeros leave the choice to the service. It needs the scope webhooks:read.
func (c *Client) Webhooks(ctx context.Context, page, limit int) (*Page[Webhook], error) {
	q := url.Values{}
	setNumber(q, "page", page)
	setNumber(q, "limit", limit)
	return answered[Page[Webhook]](ctx, c, &call{op: "list webhooks", method: http.MethodGet, path: []string{"v1", "webhooks"}, query: q}, nil)
}

// AllWebhooks yields all webhooks, page by page. It ends after the first error.
func (c *Client) AllWebhooks(ctx context.Context) iter.Seq2[Webhook, error] {
	return walkPages(1, func(page int) (*Page[Webhook], error) { return c.Webhooks(ctx, page, maxLimit) })
}

// UpdateWebhook changes a webhook and returns it as it is then. Setting Status
// to WebhookEnabled takes up sending again; [Client.RecoverWebhook] brings what
// was missed. It needs the scope webhooks:write.
func (c *Client) UpdateWebhook(ctx context.Context, id string, patch WebhookPatch, opts ...CallOption) (*Webhook, error) {
	return answered[Webhook](ctx, c, &call{
		op: "update webhook", method: http.MethodPatch, path: webhookPath(id), body: patch, mediaType: "application/merge-patch+json",
	}, opts)
}

// DeleteWebhook removes a webhook; nothing more is sent to it. It needs the
// scope webhooks:write.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	_, err := c.do(ctx, &call{op: "delete webhook", method: http.MethodDelete, path: webhookPath(id)}, nil)
	return err
}

// RotateWebhookSecret gives a webhook a new secret. For 24 hours both sign, so
// that receivers can change over. It needs the scope webhooks:write.
func (c *Client) RotateWebhookSecret(ctx context.Context, id string, opts ...CallOption) (*WebhookWithSecret, error) {
	return answered[WebhookWithSecret](ctx, c, &call{op: "rotate webhook secret", method: http.MethodPost, path: webhookPath(id, "rotate-secret")}, opts)
}

// TestWebhook has an event of type webhook.test sent to this webhook only. It
// needs the scope webhooks:write.
func (c *Client) TestWebhook(ctx context.Context, id string, opts ...CallOption) (*Delivery, error) {
	return answered[Delivery](ctx, c, &call{op: "test webhook", method: http.MethodPost, path: webhookPath(id, "test")}, opts)
}

// RecoverWebhook has all events since a time sent that were not delivered,
// also those that happened while the webhook was disabled. It needs the scope
// webhooks:write.
func (c *Client) RecoverWebhook(ctx context.Context, id string, since time.Time, opts ...CallOption) error {
	body := struct {
		Since time.Time `json:"since"`
	}{since}
	_, err := c.do(ctx, &call{op: "recover webhook", method: http.MethodPost, path: webhookPath(id, "recover"), body: body}, nil, opts...)
	return err
}

// WebhookStats says how a webhook does. It needs the scope webhooks:read.
func (c *Client) WebhookStats(ctx context.Context, id string) (*WebhookStats, error) {
	return answered[WebhookStats](ctx, c, &call{op: "get webhook stats", method: http.MethodGet, path: webhookPath(id, "stats")}, nil)
}

// answered carries out a call and decodes its answer.
func answered[T any](ctx context.Context, c *Client, call *call, opts []CallOption) (*T, error) {
	var out T
	if _, err := c.do(ctx, call, &out, opts...); err != nil {
		return nil, err
	}
	return &out, nil
}
