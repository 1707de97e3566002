package engine_test

import (
	"testing"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// If the connection is lost while the statements of a round are prepared, none
// of them has an answer, not even an empty one.
func TestConnectionLostWhilePreparing(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres)
	other := storetest.Open(t, storetest.Postgres) // another database of the server
	here := storetest.Texts(t, s, 1, `SELECT current_database()`)[0]
	storetest.Exec(t, s, `CREATE TABLE held (n bigint)`)
	if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
		if _, err := tx.Exec(`LOCK TABLE held IN ACCESS EXCLUSIVE MODE`); err != nil {
			return err
		}
		// The round may give up on the lock before it loses its connection.
		testwait.Until(t, "a round loses its connection", func() bool {
			asked := make(chan []error, 1)
			go func() { asked <- engine.Ask(t.Context(), s.Database(), `SELECT 1`, `SELECT n FROM held`) }()
			for {
				select {
				case errs := <-asked:
					if engine.IsLockTimeout(errs[1]) {
						return false
					}
					if errs[0] == nil || errs[1] == nil {
						t.Errorf("errors %v", errs)
					}
					return true
				default:
					storetest.Number(t, other, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`, here)
				}
			}
		})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
