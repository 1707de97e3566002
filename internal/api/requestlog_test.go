package api

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A request leaves one line with client, route, status, bytes, duration and
// request id, and nothing of its path or query.
func TestRequestLines(t *testing.T) {
	t.Parallel()
	book := &logbook{}
	n := start(t, storetest.SQLite, func(cfg *Config) { cfg.RequestLog, cfg.RequestLogJSON = book, true })
	c := n.callerOf("north", access.Enterprise, access.AllScopes)
	patient := c.create("Arlo Finch")
	c.get("/v1/patients/"+patient, "X-Request-Id", "req-1").is(http.StatusOK)
	c.get("/v1/patients?search=Arlo", "X-Request-Id", "req-2").is(http.StatusOK)
	c.get("/v1/nothing/"+patient, "X-Request-Id", "req-3").is(http.StatusNotFound)
	n.send(http.MethodGet, "/v1/patients", "", "X-Request-Id", "req-4").is(http.StatusUnauthorized)
	n.send(http.MethodGet, "/healthz", "", "X-Request-Id", "req-5").is(http.StatusOK)
	n.drain()
	n.send(http.MethodGet, "/readyz", "", "X-Request-Id", "req-6").is(http.StatusServiceUnavailable)
	book.mu.Lock()
	text := book.text.String()
	book.mu.Unlock()
	if strings.Contains(text, patient) || strings.Contains(text, "Arlo") {
		t.Errorf("a path or a query is logged:\n%s", text)
	}
	type line struct {
		Msg, Level, Route, Client string
		Status                    int
		Bytes                     int64
		Duration                  *float64 `json:"duration_ms"`
		ID                        string   `json:"request_id"`
	}
	lines := map[string]line{}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	for decoder.More() {
		var l line
		if err := decoder.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if _, twice := lines[l.ID]; twice || l.Msg != "request" || l.Level != "INFO" || l.Duration == nil || l.Status == 0 {
			t.Errorf("line %+v", l)
		}
		lines[l.ID] = l
	}
	client := c.client.ID.String()
	for id, want := range map[string]line{
		"req-1": {Route: "GET /v1/patients/{id}", Client: client, Status: 200},
		"req-2": {Route: "GET /v1/patients", Client: client, Status: 200},
		"req-3": {Route: "unknown", Client: client, Status: 404},
		"req-4": {Route: "GET /v1/patients", Status: 401},
		"req-6": {Route: "GET /readyz", Status: 503},
	} {
		got := lines[id]
		if got.Route != want.Route || got.Client != want.Client || got.Status != want.Status || got.Bytes == 0 {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
	if _, there := lines["req-5"]; there {
		t.Error("a probe that is answered is logged")
	}
}

// The lines are those that a handler of package slog writes.
func TestRequestLinesAreThoseOfSlog(t *testing.T) {
	t.Parallel()
	routes := []route{{method: http.MethodGet, pattern: "/v1/patients/{id}"}}
	zone := time.FixedZone("", -5*3600)
	for _, x := range []exchange{
		{route: &routes[0], status: 200, sent: 512, client: "cli_01k9x", requestID: "req_01k9x", now: time.Date(2026, 3, 4, 5, 6, 7, 89_000_001, time.UTC)},
		{status: 404, requestID: "a.b:c-1", now: time.Date(2026, 12, 31, 23, 59, 59, 999_999_999, zone)},
		{route: pages, status: 500, sent: 1 << 40, client: "cli_1", requestID: "1", now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		for _, took := range []time.Duration{0, time.Microsecond, 1234567 * time.Nanosecond, 75 * time.Second, 3 * time.Hour} {
			for _, format := range []struct {
				json    bool
				handler func(io.Writer, *slog.HandlerOptions) slog.Handler
			}{
				{true, func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(w, o) }},
				{false, func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(w, o) }},
			} {
				var got, want bytes.Buffer
				record := slog.NewRecord(x.now.Add(took), slog.LevelInfo, "request", 0)
				record.AddAttrs(slog.String("route", x.route.name()), slog.String("client", x.client), slog.Int("status", x.status), slog.Int64("bytes", x.sent),
					slog.Float64("duration_ms", float64(took.Microseconds())/1000), slog.String("request_id", x.requestID))
				if err := format.handler(&want, nil).Handle(t.Context(), record); err != nil {
					t.Fatal(err)
				}
				newRequestLines(&got, format.json, routes).write(&x, took)
				if got.String() != want.String() {
					t.Errorf("got  %swant %s", got.String(), want.String())
				}
			}
		}
	}
}
