package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"anodyne/client"
	"anodyne/internal/store/storetest"
)

// TestStopUnderLoad stops the service under 64 writers: whatever it has taken
// on, it answers.
func TestStopUnderLoad(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			s := newService(t, engine)
			n := s.node(0)
			apps := []application{s.register("enterprise"), s.register("enterprise")}
			all := newLoad(newLedger(t), seed(t))
			loaded := make(chan struct{})
			go func() {
				defer close(loaded)
				all.run(dial(n, apps), func() bool { return false })
			}()
			eventually(t, patience, "answers", func() bool { return all.answers.Load() >= 500 })
			if code := n.terminate(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			<-loaded

			n = s.node(0)
			clients := dial(n, apps)
			all.verifyStopped(clients)
			all.verifyAll(clients)
			n.terminate()
			s.check()
		})
	}
}

// TestStopEndsWaits: whoever waits for events is answered when the server stops.
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

// waitForEvents begins a wait of 30 seconds and returns when the server has it:
// it is counted. The channel has its end.
func waitForEvents(t *testing.T, c *client.Client, cursor string) <-chan error {
	t.Helper()
	before, asked := c.RateLimit().Remaining, int64(0)
	ended := make(chan error, 1)
	go func() {
		began := time.Now()
		_, err := c.Events(t.Context(), cursor, 0, 30*time.Second)
		if took := time.Since(began); err == nil && took > 20*time.Second {
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
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--shutdown-delay", "2s")
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
	if code := n.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
