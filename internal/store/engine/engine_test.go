package engine_test

import (
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/conformance"
)

// Acknowledged writes are on disk, and foreign keys are enforced.
func TestSQLiteSettings(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
		if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
			return tx.Query("PRAGMA "+pragma, func(r engine.Row) error {
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

// A write that ignores a database error is not acknowledged with a part of it
// undone.
func TestSwallowedErrorIsNotCommitted(t *testing.T) {
	s := storetest.Open(t, storetest.Postgres)
	err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
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

func TestConformance(t *testing.T) {
	for _, kind := range storetest.Engines {
		t.Run(kind, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T) store.Config { return storetest.Database(t, kind) })
		})
	}
}
