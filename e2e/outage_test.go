package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// outage is a way in which PostgreSQL goes away, and comes back.
type outage struct {
	name string
	away func() (back func())
	// lasts is how long it is away at least.
	lasts time.Duration
}

// Waits for PostgreSQL, by decision 28: for the answer to a statement, and that
// of a request, which waits for a connection first.
const (
	statementWait = 35 * time.Second
	longestWait   = 10*time.Second + statementWait
)

// TestFaultDatabaseAway takes PostgreSQL away under load: in good order, and by
// kill -9.
func TestFaultDatabaseAway(t *testing.T) {
	t.Parallel()
	cluster := pgcluster.Start(t)
	outages(t, cluster.DSN(),
		outage{name: "stopped", away: func() func() { cluster.Stop(); return cluster.Restart }},
		outage{name: "killed", away: func() func() { cluster.Kill(); return cluster.Restart }})
}

// TestFaultDatabaseHangs lets PostgreSQL hang for longer than any statement is
// waited for, so that every wait there is comes to its end.
func TestFaultDatabaseHangs(t *testing.T) {
	t.Parallel()
	cluster := pgcluster.Start(t)
	outages(t, cluster.DSN(), outage{name: "paused", away: cluster.Pause, lasts: statementWait + time.Second})
}

// TestFaultDatabaseDiskFull fills the disk with all of PostgreSQL, including
// its write-ahead log: PostgreSQL rejects writes without room, and stops when
// it cannot continue its log. Once there is room and PostgreSQL is started
// again, the service recovers by itself.
func TestFaultDatabaseDiskFull(t *testing.T) {
	t.Parallel()
	dir := storetest.Tmpfs(t, "512m")
	cluster := pgcluster.StartIn(t, dir)
	s := &service{t, storetest.Postgres, cluster.DSN(), ""}
	// No file of the log is used again, as it would be after a checkpoint.
	for _, setting := range []string{"max_wal_size = '4GB'", "min_wal_size = '32MB'", "checkpoint_timeout = '1h'"} {
		s.exec("ALTER SYSTEM SET " + setting)
	}
	cluster.Restart()
	outages(t, cluster.DSN(), outage{name: "disk full", away: func() func() {
		free := storetest.Fill(t, dir)
		useUpLog(t, cluster)
		return func() { free(); cluster.Restart() }
	}})
}

// useUpLog switches PostgreSQL to the next file of its log until there is no
// room for one.
func useUpLog(t *testing.T, cluster *pgcluster.Cluster) {
	t.Helper()
	eventually(t, 2*patience, "PostgreSQL to end for want of space", func() bool {
		if conn, err := pgx.Connect(t.Context(), cluster.DSN()); err == nil {
			_, _ = conn.Exec(t.Context(), `SELECT pg_logical_emit_message(true, 'test', 'something'), pg_switch_wal()`) // the last of them fails
			_ = conn.Close(t.Context())
		}
		return cluster.Ended()
	})
}

// TestFaultCutOff lets the network to PostgreSQL lose everything.
func TestFaultCutOff(t *testing.T) {
	t.Parallel()
	hole := newHole(t, pgcluster.Start(t).DSN())
	outages(t, hole.dsn, outage{name: "cut off", away: func() func() { hole.open(); return hole.close }})
}

// outages makes a database unavailable under load: requests fail with 503 in
// bounded time, the service recovers by itself, and nothing acknowledged is
// lost.
func outages(t *testing.T, dsn string, list ...outage) {
	s := &service{t, storetest.Postgres, dsn, t.TempDir()}
	n := s.node(0)
	apps := []application{s.register("enterprise"), s.register("enterprise"), s.register("enterprise")}
	var watch stopwatch
	clients := watch.dial(n, apps)
	for _, c := range clients { // an outage must not be met by the token request
		if _, err := c.Token(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all := newLoad(newLedger(t), faulttest.Seed(t))
	all.away = true
	for round := range faulttest.Rounds(t, len(list)) {
		fault := list[round%len(list)]
		end, calm := all.background(clients), watch.control(t, n)
		all.answered(t, 2*patience, 200)
		began := time.Now()
		back := fault.away()
		lasted := time.After(fault.lasts)
		eventually(t, patience, fault.name+": readyz to say 503", func() bool { return status(t, n, "/readyz") == http.StatusServiceUnavailable })
		if got := status(t, n, "/healthz"); got != http.StatusOK {
			t.Errorf("%s: healthz says %d without the database", fault.name, got)
		}
		if _, err := clients[0].Patients(t.Context(), client.PatientQuery{}); !client.IsCode(err, client.CodeServiceUnavailable) {
			t.Errorf("%s: a list without the database: %v", fault.name, err)
		} else {
			all.away503(err)
		}
		told := time.Since(began)
		<-lasted
		away := time.Since(began)
		back()
		all.answered(t, 2*patience, 200)
		end()
		calm()
		eventually(t, patience, fault.name+": readyz to say 200", func() bool { return status(t, n, "/readyz") == http.StatusOK })
		t.Logf("%s: 503 after %v, back after %v, well after %v; the slowest answer took %v", fault.name, told.Round(time.Second/10),
			away.Round(time.Second/10), time.Since(began).Round(time.Second/10), watch.read(t).Round(time.Second/10))
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
	all := newLoad(newLedger(t), faulttest.Seed(t))
	all.away = true
	end := all.background(clients)
	for range faulttest.Rounds(t, 3) {
		all.answered(t, 2*patience, 100)
		cluster.Crash()
	}
	all.answered(t, 2*patience, 100)
	end()
	all.verifyAll(clients)
	n.terminate()
	s.check()
}

// status returns the status of a page that needs no token.
func status(t *testing.T, n *node, path string) int {
	t.Helper()
	resp, err := (&http.Client{Transport: n.transport, Timeout: patience}).Get(n.url + path)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
