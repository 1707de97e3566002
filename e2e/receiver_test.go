package e2e

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"anodyne.example/anodyne/client"
)

// receiver accepts the messages of one webhook and counts each.
type receiver struct {
	tb      testing.TB
	url     string
	webhook string
	secret  string
	mu      sync.Mutex
	arrived map[string]int // by event
	total   int
}

// newReceiver listens; register sets its secret.
func newReceiver(tb testing.TB) *receiver {
	tb.Helper()
	r := &receiver{tb: tb, arrived: map[string]int{}}
	server := httptest.NewServer(r)
	tb.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// ServeHTTP accepts a signed message with the event in its header.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	secret := r.secret
	r.mu.Unlock()
	event, err := client.ReadWebhook(request, secret)
	if err != nil {
		r.tb.Errorf("a message cannot be read: %v", err)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if named := request.Header.Get("webhook-id"); named != event.ID {
		r.tb.Errorf("the header names the event %s, the body %s", named, event.ID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived[event.ID]++
	r.total++
	w.WriteHeader(http.StatusNoContent)
}

// register has all new patients announced to the receiver.
func (r *receiver) register(c *client.Client) { r.registerFor(c, client.EventPatientCreated) }

// registerFor has other events announced to it.
func (r *receiver) registerFor(c *client.Client, events ...client.EventType) {
	r.tb.Helper()
	r.mu.Lock() // what arrives before the secret is known waits for it
	defer r.mu.Unlock()
	r.webhook, r.secret = subscribe(r.tb, c, r.url, events...)
}

// subscribe registers a webhook and returns its identifier and secret.
func subscribe(tb testing.TB, c *client.Client, url string, events ...client.EventType) (webhook, secret string) {
	tb.Helper()
	w, err := c.CreateWebhook(tb.Context(), client.NewWebhook{URL: url, Events: events})
	if err != nil {
		tb.Fatal(err)
	}
	return w.ID, w.Secret
}

// count returns the numbers of events and messages that have arrived.
func (r *receiver) count() (events, messages int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.arrived), r.total
}

// holds compares what arrived with the log: every event at least once, and
// nothing else. It returns the number of repeated messages.
func (r *receiver) holds(log map[string]string) (repeats int) {
	r.tb.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	missing, strange := 0, 0
	for event := range log {
		if r.arrived[event] == 0 {
			missing++
		}
	}
	for event := range r.arrived {
		if _, logged := log[event]; !logged {
			strange++
		}
	}
	if missing > 0 || strange > 0 {
		r.tb.Errorf("of %d events %d did not arrive; %d arrived that are not in the log", len(log), missing, strange)
	}
	return r.total - len(r.arrived)
}

// missing counts the events that have not arrived.
func (r *receiver) missing(events []string) (missing int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, event := range events {
		if r.arrived[event] == 0 {
			missing++
		}
	}
	return missing
}

// deadReceiver accepts connections and says nothing.
func deadReceiver(tb testing.TB) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var mu sync.Mutex
	var taken []net.Conn
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			taken = append(taken, conn)
			mu.Unlock()
		}
	})
	tb.Cleanup(func() {
		listener.Close()
		done.Wait()
		for _, conn := range taken {
			conn.Close()
		}
	})
	return "http://" + listener.Addr().String() + "/"
}
