package e2e

import (
	"sync"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/client"
)

const standardLimit = 1000

// spent is what became of a number of requests.
type spent struct{ passed, refused, lost atomic.Int64 }

// spend sends requests at the same time, over all clients in turn.
func spend(t *testing.T, clients []*client.Client, requests int) *spent {
	var s spent
	s.send(t, clients, requests)
	return &s
}

func (s *spent) send(t *testing.T, clients []*client.Client, requests int) {
	var group sync.WaitGroup
	for i := range requests {
		group.Go(func() { s.sendOne(t, clients[i%len(clients)]) })
	}
	group.Wait()
}

// sendOne sends one request, and notes what became of it.
func (s *spent) sendOne(t *testing.T, c *client.Client) {
	_, err := c.Patients(t.Context(), client.PatientQuery{Limit: 1})
	switch {
	case err == nil:
		s.passed.Add(1)
	case client.IsCode(err, client.CodeRateLimitExceeded):
		s.refused.Add(1)
	case isAnswer(err):
		t.Errorf("neither passed nor refused: %v", err)
	default:
		s.lost.Add(1)
	}
}

// standard registers a client with the standard allowance and returns its
// clients on the nodes, which share one token. The request for it is the first
// of the allowance.
func standard(t *testing.T, s *service, nodes []*node) (client.Option, []*client.Client) {
	t.Helper()
	app := s.register("standard")
	token, err := nodes[0].as(app).Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	opt := client.WithToken(token.AccessToken)
	return opt, each(nodes, opt)
}

// each gives a client for every node.
func each(nodes []*node, opts ...client.Option) (clients []*client.Client) {
	for _, n := range nodes {
		clients = append(clients, n.as(application{}, opts...))
	}
	return clients
}

// TestRateLimitIsExact: of limit+50 parallel requests 50 are refused.
func TestRateLimitIsExact(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *service, nodes []*node) {
		_, clients := standard(t, s, nodes)
		got := spend(t, clients, standardLimit-1+50)
		if got.passed.Load() != standardLimit-1 || got.refused.Load() != 50 {
			t.Errorf("%d passed and %d were refused, want %d and 50", got.passed.Load(), got.refused.Load(), standardLimit-1)
		}
		allUsedUp(t, clients)
	})
}

// TestRateLimitOutlivesRestart: a restart does not change the allowance.
func TestRateLimitOutlivesRestart(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *service, nodes []*node) {
		token, clients := standard(t, s, nodes)
		const before = 333
		if got := spend(t, clients, before); got.passed.Load() != before {
			t.Fatalf("%d of the first %d passed", got.passed.Load(), before)
		}
		reset := clients[0].RateLimit().Reset
		for _, n := range nodes {
			n.transport.CloseIdleConnections() // the server closes new ones after 5 s without a request
			n.signal()
		}
		for _, n := range nodes {
			if code := n.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		}
		clients = each(s.nodes(len(nodes)), token)
		got := spend(t, clients, standardLimit)
		if want := int64(standardLimit - 1 - before); got.passed.Load() != want {
			t.Errorf("%d passed after the restart, want %d", got.passed.Load(), want)
		}
		if again := clients[0].RateLimit().Reset; !again.Equal(reset) {
			t.Errorf("the window ends at %v, and did at %v before the restart", again, reset)
		}
	})
}

// TestFaultRateLimitOutlivesKill: a kill never lets more requests through, and
// costs at most the running requests and those reserved in advance.
func TestFaultRateLimitOutlivesKill(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *service, nodes []*node) {
		token, clients := standard(t, s, nodes)
		var total spent
		loaded := make(chan struct{})
		go func() {
			defer close(loaded)
			total.send(t, clients, 600)
		}()
		eventually(t, patience, "answers", func() bool { return total.passed.Load() >= 100 })
		nodes[0].kill()
		<-loaded
		nodes[0] = s.node(0)
		clients = each(nodes, token)
		total.send(t, clients, standardLimit+50)

		// SQLite reserves a fiftieth ahead, PostgreSQL nothing.
		const ahead = standardLimit / 50
		passed, lost := total.passed.Load(), total.lost.Load()
		if passed > standardLimit-1 || passed+lost+ahead < standardLimit-1 {
			t.Errorf("%d requests passed and %d lost their answer, of an allowance of %d", passed, lost, standardLimit-1)
		}
		t.Logf("%d passed, %d lost their answer", passed, lost)
		allUsedUp(t, clients)
	})
}

// allUsedUp sends one more request to every node, and compares what they
// report about the window.
func allUsedUp(t *testing.T, clients []*client.Client) {
	t.Helper()
	if got := spend(t, clients, len(clients)); got.passed.Load() != 0 {
		t.Errorf("%d requests passed after the last", got.passed.Load())
	}
	first := clients[0].RateLimit()
	if first.Limit != standardLimit || first.Remaining != 0 || first.Reset.IsZero() {
		t.Errorf("the headers say %+v after the last request", first)
	}
	for _, c := range clients[1:] {
		if c.RateLimit() != first {
			t.Errorf("one node says %+v, another %+v", first, c.RateLimit())
		}
	}
}
