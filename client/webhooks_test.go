package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

const (
	hook = `{"id":"whk_1","url":"https://a.example/in","events":["patient.created","system.alert"],"description":"d","status":"disabled",
		"disabled_reason":"410","created_at":"2026-01-15T10:30:00Z","secret":"whsec_1","previous_secret_expires_at":"2026-01-16T10:30:00Z","added_later":1}`
	delivery = `{"id":"dlv_1","event_id":"evt_1","event_type":"patient.created","status":"pending","attempt_count":2,"created_at":"2026-01-15T10:30:00Z",
		"last_attempt_at":"2026-01-15T10:30:05Z","next_attempt_at":null,"attempts":[
		{"at":"2026-01-15T10:30:00Z","http_status":null,"latency_ms":15000,"response_body":"","error":"no answer"},
		{"at":"2026-01-15T10:30:05Z","http_status":502,"latency_ms":7,"response_body":"bad","error":"the receiver answered 502"}],
		"payload":{"id":"evt_1"},"added_later":1}`
	stats = `{"webhook_id":"whk_1","window_hours":24,"succeeded":3,"failed":1,"success_rate":0.75,"latency_ms":{"p50":4,"p95":9.5},
		"last_failure":{"at":"2026-01-15T10:30:05Z","error":"no answer"},"backlog":2}`
)

var (
	wantHook   = client.Webhook{ID: "whk_1", URL: "https://a.example/in", Events: []client.EventType{client.EventPatientCreated, client.EventSystemAlert}, Description: "d", Status: client.WebhookDisabled, DisabledReason: "410", CreatedAt: halfPast}
	wantSecret = client.WebhookWithSecret{Webhook: wantHook, Secret: "whsec_1", PreviousSecretExpiresAt: halfPast.AddDate(0, 0, 1)}

	wantDelivery = client.Delivery{ID: "dlv_1", EventID: "evt_1", EventType: client.EventPatientCreated, Status: client.DeliveryPending, AttemptCount: 2,
		CreatedAt: halfPast, LastAttemptAt: halfPast.Add(5 * time.Second)}
)

func TestWebhookCalls(t *testing.T) {
	rate := 0.75
	checkCalls(t, []call{
		{"create", func(ctx context.Context, c *client.Client) (any, error) {
			return value(c.CreateWebhook(ctx, client.NewWebhook{URL: "https://a.example/in", Events: []client.EventType{client.EventAll}}))
		}, "POST /v1/webhooks", `{"url":"https://a.example/in","events":["*"]}`, hook, wantSecret},
		{"get", func(ctx context.Context, c *client.Client) (any, error) { return value(c.Webhook(ctx, "a/b")) },
			"GET /v1/webhooks/a%2Fb", "", hook, wantHook},
		{"list", func(ctx context.Context, c *client.Client) (any, error) { return value(c.Webhooks(ctx, 2, 10)) },
			"GET /v1/webhooks?limit=10&page=2", "", `{"data":[` + hook + `],"pagination":{"page":2,"limit":10,"total":11}}`,
			client.Page[client.Webhook]{Data: []client.Webhook{wantHook}, Pagination: client.Pagination{Page: 2, Limit: 10, Total: 11}}},
		{"update", func(ctx context.Context, c *client.Client) (any, error) {
			return value(c.UpdateWebhook(ctx, "whk_1", client.WebhookPatch{Events: client.Set([]client.EventType{client.EventAll}), Description: client.Null[string](), Status: client.Set(client.WebhookEnabled)}))
		}, "PATCH /v1/webhooks/whk_1", `{"events":["*"],"description":null,"status":"enabled"}`, hook, wantHook},
		{"delete", func(ctx context.Context, c *client.Client) (any, error) { return nil, c.DeleteWebhook(ctx, "whk_1") },
			"DELETE /v1/webhooks/whk_1", "", "", nil},
		{"rotate", func(ctx context.Context, c *client.Client) (any, error) {
			return value(c.RotateWebhookSecret(ctx, "whk_1"))
		},
			"POST /v1/webhooks/whk_1/rotate-secret", "", hook, wantSecret},
		{"test", func(ctx context.Context, c *client.Client) (any, error) { return value(c.TestWebhook(ctx, "whk_1")) },
			"POST /v1/webhooks/whk_1/test", "", delivery, wantDelivery},
		{"recover", func(ctx context.Context, c *client.Client) (any, error) {
			return nil, c.RecoverWebhook(ctx, "whk_1", halfPast)
		},
			"POST /v1/webhooks/whk_1/recover", `{"since":"2026-01-15T10:30:00Z"}`, `{}`, nil},
		{"stats", func(ctx context.Context, c *client.Client) (any, error) {
			s, err := c.WebhookStats(ctx, "whk_1")
			if err == nil && (s.LatencyMS == nil || s.LatencyMS.P50 != 4 || s.LatencyMS.P95 != 9.5) {
				t.Errorf("latency %+v", s.LatencyMS)
			}
			if err == nil {
				s.LatencyMS = nil
			}
			return value(s, err)
		}, "GET /v1/webhooks/whk_1/stats", "", stats, client.WebhookStats{WebhookID: "whk_1", WindowHours: 24, Succeeded: 3, Failed: 1, SuccessRate: &rate,
			LastFailure: &client.WebhookFailure{At: halfPast.Add(5 * time.Second), Error: "no answer"}, Backlog: 2}},
		{"stats of nothing", func(ctx context.Context, c *client.Client) (any, error) { return value(c.WebhookStats(ctx, "whk_1")) },
			"GET /v1/webhooks/whk_1/stats", "", `{"webhook_id":"whk_1","window_hours":24,"success_rate":null,"latency_ms":null,"last_failure":null,"backlog":0}`,
			client.WebhookStats{WebhookID: "whk_1", WindowHours: 24}},
		{"deliveries", func(ctx context.Context, c *client.Client) (any, error) {
			return value(c.Deliveries(ctx, "whk_1", client.DeliveryQuery{After: "c=1", Limit: 5, Status: client.DeliveryFailed, EventType: client.EventWebhookTest}))
		}, "GET /v1/webhooks/whk_1/deliveries?after=c%3D1&event_type=webhook.test&limit=5&status=failed", "", `{"data":[` + delivery + `],"next_cursor":"c2"}`,
			client.CursorPage[client.Delivery]{Data: []client.Delivery{wantDelivery}, NextCursor: "c2"}},
		{"delivery", func(ctx context.Context, c *client.Client) (any, error) {
			return value(c.Delivery(ctx, "whk_1", "dlv_1"))
		},
			"GET /v1/webhooks/whk_1/deliveries/dlv_1", "", delivery, client.DeliveryDetail{Delivery: wantDelivery, Payload: []byte(`{"id":"evt_1"}`), Attempts: []client.Attempt{
				{At: halfPast, LatencyMS: 15000, Error: "no answer"},
				{At: halfPast.Add(5 * time.Second), HTTPStatus: 502, LatencyMS: 7, ResponseBody: "bad", Error: "the receiver answered 502"}}}},
		{"redeliver", func(ctx context.Context, c *client.Client) (any, error) {
			return value(c.Redeliver(ctx, "whk_1", "dlv_1"))
		},
			"POST /v1/webhooks/whk_1/deliveries/dlv_1/redeliver", "", delivery, wantDelivery},
	})
}

