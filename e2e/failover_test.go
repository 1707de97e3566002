package e2e

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// TestFaultFailover kills the primary of two PostgreSQL servers under the load
// of three nodes and promotes the standby: the nodes go on by themselves, and
// nothing that was acknowledged is lost. Commands work before and after with
// the address that names both servers.
func TestFaultFailover(t *testing.T) {
	t.Parallel()
	primary := pgcluster.Start(t)
	standby := primary.Replica()
	s := &service{t, storetest.Postgres, primary.DSNWith(standby), t.TempDir()}
	nodes := s.nodes(3)
	apps := []application{s.register("enterprise"), s.register("enterprise"), s.register("enterprise")}
	clients := newBalancer(nodes...).paced(2*time.Millisecond).dial(s, apps)
	all := newLoad(newLedger(t), faulttest.Seed(t))
	all.away = true

	end := all.background(clients)
	all.answered(t, patience, 500)
	primary.Kill()
	for _, n := range nodes {
		eventually(t, patience, "readyz to say 503", func() bool { return status(t, n, "/readyz") == http.StatusServiceUnavailable })
	}
	standby.Promote()
	promoted := time.Now()
	var back time.Duration
	for _, n := range nodes {
		c := n.as(apps[0])
		eventually(t, patience, "every node goes on", func() bool { _, err := c.Patients(t.Context(), client.PatientQuery{Limit: 1}); return err == nil })
		back = max(back, time.Since(promoted))
	}
	all.answered(t, patience, 500)
	written := time.Since(promoted)
	end()
	all.verifyAll(clients)
	t.Logf("the last node read %v after the promotion, 500 more answers were given after %v; %d answers, %d patients",
		back.Round(time.Millisecond), written.Round(time.Millisecond), all.answers.Load(), len(all.records))

	s.register("standard")
	s.must("backup", filepath.Join(s.dir, "after.backup"))
	for _, n := range nodes {
		if code := n.terminate(); code != 0 {
			t.Errorf("exit code %d after SIGTERM", code)
		}
	}
	s.check()
}
