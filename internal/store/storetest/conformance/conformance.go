// Package conformance is the test suite that every engine must pass: it
// verifies the guarantees of transactions that the tables depend on. The tests
// of the packages of the store, which run on all of storetest.Engines,
// complement it.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// Run runs the suite. database creates a new, migrated database for each test.
// Stores opened on it act as several nodes of one service.
func Run(t *testing.T, database func(t *testing.T) store.Config) {
	for name, test := range map[string]func(t *testing.T, open func() *store.Store){
		"placeholders keep their numbers": placeholdersKeepTheirNumbers,
		"cancelled is no answer":          cancelledIsNoAnswer,
		"panics leave the store sound":    panicsLeaveTheStoreSound,
		"closed store":                    closedStore,
		"writes at once":                  writesAtOnce,
		"lookups at once":                 lookupsAtOnce,
		"a lookup that fails":             lookupThatFails,
		"a lookup behind a lock":          lookupBehindALock,
		"combined writes":                 combinedWrites,
		"rows alike":                      rowsAlike,
		"rows alike that exist":           rowsAlikeThatExist,
		"late arguments":                  lateArguments,
		"arguments from row to row":       argumentsFromRowToRow,
		"changed rows":                    changedRows,
		"a shared transaction":            sharedTransaction,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := database(t)
			cfg.Patience = testwait.Bound
			test(t, func() *store.Store { return storetest.Start(t, storetest.Node(t, cfg)) })
		})
	}
}

