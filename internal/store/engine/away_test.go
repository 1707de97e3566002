package engine_test

import (
	"context"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
	"anodyne.example/anodyne/internal/testwait"
)

// If PostgreSQL becomes unavailable, callers get a clear error, nothing
// acknowledged is lost, and the store recovers without being reopened.
func TestPostgresGoesAway(t *testing.T) {
	cluster := pgcluster.Start(t)
	cfg := storetest.Node(t, store.Config{Database: cluster.DSN()})
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	s := storetest.Start(t, cfg)
	storetest.Run(t, s)
	who := storetest.Client(t, s, "Ours")
	o := s.For(&who)
	var acknowledged []id.Patient

	for name, end := range map[string]func(){"stopped": cluster.Stop, "killed": cluster.Kill} {
		writing := make(chan []id.Patient)
		ctx, cancel := context.WithCancel(t.Context())
		for range 4 {
			go func() {
				var mine []id.Patient
				defer func() { writing <- mine }()
				for ctx.Err() == nil {
					p, err := storetest.TryPatient(t, o)
					if err == nil {
						mine = append(mine, p.ID)
						_, err = o.Patient(t.Context(), p.ID)
					}
					if err != nil && !fault.Is(err, fault.Unavailable) {
						t.Errorf("%s: %v", name, err)
					}
				}
			}()
		}
		if _, _, err := o.WaitEvents(t.Context(), journal.Pos(2+len(acknowledged)), 10); err != nil {
			t.Fatal(err)
		}
		end()
		storetest.WantAway(t, s.Ping(t.Context()), "The database is not available.")
		_, err := store.Open(t.Context(), cfg)
		storetest.WantAway(t, err, "The database is not available.")
		cluster.Restart()
		testwait.Until(t, "the database answers again", func() bool { return s.Ping(t.Context()) == nil })
		cancel()
		for range 4 {
			acknowledged = append(acknowledged, <-writing...)
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Fatalf("%s, and back: %v", name, err)
		}
		if _, err := storetest.TryPatient(t, o); err != nil {
			t.Fatalf("%s, and back: %v", name, err)
		}
		for _, patientID := range acknowledged {
			if _, err := o.Patient(t.Context(), patientID); err != nil {
				t.Fatalf("%s: an acknowledged patient is lost: %v", name, err)
			}
		}
	}
	storetest.Settle(t, s)
	if problems, err := s.System().CheckTables(t.Context()); len(problems) != 0 || err != nil {
		t.Errorf("%v, %v", problems, err)
	}
	// A write whose COMMIT was interrupted may be stored although its caller
	// was asked to retry, but never without its event.
	if patients, events := storetest.Number(t, s, `SELECT count(*) FROM patient`), storetest.Number(t, s, `SELECT count(*) FROM journal WHERE event_id IS NOT NULL`); patients != events {
		t.Errorf("%d patients, %d events", patients, events)
	}
}

// After one connection was lost, no request gets another one that is lost too.
func TestOtherConnectionsAreLostToo(t *testing.T) {
	cfg := storetest.Database(t, storetest.Postgres)
	s := storetest.Start(t, cfg)
	together := func() {
		t.Helper()
		storetest.Together(t, 4, func(int) error {
			return s.Database().Read(t.Context(), func(tx engine.Tx) error {
				return tx.Query(`SELECT 1 FROM pg_sleep(0.2)`, func(engine.Row) error { return nil })
			})
		})
	}
	together() // opens four connections
	other := storetest.Start(t, cfg)
	storetest.Exec(t, other, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err := s.Ping(t.Context()); err != nil { // nil if work in the background has noticed it before
		storetest.WantAway(t, err, "The database is not available.")
	}
	together()
}
