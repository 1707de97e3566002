package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A statement that runs again has its own arguments, whatever those before were:
// equal, of another type, NULL, or bytes that have changed in place.
func argumentsFromRowToRow(t *testing.T, open func() *store.Store) {
	s := open()
	storetest.Exec(t, s, `CREATE TABLE kept (no BIGINT PRIMARY KEY, number BIGINT, word TEXT, raw `+map[bool]string{true: "BYTEA", false: "BLOB"}[s.Shared()]+`)`)
	long, raw := strings.Repeat("x", 1000), []byte("a")
	rows := [][]any{
		{nil, nil, nil}, {int64(1), "one", raw}, {int64(1), "one", raw}, {nil, "one", nil}, {int64(1), nil, raw}, {int64(1), "", []byte{}},
		{int64(0), long, raw}, {int64(0), long, raw}, {int64(0), long[1:], raw}, {int64(7), "one", nil},
	}
	var want []string
	if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
		want = nil
		for i, row := range rows {
			raw[0] = 'a' + byte(i)
			if _, err := tx.Exec(`INSERT INTO kept (no, number, word, raw) VALUES ($1, $2, $3, $4)`, append([]any{int64(i)}, row...)...); err != nil {
				return err
			}
			for n, value := range row {
				switch v := value.(type) {
				case nil:
					want = append(want, strconv.Itoa(n)+" NULL")
				case []byte:
					want = append(want, fmt.Sprint(n, " ", string(v)))
				default:
					want = append(want, fmt.Sprint(n, " ", v))
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := s.Database().Read(t.Context(), func(tx engine.Tx) error {
		return tx.Query(`SELECT number, word, raw FROM kept ORDER BY no`, func(r engine.Row) error {
			for n := range 3 {
				switch {
				case r.IsNull(n):
					got = append(got, strconv.Itoa(n)+" NULL")
				case n == 0:
					got = append(got, fmt.Sprint(n, " ", r.Int(n)))
				default:
					got = append(got, fmt.Sprint(n, " ", string(r.Raw(n))))
				}
			}
			return nil
		})
	}); err != nil || !slices.Equal(got, want) {
		t.Errorf("stored %q, %v; want %q", got, err, want)
	}
}

// A statement reports how many rows it has changed: alone, and among others.
func changedRows(t *testing.T, open func() *store.Store) {
	s := open()
	storetest.Exec(t, s, `CREATE TABLE counted (no BIGINT PRIMARY KEY)`)
	var got []int64
	stmt := func(sql string, args ...any) engine.Stmt {
		return engine.Stmt{SQL: sql, Args: args, Changed: func(rows int64) { got = append(got, rows) }}
	}
	const insert = `INSERT INTO counted (no) VALUES ($1) ON CONFLICT DO NOTHING`
	for _, fn := range []func(tx engine.Tx) error{
		func(tx engine.Tx) error { tx.Last(stmt(insert, int64(1))); return nil },
		func(tx engine.Tx) error {
			return tx.Many(stmt(insert, int64(2)), stmt(insert, int64(1)), stmt(insert, int64(3)))
		},
		func(tx engine.Tx) error {
			tx.Last(stmt(`UPDATE counted SET no = no + 10`), stmt(`DELETE FROM counted WHERE no > $1`, int64(11)))
			return nil
		},
	} {
		if err := s.Database().Write(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int64{1, 1, 0, 1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("changed %v rows, want %v", got, want)
	}
}
