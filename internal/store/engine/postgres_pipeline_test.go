package engine_test

import (
	"context"
	"slices"
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

// A write of one statement is sent without BEGIN and COMMIT, and is stored or
// fails like any other.
func TestWriteOfOneStatement(t *testing.T) {
	t.Parallel()
	type key struct{}
	database := storetest.Database(t, storetest.Postgres)
	var sent [][]string
	database.Observe = func(ctx context.Context, sql ...string) {
		if ctx.Value(key{}) != nil {
			sent = append(sent, slices.Clone(sql))
		}
	}
	s := storetest.Start(t, database)
	storetest.Exec(t, s, `CREATE TABLE one (n bigint PRIMARY KEY, name text)`)
	const insert = `INSERT INTO one (n, name) VALUES ($1, $2)`
	var returned []int64
	write := func(stmts ...engine.Stmt) error {
		return s.Database().Write(context.WithValue(t.Context(), key{}, true), func(tx engine.Tx) error {
			tx.Last(stmts...)
			return nil
		})
	}
	add := func(n any) engine.Stmt { return engine.Stmt{SQL: insert, Args: []any{n, "x"}} }
	one := engine.Stmt{SQL: insert + ` RETURNING n`, Args: []any{int64(1), nil}, Each: func(r engine.Row) error {
		returned = append(returned, r.Int(0))
		return nil
	}}
	if err := write(one); err != nil || !slices.Equal(returned, []int64{1}) {
		t.Errorf("error %v, returned %v", err, returned)
	}
	if err := write(add(2)); err != nil { // an int, which only the driver encodes
		t.Error(err)
	}
	if err := write(add(int64(2))); err == nil {
		t.Error("stored twice")
	}
	if err := write(add(int64(3)), add(int64(2))); err == nil {
		t.Error("stored twice")
	}
	if err := write(add(int64(4))); err != nil {
		t.Error(err)
	}
	if n := storetest.Number(t, s, `SELECT CAST(sum(n) AS BIGINT) FROM one`); n != 1+2+4 {
		t.Errorf("stored %d", n)
	}
	if want := [][]string{{one.SQL}, {"BEGIN", insert, "COMMIT"}, {insert}, {"BEGIN", insert, insert, "COMMIT"}, {"ROLLBACK"}, {insert}}; !slices.EqualFunc(sent, want, slices.Equal) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}
