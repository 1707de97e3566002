package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// TestFaultPoolInUse makes all connections of the pool wait for a lock held
// elsewhere: requests fail in bounded time, and continue when the lock is
// released.
func TestFaultPoolInUse(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.Postgres)
	small := *s
	small.database += "&pool_max_conns=2"
	n := small.node(0)
	c := n.as(s.register("enterprise"))
	read := func() error {
		_, err := c.Patients(t.Context(), client.PatientQuery{})
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	for range faulttest.Rounds(t, 1) {
		all := newLedger(t)
		s.postgres(func(other *pgx.Conn) error {
			if _, err := other.Exec(t.Context(), `BEGIN; LOCK TABLE patient IN ACCESS EXCLUSIVE MODE`); err != nil {
				return err
			}
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					if err := read(); !client.IsCode(err, client.CodeServiceUnavailable) {
						t.Errorf("with no connection free: %v", err)
					} else {
						all.away503(err)
					}
				})
			}
			group.Wait()
			_, err := other.Exec(t.Context(), `ROLLBACK`)
			return err
		})
		if !all.said("All connections to the database are in use.") {
			t.Error("nobody was told that all connections are in use")
		}
		eventually(t, patience, "a read", func() bool { return read() == nil })
		eventually(t, patience, "readyz to say 200", func() bool { return status(t, n, "/readyz") == http.StatusOK })
	}
}

// TestFaultServerFull lets others take all connections that PostgreSQL has.
func TestFaultServerFull(t *testing.T) {
	t.Parallel()
	cluster := pgcluster.Start(t)
	s := &service{t, storetest.Postgres, cluster.DSN(), t.TempDir()}
	const places = 30
	s.exec(fmt.Sprintf(`ALTER SYSTEM SET max_connections = %d`, places))
	cluster.Restart()
	n := s.node(0)
	c := n.as(s.register("enterprise"))
	create := func() error {
		_, err := c.CreatePatient(t.Context(), client.NewPatient{Name: "A", DateOfBirth: "1980-02-29"})
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}
	for range faulttest.Rounds(t, 1) {
		// The others repeatedly terminate the service's connections and take
		// free slots until they have all of them. That a slot is refused is not
		// enough: the service may have taken the last one.
		var others []*pgx.Conn
		eventually(t, patience, "a server without a free connection, and none of them ours", func() bool {
			conn, err := pgx.Connect(t.Context(), s.database)
			if err == nil {
				others = append(others, conn)
			} else if !strings.Contains(err.Error(), "53300") {
				t.Fatal(err)
			}
			if len(others) == 0 {
				return false
			}
			if _, err := others[0].Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'anodyne'`); err != nil {
				t.Fatal(err)
			}
			return len(others) == places
		})
		eventually(t, patience, "readyz to say 503", func() bool { return status(t, n, "/readyz") == http.StatusServiceUnavailable })
		began := time.Now()
		if err := create(); !client.IsCode(err, client.CodeServiceUnavailable) {
			t.Errorf("without a connection: %v", err)
		} else {
			newLedger(t).away503(err)
		}
		t.Logf("%d others; told after %v", len(others), time.Since(began).Round(time.Millisecond))
		for _, conn := range others {
			if err := conn.Close(t.Context()); err != nil {
				t.Error(fmt.Errorf("closing: %w", err))
			}
		}
		eventually(t, patience, "a write", func() bool { return create() == nil })
		eventually(t, patience, "readyz to say 200", func() bool { return status(t, n, "/readyz") == http.StatusOK })
	}
}