func TestRefusedWebhook(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusConflict, client.CodeConflict, map[string]any{"status": "disabled"})
	})
	if got, err := c.TestWebhook(t.Context(), "whk_1"); got != nil || !client.IsCode(err, client.CodeConflict) {
		t.Errorf("%v, %v", got, err)
	}
	if err := c.DeleteWebhook(t.Context(), "whk_1"); !client.IsCode(err, client.CodeConflict) {
		t.Errorf("%v", err)
	}
	if err := c.DeleteWebhook(t.Context(), ""); err == nil {
		t.Error("an empty identifier was sent")
	}
}

func TestAllDeliveries(t *testing.T) {
	for name, last := range map[string]func(http.ResponseWriter){
		"to the end": func(w http.ResponseWriter) {
			answer(w, http.StatusOK, client.CursorPage[client.Delivery]{Data: []client.Delivery{{ID: "dlv_3"}}})
		},
		"to an error": func(w http.ResponseWriter) { refuse(w, http.StatusForbidden, client.CodeForbidden, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.RawQuery)
				switch r.FormValue("after") {
				case "":
					answer(w, http.StatusOK, client.CursorPage[client.Delivery]{Data: []client.Delivery{{ID: "dlv_1"}}, NextCursor: "a"})
				case "a": // a filter may leave nothing of a stretch
					answer(w, http.StatusOK, client.CursorPage[client.Delivery]{Data: []client.Delivery{}, NextCursor: "b"})
				default:
					last(w)
				}
			})
			var got []string
			all := c.AllDeliveries(t.Context(), "whk_1", client.DeliveryQuery{Status: client.DeliveryFailed})
			for range 2 { // a sequence can be walked again
				got, asked = nil, nil
				for d, err := range all {
					e, _ := errors.AsType[*client.Error](err)
					got = append(got, fmt.Sprint(d.ID, e != nil))
				}
			}
			want := map[string][]string{"to the end": {"dlv_1false", "dlv_3false"}, "to an error": {"dlv_1false", "true"}}[name]
			if !slices.Equal(got, want) || !slices.Equal(asked, []string{"limit=100&status=failed", "after=a&limit=100&status=failed", "after=b&limit=100&status=failed"}) {
				t.Errorf("got %v by %v, want %v", got, asked, want)
			}
			for range all {
				break // a walk that ends early asks no more
			}
		})
	}
}

func TestAllWebhooks(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, client.Page[client.Webhook]{Data: []client.Webhook{{ID: "whk_" + r.FormValue("page")}}, Pagination: client.Pagination{Limit: 1, Total: 3}})
	})
	var got []string
	for w, err := range c.AllWebhooks(t.Context()) {
		got = append(got, fmt.Sprint(w.ID, err))
	}
	if want := []string{"whk_1<nil>", "whk_2<nil>", "whk_3<nil>"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
