package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// EventAll subscribes to all events, including those added in future versions.
const EventAll EventType = "*"

// EventWebhookTest is the event sent by [Client.TestWebhook]. It cannot be
// subscribed to.
const EventWebhookTest EventType = "webhook.test"

// The states of a webhook.
const (
	WebhookEnabled  = "enabled"
	WebhookDisabled = "disabled"
)

// Webhook is an endpoint that receives events.
type Webhook struct {
	ID          string      `json:"id"`
	URL         string      `json:"url"`
	Events      []EventType `json:"events"`
	Description string      `json:"description"`
	Status      string      `json:"status"`
	// DisabledReason is why the webhook is disabled, or empty.
	DisabledReason string    `json:"disabled_reason"`
	CreatedAt      time.Time `json:"created_at"`
}

// WebhookWithSecret is a webhook with its signing secret, which only
// CreateWebhook and RotateWebhookSecret return.
type WebhookWithSecret struct {
	Webhook
	Secret string `json:"secret"`
	// PreviousSecretExpiresAt is set after a rotation: the previous secret also
	// signs until then.
	PreviousSecretExpiresAt time.Time `json:"previous_secret_expires_at,omitzero"`
}

// NewWebhook is the input of [Client.CreateWebhook]. URL and Events are
// required.
type NewWebhook struct {
	URL         string      `json:"url"`
	Events      []EventType `json:"events"`
	Description string      `json:"description,omitempty"`
}

// WebhookPatch is the input of [Client.UpdateWebhook]. Absent fields are left
// unchanged; [Set] replaces a field. Events are replaced as a whole.
type WebhookPatch struct {
	URL         Optional[string]      `json:"url,omitzero"`
	Events      Optional[[]EventType] `json:"events,omitzero"`
	Description Optional[string]      `json:"description,omitzero"`
	Status      Optional[string]      `json:"status,omitzero"`
}

// WebhookStats holds the recent delivery statistics of a webhook.
type WebhookStats struct {
	WebhookID string `json:"webhook_id"`
	// WindowHours is the period covered by the figures.
	WindowHours int `json:"window_hours"`
	Succeeded   int `json:"succeeded"`
	Failed      int `json:"failed"`
	// SuccessRate is from 0 to 1, or nil if nothing was sent.
	SuccessRate *float64 `json:"success_rate"`
	// LatencyMS has the median and the 95th percentile of the response times in
	// milliseconds; nil if there were no responses.
	LatencyMS *struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
	} `json:"latency_ms"`
	LastFailure *WebhookFailure `json:"last_failure"`
	// Backlog is the number of undelivered events.
	Backlog int `json:"backlog"`
}

// WebhookFailure is a failed attempt.
type WebhookFailure struct {
	At    time.Time `json:"at"`
	Error string    `json:"error"`
}

func webhookPath(id string, more ...string) []string {
	return append([]string{"v1", "webhooks", id}, more...)
}

// CreateWebhook registers an endpoint. Store the secret: it is not shown
// again. It needs the scope webhooks:write.
func (c *Client) CreateWebhook(ctx context.Context, webhook NewWebhook, opts ...CallOption) (*WebhookWithSecret, error) {
	return answered[WebhookWithSecret](ctx, c, &call{op: "create webhook", method: http.MethodPost, path: []string{"v1", "webhooks"}, body: webhook}, opts)
}

// Webhook returns a webhook. It needs the scope webhooks:read.
func (c *Client) Webhook(ctx context.Context, id string) (*Webhook, error) {
	return answered[Webhook](ctx, c, &call{op: "get webhook", method: http.MethodGet, path: webhookPath(id)}, nil)
}

// Webhooks returns one page of webhooks in creation order. A zero page or
// limit uses the service's default. It needs the scope webhooks:read.
func (c *Client) Webhooks(ctx context.Context, page, limit int) (*Page[Webhook], error) {
	return answered[Page[Webhook]](ctx, c, &call{op: "list webhooks", method: http.MethodGet, path: []string{"v1", "webhooks"}, query: pageQuery(page, limit)}, nil)
}

// AllWebhooks yields all webhooks, fetching page by page. It stops after the
// first error.
func (c *Client) AllWebhooks(ctx context.Context) iter.Seq2[Webhook, error] {
	return walkPages(1, func(page int) (*Page[Webhook], error) { return c.Webhooks(ctx, page, maxLimit) })
}

// UpdateWebhook changes a webhook and returns the result. Setting Status to
// WebhookEnabled resumes deliveries; [Client.RecoverWebhook] sends the missed
// events. It needs the scope webhooks:write.
func (c *Client) UpdateWebhook(ctx context.Context, id string, patch WebhookPatch, opts ...CallOption) (*Webhook, error) {
	return answered[Webhook](ctx, c, &call{
		op: "update webhook", method: http.MethodPatch, path: webhookPath(id), body: patch, mediaType: "application/merge-patch+json",
	}, opts)
}

// DeleteWebhook deletes a webhook and ends its deliveries. It needs the scope
// webhooks:write.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	_, err := c.do(ctx, &call{op: "delete webhook", method: http.MethodDelete, path: webhookPath(id)}, nil)
	return err
}

// RotateWebhookSecret gives a webhook a new secret. Both secrets sign for 24
// hours, so that receivers can switch over. It needs the scope webhooks:write.
func (c *Client) RotateWebhookSecret(ctx context.Context, id string, opts ...CallOption) (*WebhookWithSecret, error) {
	return answered[WebhookWithSecret](ctx, c, &call{op: "rotate webhook secret", method: http.MethodPost, path: webhookPath(id, "rotate-secret")}, opts)
}

// TestWebhook sends an event of type webhook.test to this webhook only. It
// needs the scope webhooks:write.
func (c *Client) TestWebhook(ctx context.Context, id string, opts ...CallOption) (*Delivery, error) {
	return answered[Delivery](ctx, c, &call{op: "test webhook", method: http.MethodPost, path: webhookPath(id, "test")}, opts)
}

// RecoverWebhook sends all events since a time that were not delivered,
// including those that occurred while the webhook was disabled. It needs the
// scope webhooks:write.
func (c *Client) RecoverWebhook(ctx context.Context, id string, since time.Time, opts ...CallOption) error {
	body := struct {
		Since time.Time `json:"since"`
	}{since}
	_, err := c.do(ctx, &call{op: "recover webhook", method: http.MethodPost, path: webhookPath(id, "recover"), body: body}, nil, opts...)
	return err
}

// WebhookStats returns the delivery statistics of a webhook. It needs the
// scope webhooks:read.
func (c *Client) WebhookStats(ctx context.Context, id string) (*WebhookStats, error) {
	return answered[WebhookStats](ctx, c, &call{op: "get webhook stats", method: http.MethodGet, path: webhookPath(id, "stats")}, nil)
}
