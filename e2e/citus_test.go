//go:build citus

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// TestFaultWorkerKilled kills a worker of a Citus cluster under load. Requests of
// organisations on the other one never fail; those on the killed one get 503 until it
// is back. Nothing acknowledged is lost.
func TestFaultWorkerKilled(t *testing.T) {
	cluster := pgcluster.StartCitus(t)
	s := &service{t, storetest.Postgres, cluster.DSN(), t.TempDir()}
	s.must("migrate", "--distribute")
	n := s.node(0)
	hit, spared := spread(s, cluster)
	lost, kept := newLoad(newLedger(t), faulttest.Seed(t)), newLoad(newLedger(t), faulttest.Seed(t))
	lost.away = true
	onLost, onKept := dial(n, hit), dial(n, spared)
	for _, c := range append(onLost, onKept...) {
		if _, err := c.Token(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	endLost, endKept := lost.background(onLost), kept.background(onKept)
	for range faulttest.Rounds(t, 1) {
		lost.answered(t, 2*patience, 50)
		kept.answered(t, 2*patience, 50)
		cluster.Kill(1)
		_, err := onLost[0].Patients(t.Context(), client.PatientQuery{})
		if !client.IsCode(err, client.CodeServiceUnavailable) {
			t.Errorf("a list of an organisation on the killed worker: %v", err)
		} else {
			lost.away503(err)
		}
		eventually(t, patience, "readyz to say degraded", func() bool { return strings.Contains(page(t, n, "/readyz"), "degraded") })
		kept.answered(t, 2*patience, 100)
		cluster.Restart(1)
		lost.answered(t, 2*patience, 100)
		eventually(t, patience, "readyz to say ready", func() bool { return strings.Contains(page(t, n, "/readyz"), `"ready"`) })
	}
	endLost()
	endKept()
	lost.verifyAll(onLost)
	kept.verifyAll(onKept)
	n.terminate()
	s.check()
}

// spread makes clients of organisations on the first worker, and of others on
// the second.
func spread(s *service, cluster *pgcluster.Citus) (first, second []application) {
	s.tb.Helper()
	for i := 0; len(first) == 0 || len(second) == 0; i++ {
		name := fmt.Sprint("Hospital ", i)
		app := s.register("enterprise", "--organization", name)
		if cluster.Ask(`SELECT n.groupid FROM org o JOIN pg_dist_shard_placement p ON p.shardid = get_shard_id_for_distribution_column('patient', o.org_no)
			JOIN pg_dist_node n ON n.nodename = p.nodename AND n.nodeport = p.nodeport WHERE o.name = '`+name+`'`) == "1" {
			first = append(first, app)
		} else {
			second = append(second, app)
		}
	}
	return first, second
}

// page returns the body of a page that needs no token.
func page(t *testing.T, n *node, path string) string {
	t.Helper()
	resp, err := (&http.Client{Transport: n.transport, Timeout: patience}).Get(n.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
