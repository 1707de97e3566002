package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// setting is a write that inserts one row.
type setting struct {
	name, answer string
	broken       bool
}

// settings combines writes that each insert a setting and lock a row that
// they have in common. It sends the number of writes of each transaction to
// tried, and calls made, unless they are nil.
func settings(s *store.Store, tried chan<- int, made func(int64)) *engine.Together[*setting] {
	return engine.NewTogether(s.Database(), func(tx engine.Tx, _ int64, writes []*setting) {
		for _, w := range writes {
			if w.broken {
				panic("broken")
			}
			w.answer = ""
			tx.Last(engine.Stmt{SQL: `INSERT INTO setting (name, value) VALUES ($1, $2) RETURNING name`, Args: []any{w.name, []byte("1")}, Each: func(r engine.Row) error {
				w.answer = r.Text(0)
				return nil
			}})
		}
		tx.Last(engine.Stmt{SQL: `UPDATE setting SET value = value WHERE name = 'count'`})
		if tried != nil {
			tried <- len(writes)
		}
	}, made)
}

// Writes that may be combined succeed or fail each by itself, and what was
// acknowledged is stored.
func combinedWrites(t *testing.T, open func() *store.Store) {
	nodes := []*store.Store{open(), open()}
	storetest.Exec(t, nodes[0], `INSERT INTO setting (name, value) VALUES ('taken', $1), ('count', $1)`, []byte("0"))
	together := []*engine.Together[*setting]{settings(nodes[0], nil, nil), settings(nodes[1], nil, nil)}
	storetest.Together(t, 48, func(i int) error {
		for n := range 10 {
			w := &setting{name: fmt.Sprintf("%d-%d", i, n)}
			name, ctx, want := w.name, t.Context(), func(err error) bool { return err == nil }
			switch i % 4 {
			case 1: // fails the transaction that it is in
				w.name, want = "taken", engine.IsDuplicate
			case 2:
				w.broken, want = true, func(err error) bool { return err != nil && strings.Contains(err.Error(), "panic") }
			case 3:
				ended, leave := context.WithCancel(ctx)
				leave()
				ctx, want = ended, func(err error) bool { return errors.Is(err, context.Canceled) }
			}
			err := together[i%2].Do(ctx, int64(1+i%3/2), w)
			if !want(err) {
				t.Errorf("write %d: %v", i, err)
			}
			if stored := storetest.Number(t, nodes[1-i%2], `SELECT count(*) FROM setting WHERE name = $1`, name); (stored == 1) != (err == nil) || err == nil && w.answer != name {
				t.Errorf("write %d: %d stored, answer %q, error %v", i, stored, w.answer, err)
			}
		}
		return nil
	})
}

// Writes that wait for the one before share a transaction, and are reported
// together.
func sharedTransaction(t *testing.T, open func() *store.Store) {
	s, other, third := open(), open(), open()
	storetest.Exec(t, s, `INSERT INTO setting (name, value) VALUES ('count', $1)`, []byte("0"))
	const writes = 12
	tried := make(chan int, writes)
	var made atomic.Int64
	together := settings(s, tried, func(int64) { made.Add(1) })
	try := 0
	// A write may be too late to join the others, so this may take several tries.
	testwait.Until(t, "a transaction has several writes", func() bool {
		try++
		asking, done := make(chan struct{}, writes), make(chan error, writes)
		write := func(i int) {
			asking <- struct{}{}
			done <- together.Do(t.Context(), 1, &setting{name: fmt.Sprint("shared ", try, " ", i)})
		}
		if err := other.Database().Write(t.Context(), func(tx engine.Tx) error {
			if _, err := tx.Exec(`UPDATE setting SET value = value WHERE name = 'count'`); err != nil {
				return err
			}
			go write(0)
			testwait.Until(t, "the first write waits for the row", func() bool {
				return !s.Shared() || storetest.Number(t, third, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
			})
			for i := 1; i < writes; i++ {
				go write(i)
			}
			for range writes {
				<-asking
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
		most, all, transactions := 0, 0, int64(0)
		for all < writes {
			n := <-tried
			most, all, transactions = max(most, n), all+n, transactions+1
		}
		if n := made.Swap(0); n != transactions {
			t.Errorf("%d transactions were reported %d times", transactions, n)
		}
		return most > 1
	})
}
