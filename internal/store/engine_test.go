package store_test

import (
	"context"
	"errors"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func TestPlaceholdersKeepTheirNumbers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		store.Exec(t, s, `INSERT INTO setting (name, value) VALUES ('$1', 'a')`)
		store.Exec(t, s, `UPDATE setting SET value = $2 WHERE name = $1`, "$1", []byte("b"))
		if got := store.Texts(t, s, 1, `SELECT name FROM setting WHERE value = $1`, []byte("b")); len(got) != 1 || got[0] != "$1" {
			t.Errorf("got %q", got)
		}
	})
}

// What is answered is on the disk, and references are kept.
func TestSQLiteSettings(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
		if err := s.Write(t.Context(), func(tx store.Tx) error {
			return tx.Query("PRAGMA "+pragma, func(r store.Row) error {
				if got := r.Text(0); got != want {
					t.Errorf("%s is %s, want %s", pragma, got, want)
				}
				return nil
			})
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// A read or write that is broken off says so, and is never an empty answer.
func TestCancelledIsNoAnswer(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := nodes(t, 1, open)
		p := storetest.AddPatient(t, all[0].For(&who), "A")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := all[0].For(&who).Patient(ended, p.ID); !errors.Is(err, context.Canceled) {
			t.Errorf("a read with an ended context: %v", err)
		}
		if err := all[0].Write(ended, func(store.Tx) error { t.Error("it was run"); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("a write with an ended context: %v", err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		err := all[0].Read(ctx, func(tx store.Tx) error {
			cancel()
			return tx.Query(`SELECT name FROM patient WHERE org_no = $1`, nil, int64(who.Org))
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a read that is cancelled: %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		err = all[0].Write(ctx, func(tx store.Tx) error {
			cancel()
			_, err := tx.Exec(`UPDATE patient SET name = $2 WHERE org_no = $1`, int64(who.Org), "B")
			return err
		})
		if got, readErr := all[0].For(&who).Patient(t.Context(), p.ID); err != nil || got.Name != "B" || readErr != nil {
			t.Errorf("a write that had started is not finished: %v, %q, %v", err, got.Name, readErr)
		}
	})
}

// A panic costs nothing but the call it happened in.
func TestPanicsLeaveTheStoreSound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		store.Exec(t, s, `INSERT INTO setting (name, value) VALUES ('a', 'a'), ('b', 'b')`)
		for range 40 { // more than there are readers
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic was swallowed")
					}
				}()
				_ = s.Read(t.Context(), func(tx store.Tx) error {
					return tx.Query(`SELECT name FROM setting`, func(store.Row) error { panic("a bug") })
				})
			}()
			if err := s.Write(t.Context(), func(tx store.Tx) error {
				return tx.Query(`UPDATE setting SET value = 'c' RETURNING name`, func(store.Row) error { panic("a bug") })
			}); err == nil {
				t.Error("a write that panicked succeeded")
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), testwait.Bound)
		defer cancel()
		if err := s.Ping(ctx); err != nil {
			t.Error(err)
		}
		if n := store.Number(t, s, `SELECT count(*) FROM setting WHERE value = 'c'`); n != 0 {
			t.Errorf("%d rows of a write that panicked are kept", n)
		}
	})
}

// A write that swallows a database error is not acknowledged with half of it
// undone.
func TestSwallowedErrorIsNotCommitted(t *testing.T) {
	s := storetest.Open(t, storetest.Postgres)
	err := s.Write(t.Context(), func(tx store.Tx) error {
		if _, err := tx.Exec(`INSERT INTO setting (name, value) VALUES ('a', 'a')`); err != nil {
			return err
		}
		_, _ = tx.Exec(`INSERT INTO setting (name, value) VALUES ('a', 'a')`)
		return nil
	})
	if err == nil {
		t.Error("a transaction that was rolled back was acknowledged")
	}
}

func TestClosedStore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		p := storetest.Patient("A")
		_, writeErr := o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, store.Outcome{})
		_, readErr := o.Patient(t.Context(), p.ID)
		_, _, snapshotErr := o.Head(t.Context())
		for _, err := range []error{writeErr, readErr, snapshotErr, s.Ping(t.Context())} {
			if !fault.Is(err, fault.Unavailable) {
				t.Errorf("got %v", err)
			}
		}
	})
}
