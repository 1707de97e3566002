package api

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/storetest"
)

// unread is an answer that nobody reads.
type unread struct {
	h      http.Header
	status int
}

func (u *unread) Header() http.Header         { return u.h }
func (u *unread) Write(b []byte) (int, error) { return len(b), nil }
func (u *unread) WriteHeader(status int)      { u.status = status }

// asker repeats a request to the handler without a connection, so that only
// the service's own work is counted.
type asker struct {
	*caller
	w unread
	r *http.Request
}

// newAsker starts a service on SQLite that logs as one in service does.
func newAsker(tb testing.TB) *asker {
	tb.Helper()
	n := start(tb, storetest.SQLite, func(cfg *Config) {
		cfg.Log, cfg.AnswerTime = slog.New(slog.DiscardHandler), time.Minute
		cfg.RequestLog = io.Discard
	})
	return &asker{caller: n.callerOf("asking", access.Enterprise, access.AllScopes), w: unread{h: http.Header{}}}
}

// to sets the request and makes it once, to fill caches.
func (a *asker) to(path string) {
	a.tb.Helper()
	a.r = httptest.NewRequest(http.MethodGet, path, nil)
	a.r.Header["Authorization"] = []string{"Bearer " + a.token}
	if err := a.authority.Look(a.tb.Context()); err != nil {
		a.tb.Fatal(err)
	}
	a.ask()
	if a.w.status != http.StatusOK {
		a.tb.Fatalf("GET %s: %d", path, a.w.status)
	}
}

func (a *asker) ask() {
	clear(a.w.h)
	a.api.ServeHTTP(&a.w, a.r)
}

// BenchmarkGetPatient reads one patient through all phases of a request.
func BenchmarkGetPatient(b *testing.B) {
	a := newAsker(b)
	a.to("/v1/patients/" + a.create("Bench Patient"))
	b.ReportAllocs()
	for b.Loop() {
		a.ask()
	}
}
