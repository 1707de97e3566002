package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Writes that may be combined succeed or fail each by itself, and what was
// acknowledged is stored.
func combinedWrites(t *testing.T, open func() *store.Store) {
	nodes := []*store.Store{open(), open()}
	storetest.Exec(t, nodes[0], `INSERT INTO setting (name, value) VALUES ('taken', $1), ('count', $1)`, []byte("0"))
	broken := errors.New("broken")
	storetest.Together(t, 48, func(i int) error {
		db := nodes[i%2].Database()
		for n := range 10 {
			name, answer := fmt.Sprintf("%d-%d", i, n), ""
			insert := engine.Stmt{SQL: `INSERT INTO setting (name, value) VALUES ($1, $2) RETURNING name`, Args: []any{name, []byte("1")}, Each: func(r engine.Row) error {
				answer = r.Text(0)
				return nil
			}}
			count := engine.Stmt{SQL: `UPDATE setting SET value = value WHERE name = 'count'`}
			ctx, wanted, refused := t.Context(), error(nil), func(err error) bool { return err == nil }
			fn := func(tx engine.Tx) error {
				tx.Last(insert, count)
				return nil
			}
			switch i % 6 {
			case 1: // fails the statement that it is in
				insert.Args[0], refused = "taken", engine.IsDuplicate
			case 2:
				wanted, fn = broken, func(tx engine.Tx) error {
					tx.Last(insert)
					return broken
				}
			case 3:
				refused, fn = func(err error) bool { return err != nil && strings.Contains(err.Error(), "panic") }, func(engine.Tx) error { panic(broken) }
			case 4: // cannot be combined
				fn = func(tx engine.Tx) error {
					tx.Last(insert)
					return tx.Query(`SELECT 1 FROM setting WHERE name = 'taken'`, nil)
				}
			case 5:
				ended, leave := context.WithCancel(ctx)
				leave()
				ctx, wanted = ended, context.Canceled
			}
			err := db.WriteTogether(ctx, int64(1+i%3/2), fn)
			if wanted != nil && !errors.Is(err, wanted) || wanted == nil && !refused(err) {
				t.Errorf("write %d: %v", i, err)
			}
			if stored := storetest.Number(t, nodes[1-i%2], `SELECT count(*) FROM setting WHERE name = $1`, name); (stored == 1) != (err == nil) || (err == nil) != (answer == name) {
				t.Errorf("write %d: %d stored, answer %q, error %v", i, stored, answer, err)
			}
		}
		return nil
	})
}
