package e2e

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
)

// hook is a receiver that verifies messages with the secrets it knows.
type hook struct {
	tb      testing.TB
	url     string
	arrived chan client.Event

	mu      sync.Mutex
	secrets []string
	status  int
}

func newHook(tb testing.TB) *hook {
	tb.Helper()
	h := &hook{tb: tb, arrived: make(chan client.Event, 100), status: http.StatusNoContent}
	server := httptest.NewServer(h)
	tb.Cleanup(server.Close)
	h.url = server.URL + "/anodyne"
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	secrets, status := slices.Clone(h.secrets), h.status
	h.mu.Unlock()
	event, err := client.ReadWebhook(r, secrets...)
	if err != nil {
		h.tb.Error(err)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if event.ID != r.Header.Get("webhook-id") {
		h.tb.Errorf("webhook-id %s of %s", r.Header.Get("webhook-id"), event.ID)
	}
	w.WriteHeader(status)
	h.arrived <- *event
}

// set changes how the receiver answers and what it trusts.
func (h *hook) set(status int, secrets ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status, h.secrets = status, secrets
}

// next waits for an event.
func (h *hook) next() client.Event {
	h.tb.Helper()
	select {
	case event := <-h.arrived:
		return event
	case <-time.After(patience):
		h.tb.Fatal("nothing arrived")
		return client.Event{}
	}
}

// TestWebhookFlow registers a webhook, and follows events to it: over all nodes of
// a service, through a redelivery, a rotation, and a receiver that is gone and
// comes back.
func TestWebhookFlow(t *testing.T) {
	t.Parallel()
	for engine, count := range map[string]int{storetest.SQLite: 1, storetest.Postgres: 3} {
		t.Run(engine, func(t *testing.T) {
			s := newService(t, engine)
			nodes := make([]*node, count)
			for i := range nodes {
				nodes[i] = s.node(i, "--dev")
			}
			app := s.register("enterprise")
			at := func(i int) *client.Client { return nodes[i%count].as(app) }
			ctx, h := t.Context(), newHook(t)

			w, err := at(0).CreateWebhook(ctx, client.NewWebhook{URL: h.url, Events: []client.EventType{client.EventPatientCreated}})
			if err != nil {
				t.Fatal(err)
			}
			h.set(http.StatusNoContent, w.Secret)
			began := time.Now()
			patient := add(t, at(1), "Ada")
			first := h.next()
			if first.Type != client.EventPatientCreated || string(first.Data) != `{"patient_id":"`+patient+`"}` {
				t.Errorf("%+v", first)
			}

			sent := settle(t, at(2), w.ID, first.ID, client.DeliveryDelivered, 1)
			if a := sent.Attempts[0]; a.HTTPStatus != http.StatusNoContent || a.Error != "" {
				t.Errorf("%+v", a)
			}
			if _, err := at(1).Redeliver(ctx, w.ID, sent.ID); err != nil {
				t.Fatal(err)
			}
			if again := h.next(); again.ID != first.ID {
				t.Errorf("redelivered %s, want %s", again.ID, first.ID)
			}
			settle(t, at(0), w.ID, first.ID, client.DeliveryDelivered, 2)

			// While a secret is changed either of the two verifies.
			rotated, err := at(2).RotateWebhookSecret(ctx, w.ID)
			if err != nil || rotated.Secret == w.Secret {
				t.Fatal(rotated, err)
			}
			for _, secret := range []string{w.Secret, rotated.Secret} {
				h.set(http.StatusNoContent, secret)
				if _, err := at(0).TestWebhook(ctx, w.ID); err != nil {
					t.Fatal(err)
				}
				if event := h.next(); event.Type != client.EventWebhookTest {
					t.Errorf("%+v", event)
				}
			}

			h.set(http.StatusGone, rotated.Secret)
			missed := []string{add(t, at(1), "Bo")}
			h.next()
			eventually(t, patience, "a webhook that is disabled", func() bool {
				now, err := at(2).Webhook(ctx, w.ID)
				if err != nil {
					t.Fatal(err)
				}
				return now.Status == client.WebhookDisabled && now.DisabledReason == "gone"
			})
			if _, err := at(0).TestWebhook(ctx, w.ID); !client.IsCode(err, client.CodeConflict) {
				t.Errorf("a test of a disabled webhook: %v", err)
			}
			missed = append(missed, add(t, at(2), "Cleo"))

			h.set(http.StatusNoContent, rotated.Secret)
			if _, err := at(1).UpdateWebhook(ctx, w.ID, client.WebhookPatch{Status: client.Set(client.WebhookEnabled)}); err != nil {
				t.Fatal(err)
			}
			if err := at(2).RecoverWebhook(ctx, w.ID, began); err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for len(got) < len(missed) {
				got[string(h.next().Data)] = true
			}
			for _, patient := range missed {
				if !got[`{"patient_id":"`+patient+`"}`] {
					t.Errorf("%s was missed; recovered %v", patient, got)
				}
			}
			if err := at(0).DeleteWebhook(ctx, w.ID); err != nil {
				t.Fatal(err)
			}
			s.check()
		})
	}
}

// settle waits until the delivery of an event has a status and this many
// attempts, and returns it.
func settle(t *testing.T, c *client.Client, webhook, event string, status client.DeliveryStatus, attempts int) (found *client.DeliveryDetail) {
	t.Helper()
	eventually(t, patience, "the delivery is "+string(status), func() bool {
		for d, err := range c.AllDeliveries(t.Context(), webhook, client.DeliveryQuery{EventType: client.EventPatientCreated}) {
			if err != nil {
				t.Fatal(err)
			}
			if d.EventID != event || d.Status != status || d.AttemptCount != attempts {
				continue
			}
			if found, err = c.Delivery(t.Context(), webhook, d.ID); err != nil {
				t.Fatal(err)
			}
			return true
		}
		return false
	})
	return found
}
