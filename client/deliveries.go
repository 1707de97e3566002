package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// The states of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryFailed    DeliveryStatus = "failed"
)

// Delivery is the delivery of one event to one webhook, with all its attempts.
type Delivery struct {
	ID           string         `json:"id"`
	EventID      string         `json:"event_id"` // also sent as the webhook-id header
	EventType    EventType      `json:"event_type"`
	Status       DeliveryStatus `json:"status"`
	AttemptCount int            `json:"attempt_count"`
	CreatedAt    time.Time      `json:"created_at"`
	// LastAttemptAt and NextAttemptAt are zero if there is no such attempt.
	LastAttemptAt time.Time `json:"last_attempt_at"`
	NextAttemptAt time.Time `json:"next_attempt_at"`
}

// DeliveryDetail is a delivery with its attempts and its payload.
type DeliveryDetail struct {
	Delivery
	Attempts []Attempt `json:"attempts"`
	// Payload is the exact body that was signed and sent.
	Payload json.RawMessage `json:"payload"`
}

// Attempt is one attempt to deliver an event.
type Attempt struct {
	At time.Time `json:"at"`
	// HTTPStatus is 0 if the receiver did not respond.
	HTTPStatus int `json:"http_status"`
	LatencyMS  int `json:"latency_ms"`
	// ResponseBody is the first KiB of the response.
	ResponseBody string `json:"response_body"`
	Error        string `json:"error"`
}

// DeliveryQuery selects deliveries. Zero fields use the service's defaults.
type DeliveryQuery struct {
	After     string // NextCursor of the previous page
	Limit     int    // up to 100
	Status    DeliveryStatus
	EventType EventType
}

// Deliveries returns one page of a webhook's delivery log, newest first.
// NextCursor is empty at the end. It needs the scope webhooks:read.
func (c *Client) Deliveries(ctx context.Context, webhookID string, query DeliveryQuery) (*CursorPage[Delivery], error) {
	q := url.Values{}
	for name, value := range map[string]string{"after": query.After, "status": string(query.Status), "event_type": string(query.EventType)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	setNumber(q, "limit", query.Limit)
	return answered[CursorPage[Delivery]](ctx, c, &call{op: "list deliveries", method: http.MethodGet, path: webhookPath(webhookID, "deliveries"), query: q}, nil)
}

// AllDeliveries yields all matching deliveries, newest first. It stops after
// the first error.
func (c *Client) AllDeliveries(ctx context.Context, webhookID string, query DeliveryQuery) iter.Seq2[Delivery, error] {
	if query.Limit == 0 {
		query.Limit = maxLimit
	}
	return func(yield func(Delivery, error) bool) {
		query := query
		for {
			page, err := c.Deliveries(ctx, webhookID, query)
			if err != nil {
				yield(Delivery{}, err)
				return
			}
			for _, delivery := range page.Data {
				if !yield(delivery, nil) {
					return
				}
			}
			if page.NextCursor == "" || page.NextCursor == query.After {
				return
			}
			query.After = page.NextCursor
		}
	}
}

// Delivery returns a delivery with its attempts. It needs the scope
// webhooks:read.
func (c *Client) Delivery(ctx context.Context, webhookID, deliveryID string) (*DeliveryDetail, error) {
	return answered[DeliveryDetail](ctx, c, &call{op: "get delivery", method: http.MethodGet, path: webhookPath(webhookID, "deliveries", deliveryID)}, nil)
}

// Redeliver sends the event of a delivery again, with the same webhook-id. It
// needs the scope webhooks:write.
func (c *Client) Redeliver(ctx context.Context, webhookID, deliveryID string, opts ...CallOption) (*Delivery, error) {
	return answered[Delivery](ctx, c, &call{op: "redeliver", method: http.MethodPost, path: webhookPath(webhookID, "deliveries", deliveryID, "redeliver")}, opts)
}
