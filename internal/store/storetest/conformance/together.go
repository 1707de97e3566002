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
	"anodyne.example/anodyne/internal/testwait"
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

// Writes that wait for the one before share a transaction.
func sharedTransaction(t *testing.T, open func() *store.Store) {
	s, other, third := open(), open(), open()
	if !s.Shared() {
		return // the writer's tests look at that
	}
	storetest.Exec(t, s, `INSERT INTO setting (name, value) VALUES ('count', $1)`, []byte("0"))
	const writes = 12
	asked, done := make(chan struct{}, writes), make(chan error, writes)
	write := func(i int) {
		done <- s.Database().WriteTogether(t.Context(), 1, func(tx engine.Tx) error {
			tx.Last(engine.Stmt{SQL: `INSERT INTO setting (name, value) VALUES ($1, $2)`, Args: []any{fmt.Sprint("shared ", i), []byte("1")}},
				engine.Stmt{SQL: `UPDATE setting SET value = value WHERE name = 'count'`})
			asked <- struct{}{}
			return nil
		})
	}
	if err := other.Database().Write(t.Context(), func(tx engine.Tx) error {
		if _, err := tx.Exec(`UPDATE setting SET value = value WHERE name = 'count'`); err != nil {
			return err
		}
		go write(0)
		testwait.Until(t, "the first write waits for the row", func() bool {
			return storetest.Number(t, third, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
		})
		for i := 1; i < writes; i++ {
			go write(i)
		}
		for range writes {
			<-asked
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range writes {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most := storetest.Number(t, third, `SELECT max(n) FROM (SELECT count(*) AS n FROM setting WHERE name LIKE 'shared %' GROUP BY CAST(xmin AS TEXT)) AS transactions`); most < 2 {
		t.Errorf("no transaction has more than %d writes", most)
	}
}
