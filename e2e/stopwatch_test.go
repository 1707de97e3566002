package e2e

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"anodyne/client"
)

// stopwatch knows how long the slowest request waited for its answer, and how
// many had none.
type stopwatch struct {
	next http.RoundTripper

	mu      sync.Mutex
	slowest time.Duration
	mute    int
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

// dial gives the clients of applications on a node, which wait for longer than
// the node may keep them waiting.
func (s *stopwatch) dial(n *node, apps []application) (clients []*client.Client) {
	s.next = keyless{n.transport}
	for _, a := range apps {
		clients = append(clients, n.as(a, client.WithHTTPClient(&http.Client{Transport: s, Timeout: 2 * longestWait})))
	}
	return clients
}

// read says how slow the slowest was, and begins anew. Every request must have
// had its answer, and in time.
func (s *stopwatch) read(tb testing.TB) (slowest time.Duration) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	slowest, mute := s.slowest, s.mute
	s.slowest, s.mute = 0, 0
	if mute > 0 || slowest > longestWait+5*time.Second {
		tb.Errorf("%d requests had no answer; the slowest waited for %v", mute, slowest)
	}
	return slowest
}
