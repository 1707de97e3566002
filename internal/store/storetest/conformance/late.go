package conformance

import (
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A deferred statement can use what an earlier one returns. If that returns
// nothing, the write fails as a whole.
func lateArguments(t *testing.T, open func() *store.Store) {
	s := open()
	storetest.Exec(t, s, `CREATE TABLE late (no BIGINT PRIMARY KEY)`)
	storetest.Exec(t, s, `CREATE TABLE counter (no BIGINT PRIMARY KEY, n BIGINT)`)
	storetest.Exec(t, s, `INSERT INTO counter VALUES (1, 10)`)
	take := func(no, n int64) (count engine.Stmt, number func(after int64) engine.Late) {
		last, known := int64(0), false
		return engine.Stmt{SQL: `UPDATE counter SET n = n + $2 WHERE no = $1 RETURNING n`, Args: []any{no, n}, Each: func(r engine.Row) error {
				last, known = r.Int(0), true
				return nil
			}}, func(after int64) engine.Late {
				return func() (int64, bool) { return last - after, known }
			}
	}
	insert := func(number engine.Late) engine.Stmt {
		return engine.Stmt{SQL: `INSERT INTO late (no) VALUES ($1)`, Args: []any{number}}
	}
	if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
		count, number := take(1, 2)
		tx.Last(count, insert(number(1)), insert(number(0)))
		count, number = take(1, 5)
		tx.Last(count, insert(number(0)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
		count, number := take(2, 1)
		tx.Last(engine.Stmt{SQL: `INSERT INTO late (no) VALUES (99)`}, count, insert(number(0)))
		return nil
	}); err == nil {
		t.Error("a number that is not known was stored")
	}
	if got, want := storetest.Texts(t, s, 1, `SELECT CAST(no AS TEXT) FROM late ORDER BY no`), []string{"11", "12", "17"}; !slices.Equal(got, want) {
		t.Errorf("the numbers are %q, want %q", got, want)
	}
}
