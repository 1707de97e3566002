package e2e

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

// stopwatch records the longest time that a request waited for its response,
// and how many had none.
type stopwatch struct {
	next http.RoundTripper

	mu      sync.Mutex
	slowest time.Duration
	mute    int
	// behind is how long the slowest answer took that waits for nothing: so
	// much does the machine add, which is busy with other tests.
	behind time.Duration
}

// control measures beside the requests how far behind the machine is, until end
// is called.
func (s *stopwatch) control(t *testing.T, n *node) (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		web := &http.Client{Transport: n.transport, Timeout: patience}
		for due := time.Now(); ; { // it is late from the time on at which it should be asked
			resp, err := web.Get(n.url + "/healthz")
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			s.mu.Lock()
			s.behind = max(s.behind, time.Since(due))
			s.mu.Unlock()
			select {
			case due = <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	end = sync.OnceFunc(func() {
		close(stop)
		<-ended
	})
	t.Cleanup(end)
	return end
}

// RoundTrip sends a request.
func (s *stopwatch) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	resp, err := s.next.RoundTrip(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slowest = max(s.slowest, time.Since(began))
	if err != nil {
		s.mute++
	}
	return resp, err
}

// dial returns the clients of applications on a node, with a timeout longer
// than the node's limit.
func (s *stopwatch) dial(n *node, apps []application) (clients []*client.Client) {
	s.next = keyless{n.transport}
	for _, a := range apps {
		clients = append(clients, n.as(a, client.WithHTTPClient(&http.Client{Transport: s, Timeout: longestWait + patience})))
	}
	return clients
}

// read says how slow the slowest was, and begins anew. Every request must have
// had its answer, and in time: each of the steps from its arrival over the two
// waits to its answer may come as late as an answer that waits for nothing.
func (s *stopwatch) read(tb testing.TB) (slowest time.Duration) {
	tb.Helper()
	const steps = 5
	s.mu.Lock()
	defer s.mu.Unlock()
	slowest, mute, behind := s.slowest, s.mute, s.behind
	s.slowest, s.mute, s.behind = 0, 0, 0
	if mute > 0 || slowest > longestWait+5*time.Second+steps*behind {
		tb.Errorf("%d requests had no answer; the slowest waited for %v, on a machine that is up to %v behind", mute, slowest, behind)
	}
	return slowest
}
