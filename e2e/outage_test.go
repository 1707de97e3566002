package e2e

import (
	"net/http"
	"sync/atomic"
	"testing"

	"anodyne/client"
	"anodyne/internal/store/storetest"
	"anodyne/internal/store/storetest/pgcluster"
)

// TestDatabaseAway takes PostgreSQL away under load, in good order and by kill
// -9: requests are told to come again, the service recovers by itself, and
// nothing acknowledged is lost.
func TestDatabaseAway(t *testing.T) {
	cluster := pgcluster.Start(t)
	s := &service{t, storetest.Postgres, cluster.DSN(), t.TempDir()}
	n := s.node(0)
	apps := []application{s.register("enterprise"), s.register("enterprise"), s.register("enterprise")}
	clients := dial(n, apps)
	for _, c := range clients { // an outage must not be met by the token request
		if _, err := c.Token(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all := newLoad(newLedger(t), seed(t))
	all.away = true
	for _, away := range []func(){cluster.Stop, cluster.Kill} {
		var stop atomic.Bool
		loaded := make(chan struct{})
		go func() {
			defer close(loaded)
			all.run(clients, stop.Load)
		}()
		answered := func(more int64) {
			t.Helper()
			target := all.answers.Load() + more
			eventually(t, patience, "answers", func() bool { return all.answers.Load() >= target })
		}
		answered(200)
		away()
		eventually(t, patience, "readyz to say 503", func() bool { return status(t, n, "/readyz") == http.StatusServiceUnavailable })
		if got := status(t, n, "/healthz"); got != http.StatusOK {
			t.Errorf("healthz says %d without the database", got)
		}
		_, err := clients[0].Patients(t.Context(), client.PatientQuery{})
		if !client.IsCode(err, client.CodeServiceUnavailable) {
			t.Errorf("a list without the database: %v", err)
		} else {
			all.away503(err)
		}
		cluster.Restart()
		answered(200)
		stop.Store(true)
		<-loaded
		eventually(t, patience, "readyz to say 200", func() bool { return status(t, n, "/readyz") == http.StatusOK })
		all.verify(clients)
	}
	all.verifyAll(clients)
	n.terminate()
	s.check()
}

// status gives the status of a page that needs no token.
func status(t *testing.T, n *node, path string) int {
	t.Helper()
	resp, err := (&http.Client{Transport: n.transport, Timeout: patience}).Get(n.url + path)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
