package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
)

// TestAdminListener serves the metrics and the profiles, on an address of its
// own and nowhere else.
func TestAdminListener(t *testing.T) {
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--admin-listen", "127.0.0.1:0")
	add(t, n.as(s.register("standard")), "Counted")

	code, text := fetch(t, n.admin+"/metrics")
	for _, line := range []string{
		`anodyne_http_requests_total{route="POST /v1/patients",status="201"} 1`,
		`anodyne_writer_batch_size_count `,
		`anodyne_journal_pending_entries `,
		`anodyne_journal_unsealed_entries `,
		`go_goroutines `,
	} {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("the metrics (status %d) lack %s", code, line)
		}
	}
	if code, text := fetch(t, n.admin+"/debug/pprof/"); code != http.StatusOK || !strings.Contains(text, "goroutine") {
		t.Errorf("pprof answers %d", code)
	}
	for _, path := range []string{"/metrics", "/debug/pprof/"} {
		if code, _ := fetch(t, n.url+path); code != http.StatusNotFound {
			t.Errorf("the public address answers %s with %d", path, code)
		}
	}
	refusedStart(t, nil, "--admin-listen: want a loopback address", "--database", s.database, "--admin-listen", "0.0.0.0:0")
}

func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	transport := newTransport(t)
	resp, err := (&http.Client{Transport: transport, Timeout: patience}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