// A round of lookups gives up soon on a table that is locked, as for a migration.
// The lookup then waits on its own, as long as any other request.
func lookupBehindALock(t *testing.T, open func() *store.Store) {
	s, other, third := open(), open(), open()
	if !s.Shared() {
		return // nothing locks a table
	}
	found, waited := make(chan error, 1), map[int64]bool{}
	if err := other.Database().Write(t.Context(), func(tx engine.Tx) error {
		if _, err := tx.Exec(`LOCK TABLE setting IN ACCESS EXCLUSIVE MODE`); err != nil {
			return err
		}
		go func() {
			found <- s.Database().Lookup(t.Context(), `SELECT 1 FROM setting WHERE name = $1`, func(engine.Row) error { return nil }, "behind a lock")
		}()
		testwait.Until(t, "the lookup waits on a second connection", func() bool {
			waited[storetest.Number(t, third, `SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)] = true
			delete(waited, 0)
			return len(waited) == 2 || len(found) > 0
		})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-found; err != nil && (len(waited) < 2 || !engine.IsLockTimeout(err)) {
		t.Error(err)
	}
}

// Writes of several nodes are serialized: none is lost, and none sees a part of
// another.
func writesAtOnce(t *testing.T, open func() *store.Store) {
	nodes := []*store.Store{open(), open()}
	storetest.Exec(t, nodes[0], `INSERT INTO access_epoch (one, epoch) VALUES (1, 0) ON CONFLICT DO NOTHING`)
	before := storetest.Number(t, nodes[0], `SELECT epoch FROM access_epoch`)
	storetest.Together(t, 16, func(i int) error {
		return nodes[i%2].Database().Write(t.Context(), func(tx engine.Tx) error {
			var epoch int64
			if _, err := engine.One(tx, `SELECT epoch FROM access_epoch /*FOR UPDATE*/`, func(r engine.Row) { epoch = r.Int(0) }); err != nil {
				return err
			}
			_, err := tx.Exec(`UPDATE access_epoch SET epoch = $1`, epoch+1)
			return err
		})
	})
	if after := storetest.Number(t, nodes[1], `SELECT epoch FROM access_epoch`); after != before+16 {
		t.Errorf("%d of 16 writes are kept", after-before)
	}
}

// Lookups that are made together have the rows of their own arguments, in order.
func lookupsAtOnce(t *testing.T, open func() *store.Store) {
	s := open()
	const numbers = `SELECT a.org_no, a.org_no + b.org_no, NULL, '' FROM org a JOIN org b ON b.org_no <= $2 WHERE a.org_no = $1 ORDER BY b.org_no`
	for i := range 5 {
		storetest.Exec(t, s, `INSERT INTO org (id, name, created_at) VALUES ($1, $2, 0)`, []byte{byte(i)}, fmt.Sprint(i))
	}
	storetest.Together(t, 40, func(i int) error {
		for n := range 20 {
			org, upTo := int64(1+i%6), int64(n%7)
			var want, got []int64
			for other := int64(1); other <= min(upTo, 5) && org <= 5; other++ {
				want = append(want, org, org+other)
			}
			if err := s.Database().Lookup(t.Context(), numbers, func(r engine.Row) error {
				if got = append(got, r.Int(0), r.Int(1)); !r.IsNull(2) || r.IsNull(3) || r.Text(3) != "" {
					t.Errorf("NULL and the empty text are %v and %q", r.Raw(2), r.Raw(3))
				}
				return nil
			}, org, upTo); err != nil {
				return err
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d with %d: %v, want %v", org, upTo, got, want)
			}
			if _, found, err := s.System().Token(t.Context(), []byte{byte(i), byte(n)}); found || err != nil {
				return fmt.Errorf("an unknown token: %v, %w", found, err)
			}
		}
		return nil
	})
}

// A lookup that fails, or whose caller leaves or panics, does so alone.
func lookupThatFails(t *testing.T, open func() *store.Store) {
	s := open()
	broken, ended := errors.New("broken"), fmt.Errorf("%w, and it was right", context.Canceled)
	one := func(ctx context.Context, n int64, each func(engine.Row) error) error {
		return s.Database().Lookup(ctx, `SELECT CAST($1 AS BIGINT) + 9223372036854775800 WHERE CAST($1 AS BIGINT) >= 0`, each, n)
	}
	storetest.Together(t, 40, func(i int) error {
		for range 20 {
			if i%8 == 7 {
				// Too large on PostgreSQL, where it fails the statement it is in.
				_ = one(t.Context(), 100, func(engine.Row) error { return nil })
				continue
			}
			ctx, leave := context.WithCancel(t.Context())
			rows, want := 0, error(nil)
			err := func() (err error) {
				defer leave()
				defer func() {
					if p := recover(); p != nil {
						err = p.(error)
					}
				}()
				switch i % 4 {
				case 0:
					want = broken
					return one(ctx, 1, func(engine.Row) error { return broken })
				case 1:
					want = broken
					return one(ctx, 1, func(engine.Row) error { panic(broken) })
				case 2:
					want = context.Canceled
					go leave()
					if err := one(ctx, 1, func(engine.Row) error { return nil }); err != nil {
						return err
					}
					return ended // it was answered before
				}
				return one(ctx, 1, func(engine.Row) error {
					rows++
					return nil
				})
			}()
			if !errors.Is(err, want) || want == nil && rows != 1 {
				t.Errorf("call %d: %d rows, %v, want %v", i, rows, err, want)
			}
		}
		return nil
	})
}

func placeholdersKeepTheirNumbers(t *testing.T, open func() *store.Store) {
	s := open()
	storetest.Exec(t, s, `INSERT INTO setting (name, value) VALUES ('$1', 'a')`)
	storetest.Exec(t, s, `UPDATE setting SET value = $2 WHERE name = $1`, "$1", []byte("b"))
	if got := storetest.Texts(t, s, 1, `SELECT name FROM setting WHERE value = $1`, []byte("b")); len(got) != 1 || got[0] != "$1" {
		t.Errorf("got %q", got)
	}
}

// A cancelled read or write returns an error, never an empty result.
func cancelledIsNoAnswer(t *testing.T, open func() *store.Store) {
	all, who := storetest.Nodes(t, 1, open)
	p := storetest.AddPatient(t, all[0].For(&who), "A")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all[0].For(&who).Patient(ended, p.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("a read with an ended context: %v", err)
	}
	if err := all[0].Database().Write(ended, func(engine.Tx) error { t.Error("it was run"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a write with an ended context: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	err := all[0].Database().Read(ctx, func(tx engine.Tx) error {
		cancel()
		return tx.Query(`SELECT name FROM patient WHERE org_no = $1`, nil, int64(who.Org))
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a read that is cancelled: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	err = all[0].Database().Write(ctx, func(tx engine.Tx) error {
		cancel()
		_, err := tx.Exec(`UPDATE patient SET name = $2 WHERE org_no = $1`, int64(who.Org), "B")
		return err
	})
	if got, readErr := all[0].For(&who).Patient(t.Context(), p.ID); err != nil || got.Name != "B" || readErr != nil {
		t.Errorf("a write that had started is not finished: %v, %q, %v", err, got.Name, readErr)
	}
}

// A panic affects only the call it happened in.
func panicsLeaveTheStoreSound(t *testing.T, open func() *store.Store) {
	s := open()
	storetest.Exec(t, s, `INSERT INTO setting (name, value) VALUES ('a', 'a'), ('b', 'b')`)
	for range 40 { // more than there are readers
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = s.Database().Read(t.Context(), func(tx engine.Tx) error {
				return tx.Query(`SELECT name FROM setting`, func(engine.Row) error { panic("a bug") })
			})
		}()
		if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
			return tx.Query(`UPDATE setting SET value = 'c' RETURNING name`, func(engine.Row) error { panic("a bug") })
		}); err == nil {
			t.Error("a write that panicked succeeded")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Bound)
	defer cancel()
	if err := s.Ping(ctx); err != nil {
		t.Error(err)
	}
	if n := storetest.Number(t, s, `SELECT count(*) FROM setting WHERE value = 'c'`); n != 0 {
		t.Errorf("%d rows of a write that panicked are kept", n)
	}
}

func closedStore(t *testing.T, open func() *store.Store) {
	all, who := storetest.Nodes(t, 1, open)
	s, o := all[0], all[0].For(&who)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	p := storetest.Patient("A")
	_, writeErr := o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{})
	_, readErr := o.Patient(t.Context(), p.ID)
	_, _, snapshotErr := o.Head(t.Context())
	for _, err := range []error{writeErr, readErr, snapshotErr, s.Ping(t.Context())} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v", err)
		}
	}
}
