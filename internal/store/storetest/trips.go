package storetest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/store"
)

// Trips counts what requests ask of the database. What goes on beside a
// request, in workers, is not counted: only what carries its context.
type Trips struct {
	mu   sync.Mutex
	last *Tally
}

// Tally is what one request asked.
type Tally struct {
	mu    sync.Mutex
	trips [][]string
}

type tallyKey struct{}

// Watch has a database that is not open yet observed.
func (t *Trips) Watch(cfg *store.Config) {
	before := cfg.Observe
	cfg.Observe = func(ctx context.Context, sql ...string) {
		if before != nil {
			before(ctx, sql...)
		}
		observe(ctx, sql...)
	}
}

func observe(ctx context.Context, sql ...string) {
	// The pool pings a connection that has not been used for a second, and
	// other nodes are told by whoever gives an entry its position: a worker, or
	// a request that did not want to wait for it.
	if len(sql) == 1 && (sql[0] == "-- ping" || strings.Contains(sql[0], "pg_notify")) {
		return
	}
	if tally, ok := ctx.Value(tallyKey{}).(*Tally); ok {
		tally.mu.Lock()
		defer tally.mu.Unlock()
		tally.trips = append(tally.trips, slices.Clone(sql))
	}
}

// Of is a handler whose requests are counted.
func (t *Trips) Of(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tally := &Tally{}
		t.mu.Lock()
		t.last = tally
		t.mu.Unlock()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tallyKey{}, tally)))
	})
}

// Last is the tally of the request that came last.
func (t *Trips) Last() *Tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Count gives the number of statements, without those that only begin and end
// a transaction, and the number of round trips, with them.
func (t *Tally) Count() (statements, trips int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, trip := range t.trips {
		for _, sql := range trip {
			if word, _, _ := strings.Cut(sql, " "); !slices.Contains(control, strings.ToUpper(word)) {
				statements++
			}
		}
	}
	return statements, len(t.trips)
}

// control are the statements that say nothing but where a transaction begins
// and ends, and how it is committed.
var control = []string{"BEGIN", "COMMIT", "ROLLBACK", "SET"}

// String lists the round trips, for a test that fails.
func (t *Tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, trip := range t.trips {
		b.WriteString("\n  trip:")
		for _, sql := range trip {
			b.WriteString("\n    " + strings.Join(strings.Fields(sql), " "))
		}
	}
	return b.String()
}
