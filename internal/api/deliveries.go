package api

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/webhooks"
	"anodyne.example/anodyne/internal/strictjson"
)

func (a *API) listDeliveries(x *exchange) (answer, error) {
	q := x.readQuery("after", "limit", "status", "event_type")
	wanted := webhooks.DeliveryQuery{Before: q.deliveryCursor("after"), Limit: int(q.limit())}
	if word := q.word("status", "", "pending", "delivered", "failed"); word != "" {
		status, _ := webhooks.ParseDeliveryStatus(word)
		wanted.Status = &status
	}
	wanted.EventType = q.deliveredType("event_type")
	if err := q.err(); err != nil {
		return answer{}, err
	}
	webhookID, err := x.webhookID()
	if err != nil {
		return answer{}, err
	}
	b, empty := append(x.buf, `{"data":[`...), len(x.buf)+len(`{"data":[`)
	next, err := x.org.Deliveries(x.ctx(), webhookID, wanted, func(d *webhooks.Delivery) {
		if len(b) > empty {
			b = append(b, ',')
		}
		b = append(appendDelivery(b, d), '}')
	})
	if err != nil {
		return answer{}, err
	}
	cursor := ""
	if !next.IsZero() {
		cursor = next.String()
	}
	x.buf = appendCursor(b, cursor)
	return answer{status: http.StatusOK, body: x.buf}, nil
}

// deliveryCursor parses the position in a delivery log. The cursor is the
// identifier of the last delivery on the previous page.
func (q *query) deliveryCursor(name string) (before id.Delivery) {
	text, given := q.text(name)
	if !given {
		return before
	}
	before, err := id.Parse[id.DeliveryKind](text)
	if err != nil {
		q.fields.Add(name, clip(text), name+" must be a next_cursor returned by this log.")
	}
	return before
}

// deliveredType parses the name of an event type that is delivered.
func (q *query) deliveredType(name string) event.Type {
	text, given := q.text(name)
	if !given {
		return ""
	}
	names := append(subscribable()[1:], string(event.Test))
	if !slices.Contains(names, text) {
		q.fields.Add(name, clip(text), name+" "+pain.WordProblem(text, names))
	}
	return event.Type(text)
}

func (a *API) getDelivery(x *exchange) (answer, error) {
	webhookID, err := x.onWebhook()
	if err != nil {
		return answer{}, err
	}
	deliveryID, err := x.deliveryID()
	if err != nil {
		return answer{}, err
	}
	d, err := x.org.Delivery(x.ctx(), webhookID, deliveryID)
	if err != nil {
		return answer{}, err
	}
	b := append(appendDelivery(x.buf, &d), `,"attempts":[`...)
	for i := range d.Attempts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendAttempt(b, &d.Attempts[i])
	}
	b = append(b, `],"payload":`...)
	b = append(b, d.Payload...)
	x.buf = append(b, '}')
	return answer{status: http.StatusOK, body: x.buf}, nil
}

func (a *API) redeliver(x *exchange) (answer, error) {
	webhookID, key, err := x.actOnWebhook()
	if err != nil {
		return answer{}, err
	}
	deliveryID, err := x.deliveryID()
	if err != nil {
		return answer{}, err
	}
	change := journal.Change{Audit: x.line(audit.WebhookRedeliver, webhookID.String())}
	change.Audit.Details = append(deliveryID.Append([]byte(`{"delivery":"`)), `"}`...)
	out, err := x.org.Redeliver(x.ctx(), webhookID, deliveryID, change, key, x.now, accepted)
	if err != nil {
		return answer{}, err
	}
	return x.outcome(out), nil
}

func (a *API) testWebhook(x *exchange) (answer, error) {
	webhookID, key, err := x.actOnWebhook()
	if err != nil {
		return answer{}, err
	}
	change := journal.Change{Audit: x.line(audit.WebhookTest, webhookID.String())}
	out, err := x.org.TestWebhook(x.ctx(), webhookID, event.ForTest(x.now, webhookID), change, key, accepted)
	if err != nil {
		return answer{}, err
	}
	return x.outcome(out), nil
}

// accepted is the outcome of a request to send a delivery.
func accepted(d *webhooks.Delivery) idempotency.Outcome {
	return idempotency.Outcome{Status: http.StatusAccepted, Body: append(appendDelivery(nil, d), '}')}
}

func (a *API) recoverWebhook(x *exchange) (answer, error) {
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	since, err := readSince(object, x.now)
	if err != nil {
		return answer{}, err
	}
	webhookID, err := x.webhookID()
	if err != nil {
		return answer{}, err
	}
	x.buf = webhookID.Append(append(x.buf, `{"webhook_id":"`...))
	x.buf = append(x.buf, `","since":"`...)
	x.buf = append(x.buf, pain.Moment(since)...)
	x.buf = append(x.buf, `"}`...)
	change := journal.Change{Audit: x.line(audit.WebhookRecover, webhookID.String())}
	change.Audit.Details = []byte(`{"since":"` + pain.Moment(since) + `"}`)
	out, err := x.org.RecoverWebhook(x.ctx(), webhookID, since, change, key, x.now, idempotency.Outcome{Status: http.StatusAccepted, Body: x.buf})
	if err != nil {
		return answer{}, err
	}
	return x.outcome(out), nil
}

// readSince parses the time from which to send events again. Events older than
// the delivery log cannot be recovered, so the response gives the time that
// applies.
func readSince(object *strictjson.Object, now time.Time) (since time.Time, err error) {
	var fields fault.Fields
	r := strictjson.Read(object, &fields)
	if text, ok := r.Required("since"); ok {
		since, _ = pain.ReadMoment(&r, "since", text, now)
	}
	r.Done()
	if oldest := now.Add(-webhooks.DeliveriesKept); since.Before(oldest) {
		since = oldest
	}
	return since.UTC().Truncate(time.Millisecond), fields.Err()
}

// appendDelivery appends the fields of a delivery and leaves the object open.
func appendDelivery(b []byte, d *webhooks.Delivery) []byte {
	b = append(b, `{"id":"`...)
	b = d.ID.Append(b)
	b = append(b, `","event_id":"`...)
	b = d.Event.Append(b)
	b = append(b, `","event_type":"`...)
	b = append(b, d.EventType...)
	b = append(b, `","status":"`...)
	b = append(b, d.Status.String()...)
	b = append(b, `","attempt_count":`...)
	b = strconv.AppendInt(b, int64(len(d.Attempts)), 10)
	b = appendTime(append(b, `,"created_at":`...), d.CreatedAt)
	var last time.Time
	if n := len(d.Attempts); n > 0 {
		last = d.Attempts[n-1].At
	}
	b = appendTime(append(b, `,"last_attempt_at":`...), last)
	return appendTime(append(b, `,"next_attempt_at":`...), d.NextAttemptAt)
}

func appendAttempt(b []byte, a *webhooks.Attempt) []byte {
	b = appendTime(append(b, `{"at":`...), a.At)
	b = append(b, `,"http_status":`...)
	if a.Status == 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, int64(a.Status), 10)
	}
	b = append(b, `,"latency_ms":`...)
	b = strconv.AppendInt(b, a.Latency.Milliseconds(), 10)
	b = strictjson.AppendString(append(b, `,"response_body":`...), a.Answer)
	b = strictjson.AppendString(append(b, `,"error":`...), a.Error)
	return append(b, '}')
}

// appendTime appends a time in whole seconds, or null if it is zero.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	b = t.UTC().AppendFormat(append(b, '"'), time.RFC3339)
	return append(b, '"')
}
