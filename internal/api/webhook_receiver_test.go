package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/api/openapi/openapitest"
	"anodyne.example/anodyne/internal/testwait"
	"anodyne.example/anodyne/internal/webhook"
	"anodyne.example/anodyne/internal/worker"
)

// eachDelivering runs a test against a delivering service in development mode,
// on each engine, with a caller with a high limit.
func eachDelivering(t *testing.T, test func(t *testing.T, c *caller)) {
	t.Helper()
	eachWith(t, func(cfg *Config) {
		cfg.CheckWebhookURL = func(address string) error { return webhook.CheckURL(address, true) }
	}, func(t *testing.T, n *node) {
		sender, err := webhook.NewSender(webhook.Config{Dev: true})
		if err != nil {
			t.Fatal(err)
		}
		workers := worker.NewGroup(n.database.Log)
		workers.Start("webhooks", webhook.NewWorker(webhook.Delivery{
			Store: n.store, Send: sender.Send, Grace: 10 * time.Second, Now: n.clock.now, Log: n.database.Log,
		}).Run)
		t.Cleanup(func() {
			workers.Stop()
			sender.Close()
		})
		test(t, n.auditor(access.AllScopes))
	})
}

// received is a message as a receiver got it.
type received struct {
	header http.Header
	body   []byte
	event  client.Event
}

// receiver is a webhook receiver: it records what it gets, and responds as
// configured.
type receiver struct {
	tb      testing.TB
	url     string
	arrived chan received

	mu     sync.Mutex
	status int
	answer string
}

func newReceiver(tb testing.TB) *receiver {
	tb.Helper()
	r := &receiver{tb: tb, arrived: make(chan received, 1000), status: http.StatusOK, answer: "thank you"}
	server := httptest.NewServer(r)
	tb.Cleanup(server.Close)
	r.url = server.URL + "/in"
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		r.tb.Error(err)
	}
	got := received{header: request.Header, body: body}
	if err := json.Unmarshal(body, &got.event); err != nil {
		r.tb.Errorf("%v: %s", err, body)
	}
	openapitest.Delivered(r.tb, body)
	r.mu.Lock()
	status, answer := r.status, r.answer
	r.mu.Unlock()
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
	r.arrived <- got
}

// says sets what is answered from now on.
func (r *receiver) says(status int, answer string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.answer = status, answer
}

// next waits for a message.
func (r *receiver) next() received {
	r.tb.Helper()
	select {
	case got := <-r.arrived:
		return got
	case <-time.After(testwait.Bound):
		r.tb.Fatal("nothing arrived")
		return received{}
	}
}

// none says that nothing more has arrived.
func (r *receiver) none() {
	r.tb.Helper()
	select {
	case got := <-r.arrived:
		r.tb.Errorf("arrived: %s", got.body)
	default:
	}
}

// subscribe registers a receiver.
func (c *caller) subscribe(r *receiver, events ...string) (id, secret string) {
	c.tb.Helper()
	created := c.post("/v1/webhooks", quoteAny(map[string]any{"url": r.url, "events": events})).is(http.StatusCreated).json()
	return created["id"].(string), created["secret"].(string)
}

// settled waits until a delivery has this status, and returns it.
func (c *caller) settled(webhook, delivery, status string, attempts int) map[string]any {
	c.tb.Helper()
	var got map[string]any
	eventually(c.tb, "a delivery that is "+status, func() bool {
		got = c.get("/v1/webhooks/" + webhook + "/deliveries/" + delivery).is(http.StatusOK).json()
		return got["status"] == status && got["attempt_count"] == float64(attempts)
	})
	return got
}

// deliveryOf waits for the delivery of an event, and returns its identifier.
func (c *caller) deliveryOf(webhook, event string) (id string) {
	c.tb.Helper()
	eventually(c.tb, "the delivery of "+event, func() bool {
		for _, d := range c.get("/v1/webhooks/" + webhook + "/deliveries").data() {
			if d["event_id"] == event {
				id = d["id"].(string)
				return true
			}
		}
		return false
	})
	return id
}

// signed fails unless a message was signed by each of the secrets, and by none
// but those.
func (got received) signed(t *testing.T, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if err := client.VerifyWebhook(got.header, got.body, secret); err != nil {
			t.Errorf("%s: %v", got.event.ID, err)
		}
	}
	if count := len(bytes.Fields([]byte(got.header.Get("webhook-signature")))); count != len(secrets) {
		t.Errorf("%d signatures, want %d", count, len(secrets))
	}
	if got.header.Get("webhook-id") != got.event.ID {
		t.Errorf("webhook-id %s of %s", got.header.Get("webhook-id"), got.event.ID)
	}
}

// subjectOf is the patient that a message is about.
func subjectOf(t *testing.T, got received) string {
	t.Helper()
	return subject(unmarshalled(t, got.body))
}

// unmarshalled is a JSON object.
func unmarshalled(t *testing.T, body []byte) (object map[string]any) {
	t.Helper()
	if err := json.Unmarshal(body, &object); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return object
}
