package server

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// uncounted are the workers without rounds, with the reason.
var uncounted = map[string]string{
	"sequencer":  "SQLite needs none; on PostgreSQL it counts",
	"leader":     "SQLite needs none; on PostgreSQL it counts, as election",
	"listener":   "waits for notifications; without them, the others poll",
	"warmth":     "a loss makes pages slower, not wrong",
	"first link": "ends when the first administrator has signed up",
}

// A worker that fails or hangs can be noticed only if it counts its rounds.
func TestEveryWorkerCountsItsRounds(t *testing.T) {
	t.Parallel()
	s := serve(t, "--admin-listen", "127.0.0.1:0")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.AdminURL()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	metrics, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(s.workers.Names(), s.deliveries.Names()...) {
		for _, metric := range []string{`anodyne_worker_rounds_total{result="error",worker="` + name + `"}`, `anodyne_worker_last_success_timestamp_seconds{worker="` + name + `"}`} {
			if counted := strings.Contains(string(metrics), metric); counted == (uncounted[name] != "") {
				t.Errorf("%s: %v; reason not to count: %q", metric, counted, uncounted[name])
			}
		}
	}
}
