package storetest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/store"
)

// Trips counts the database accesses of requests. It counts only accesses with
// the context of a request, and not those of workers.
type Trips struct {
	mu   sync.Mutex
	last *Tally
}

// Tally is the accesses of one request.
type Tally struct {
	mu    sync.Mutex
	trips [][]string
}

type tallyKey struct{}

// Watch observes a database that is not open yet.
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
	// The pool pings connections that have not been used for a second. Other
	// nodes are notified by whoever assigns positions: a worker, or a request
	// that did not want to wait for one.
	if len(sql) == 1 && (sql[0] == "-- ping" || strings.Contains(sql[0], "pg_notify")) {
		return
	}
	if tally, ok := ctx.Value(tallyKey{}).(*Tally); ok {
		tally.mu.Lock()
		defer tally.mu.Unlock()
		tally.trips = append(tally.trips, slices.Clone(sql))
	}
}

// Of returns a handler that counts the accesses of requests to h.
func (t *Trips) Of(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tally := &Tally{}
		t.mu.Lock()
		t.last = tally
		t.mu.Unlock()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tallyKey{}, tally)))
	})
}

// Last returns the tally of the last request.
func (t *Trips) Last() *Tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Count returns the number of statements, excluding those that only begin and
// end a transaction, and the number of round trips, including them.
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

// control lists the statements that only control transactions.
var control = []string{"BEGIN", "COMMIT", "ROLLBACK", "SET"}

// String lists the round trips, for the message of a failed test.
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
