package engine_test

import (
	"net"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
	"anodyne.example/anodyne/internal/testwait"
)

// With a synchronous standby, an acknowledged change is on both servers, and
// the store finds the one that accepts writes.
func TestFailover(t *testing.T) {
	primary := pgcluster.Start(t)
	replica := primary.Replica()
	// The first server of the address does not respond, like one whose machine
	// hangs.
	database := behindSilence(t, primary.DSNWith(replica))
	cfg := storetest.Node(t, store.Config{Database: database})
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	s := storetest.Start(t, cfg)
	who := storetest.Client(t, s, "Ours")
	o := s.For(&who)
	kept := storetest.AddPatient(t, o, "Kept")

	t.Run("unconfirmed", func(t *testing.T) {
		replica.Stop()
		p, key := storetest.Patient("Unconfirmed"), &idempotency.Once{Key: []byte("key"), Body: []byte("body")}
		post := func() (idempotency.Outcome, error) {
			return o.CreatePatient(t.Context(), &p, storetest.Created(p), key, idempotency.Outcome{Status: 201, Body: []byte("{}")})
		}
		for range 2 { // the second time it exists, on one server
			posted := make(chan error, 1)
			go func() {
				_, err := post()
				posted <- err
			}()
			until(t, "the COMMIT waits for the standby, and is cancelled", func() bool {
				return storetest.AskPostgres(t, primary.DSN(), cancelled)
			})
			storetest.WantAway(t, <-posted, "The database's standby did not confirm the change; it may or may not have been saved.")
		}
		replica.Restart()
		until(t, "the change is confirmed", func() bool {
			out, err := post()
			return err == nil && out.Replayed
		})
	})

	t.Run("demoted", func(t *testing.T) {
		replica.Promote()
		storetest.AskPostgres(t, primary.DSN(), "ALTER SYSTEM SET default_transaction_read_only = on")
		storetest.AskPostgres(t, primary.DSN(), "SELECT pg_reload_conf()")
		until(t, "the old primary takes no writes", func() bool {
			return storetest.AskPostgres(t, primary.DSN(), "SELECT current_setting('transaction_read_only') = 'on'")
		})
		var p id.Patient
		until(t, "writes go to the new primary", func() bool {
			made, err := storetest.TryPatient(t, o)
			p = made.ID
			return err == nil
		})
		alone := storetest.Start(t, storetest.Node(t, store.Config{Database: replica.DSN()}))
		for _, patientID := range []id.Patient{kept.ID, p} {
			if _, err := alone.For(&who).Patient(t.Context(), patientID); err != nil {
				t.Errorf("not on the new primary: %v", err)
			}
		}
	})
}

// behindSilence prepends to an address a server that accepts connections and
// never responds.
func behindSilence(t *testing.T, address string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return strings.Replace(address, "@", "@"+l.Addr().String()+",", 1)
}

// cancelled is what an administrator may run on a server whose standby is
// unavailable.
const cancelled = "SELECT count(pg_cancel_backend(pid)) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

// until polls until ask returns true.
func until(t *testing.T, what string, ask func() bool) {
	t.Helper()
	testwait.Until(t, what, ask)
}
