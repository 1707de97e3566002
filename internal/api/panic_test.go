package api

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
)

// A panic inside a write is logged once, with the stack of where it happened
// and the request's identifier, whichever goroutine it happened on.
func TestPanicInAWriteKeepsItsStack(t *testing.T) {
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			database := storetest.Database(t, engine)
			book, clock := &logbook{}, &clock{}
			database.Now, database.Log = clock.now, book.logger()
			var armed atomic.Bool
			database.Observe = func(_ context.Context, sql ...string) {
				if armed.Load() && strings.Contains(strings.Join(sql, " "), "INSERT INTO patient ") && armed.CompareAndSwap(true, false) {
					deepInAWrite()
				}
			}
			n := startNode(t, database, clock, book, nil)
			c := n.caller("north")
			armed.Store(true)
			c.post("/v1/patients", `{"name":"Arlo Finch","date_of_birth":"1970-05-17"}`, "X-Request-Id", "req-panic").is(http.StatusInternalServerError)
			c.create("Arlo Finch") // and the service goes on
			book.mu.Lock()
			defer book.mu.Unlock()
			var logged []string
			for line := range strings.Lines(book.text.String()) {
				if strings.Contains(line, "a bug in a write") {
					logged = append(logged, line)
				}
			}
			if len(logged) != 1 || !strings.Contains(logged[0], "request_id=req-panic") || !strings.Contains(logged[0], "deepInAWrite") {
				t.Errorf("logged: %q", logged)
			}
		})
	}
}

//go:noinline
func deepInAWrite() { panic("a bug in a write") }
