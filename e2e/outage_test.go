package e2e

import (
	"net/http"
	"testing"
	"time"

	"anodyne/client"
	"anodyne/internal/store/storetest"
	"anodyne/internal/store/storetest/pgcluster"
)

// outage is a way in which PostgreSQL goes away, and comes back.
type outage struct {
	name string
	away func() (back func())
}

// TestFaultDatabaseAway takes PostgreSQL away under load: in good order, by
// kill -9, and by letting it hang.
func TestFaultDatabaseAway(t *testing.T) {
	t.Parallel()
	cluster := pgcluster.Start(t)
	outages(t, cluster.DSN(),
		outage{"stopped", func() func() { cluster.Stop(); return cluster.Restart }},
		outage{"killed", func() func() { cluster.Kill(); return cluster.Restart }},
		outage{"paused", cluster.Pause})
}

// TestFaultCutOff lets the network to PostgreSQL lose everything.
func TestFaultCutOff(t *testing.T) {
	t.Parallel()
	hole := newHole(t, pgcluster.Start(t).DSN())
	outages(t, hole.dsn, outage{"cut off", func() func() { hole.open(); return hole.close }})
}

// outages takes a database away under load: requests are told to come again,
// the service recovers by itself, and nothing acknowledged is lost.
func outages(t *testing.T, dsn string, list ...outage) {
	s := &service{t, storetest.Postgres, dsn, t.TempDir()}
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
	for _, fault := range list {
		began := time.Now()
		end := all.background(clients)
		all.answered(t, 2*patience, 200)
		back := fault.away()
		eventually(t, patience, fault.name+": readyz to say 503", func() bool { return status(t, n, "/readyz") == http.StatusServiceUnavailable })
		if got := status(t, n, "/healthz"); got != http.StatusOK {
			t.Errorf("%s: healthz says %d without the database", fault.name, got)
		}
		// The longest wait there is ends before this client's does.
		token, err := clients[0].Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		slow := n.as(apps[0], client.WithHTTPClient(&http.Client{Transport: n.transport, Timeout: 2 * patience}), client.WithToken(token.AccessToken))
		if _, err := slow.Patients(t.Context(), client.PatientQuery{}); !client.IsCode(err, client.CodeServiceUnavailable) {
			t.Errorf("%s: a list without the database: %v", fault.name, err)
		} else {
			all.away503(err)
		}
		away := time.Since(began)
		back()
		all.answered(t, 2*patience, 200)
		end()
		eventually(t, patience, fault.name+": readyz to say 200", func() bool { return status(t, n, "/readyz") == http.StatusOK })
		t.Logf("%s: 503 after %v, well after %v", fault.name, away.Round(time.Second/10), time.Since(began).Round(time.Second/10))
		all.verify(clients)
	}
	all.verifyAll(clients)
	n.terminate()
	s.check()
}

// TestFaultSessionKilled kills a session of PostgreSQL, which then throws all
// others out and recovers: to the service a moment without a database.
func TestFaultSessionKilled(t *testing.T) {
	t.Parallel()
	cluster := pgcluster.Start(t)
	s := &service{t, storetest.Postgres, cluster.DSN(), t.TempDir()}
	n := s.node(0)
	apps := []application{s.register("enterprise")}
	clients := dial(n, apps)
	all := newLoad(newLedger(t), seed(t))
	all.away = true
	end := all.background(clients)
	for range 3 {
		all.answered(t, 2*patience, 100)
		cluster.Crash()
	}
	all.answered(t, 2*patience, 100)
	end()
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
