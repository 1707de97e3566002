package api

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A request leaves one line with client, route, status, bytes, duration and
// request id, and nothing of its path or query.
func TestRequestLines(t *testing.T) {
	t.Parallel()
	book := &logbook{}
	n := start(t, storetest.SQLite, func(cfg *Config) { cfg.RequestLog = slog.NewJSONHandler(book, nil) })
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

// Lines that nobody takes are not made.
func TestRequestLinesBelowLevel(t *testing.T) {
	quiet := slog.NewTextHandler(&bytes.Buffer{}, &slog.HandlerOptions{Level: slog.LevelWarn})
	if newRequestLines(quiet, nil) != nil || newRequestLines(nil, nil) != nil {
		t.Error("lines are made")
	}
}
