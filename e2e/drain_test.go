package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestFaultStop stops the service under the load of TestFaultKill, with
// persistent connections and webhooks in progress: it responds to everything
// it has accepted, and an application gets exactly its allowance.
func TestFaultStop(t *testing.T) {
	t.Parallel()
	needsLoad(t)
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			newTrial(t, engine, faulttest.Rounds(t, 2), true).run()
		})
	}
}

// TestStopEndsWaits: requests waiting for events get a response when the
// server stops.
func TestStopEndsWaits(t *testing.T) {
	s := newService(t, storetest.SQLite)
	n := s.node(0)
	c := n.as(s.register("standard"))
	page, err := c.Events(t.Context(), "", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	waited := waitForEvents(t, c, page.NextCursor)

	n.signal()
	n.await("stopping;")
	if err := <-waited; err != nil {
		t.Errorf("a wait for events was not answered: %v", err)
	}
	if code := n.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// waitForEvents starts a wait of 30 seconds and returns once the server has
// counted it. The channel receives its end, which is an error if the wait
// timed out.
func waitForEvents(t *testing.T, c *client.Client, cursor string) <-chan error {
	t.Helper()
	before, asked := c.RateLimit().Remaining, int64(0)
	ended := make(chan error, 1)
	go func() {
		const wait = 30 * time.Second
		began := time.Now()
		_, err := c.Events(t.Context(), cursor, 0, wait)
		if took := time.Since(began); err == nil && took >= wait {
			err = fmt.Errorf("only after %v", took)
		}
		ended <- err
	}()
	eventually(t, patience, "the wait to be counted", func() bool {
		asked++
		if _, err := c.Patients(t.Context(), client.PatientQuery{}); err != nil {
			t.Fatal(err)
		}
		return c.RateLimit().Remaining == before-asked-1
	})
	return ended
}

// TestStopTellsLoadBalancers: during --shutdown-delay requests are still
// answered, and /readyz says that no more should come.
func TestStopTellsLoadBalancers(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--shutdown-delay", (2 * patience).String()) // it does not end while the test is at it
	c := n.as(s.register("standard"))
	n.signal()
	n.await("stopping;")
	web := &http.Client{Transport: newTransport(t)}
	answer, err := web.Get(n.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Errorf("/readyz answers %d, Retry-After %q", answer.StatusCode, answer.Header.Get("Retry-After"))
	}
	if _, err := c.Patients(t.Context(), client.PatientQuery{}); err != nil {
		t.Errorf("a request during the delay: %v", err)
	}
	n.kill()

	n = s.node(0, "--shutdown-delay", "1ms")
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
