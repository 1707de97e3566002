package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

// fhirBase is the path of the FHIR interface.
const fhirBase = "/fhir/R4"

// ehr is an application that speaks FHIR, and /v1, without a client library.
type ehr struct {
	t     *testing.T
	node  *node
	token string
	http  *http.Client
}

// ehr returns an application's caller of this node.
func (n *node) ehr(t *testing.T, a application) *ehr {
	t.Helper()
	token, err := n.as(a).Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &ehr{t, n, token.AccessToken, &http.Client{Transport: n.transport}}
}

// in returns the caller for a subtest.
func (e *ehr) in(t *testing.T) *ehr {
	copied := *e
	copied.t = t
	return &copied
}

// client returns the Go client with the same token.
func (e *ehr) client() *client.Client {
	return client.New(e.node.url, "", "", client.WithToken(e.token), client.WithHTTPClient(e.http))
}

// exchange sends a request once. header is names and values in turn.
func (e *ehr) exchange(ctx context.Context, method, address, body string, header ...string) (status int, h http.Header, answer []byte, err error) {
	if strings.HasPrefix(address, "/") {
		address = e.node.url + address
	}
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+e.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := e.http.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, response.Header, answer, err
}

// send sends a request, again if the service says when to, and fails the test
// unless the response has the status.
func (e *ehr) send(want int, method, address, body string, header ...string) (http.Header, []byte) {
	e.t.Helper()
	for {
		status, h, answer, err := e.exchange(e.t.Context(), method, address, body, header...)
		if err != nil {
			e.t.Fatalf("%s %s: %v", method, address, err)
		}
		if wait := h.Get("Retry-After"); wait != "" && status != want && (status == http.StatusServiceUnavailable || status == http.StatusConflict) {
			waitFor(e.t, wait)
			continue
		}
		if status != want {
			e.t.Fatalf("%s %s: %d, want %d: %.2000s", method, address, status, want, answer)
		}
		return h, answer
	}
}

// waitFor waits as long as a Retry-After says.
func waitFor(t *testing.T, seconds string) {
	t.Helper()
	n, err := strconv.Atoi(seconds)
	if err != nil {
		t.Fatalf("Retry-After: %v", err)
	}
	select {
	case <-time.After(time.Duration(n) * time.Second):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

// get returns the body of a GET that succeeds.
func (e *ehr) get(path string) []byte {
	e.t.Helper()
	_, body := e.send(http.StatusOK, "GET", path, "")
	return body
}

// startExport starts a bulk export and returns the address of its status.
func (e *ehr) startExport(path string) string {
	e.t.Helper()
	h, _ := e.send(http.StatusAccepted, "GET", fhirBase+path, "", "Prefer", "respond-async")
	return h.Get("Content-Location")
}

// bulkFile is a file in a manifest.
type bulkFile struct {
	Type, URL string
	Count     int
}

// manifest is that of a bulk export.
type manifest struct {
	TransactionTime        string
	Output, Deleted, Error []bulkFile
}

// finished waits for the end of a bulk export and returns its manifest.
func (e *ehr) finished(status string) (m manifest) {
	e.t.Helper()
	for {
		code, h, body, err := e.exchange(e.t.Context(), "GET", status, "")
		switch {
		case err != nil:
			e.t.Fatal(err)
		case code == http.StatusOK:
			if err := json.Unmarshal(body, &m); err != nil {
				e.t.Fatalf("%v: %s", err, body)
			}
			return m
		case code != http.StatusAccepted && code != http.StatusServiceUnavailable:
			e.t.Fatalf("the status of the export is %d: %s", code, body)
		}
		waitFor(e.t, h.Get("Retry-After"))
	}
}

// download writes the files of an export into a directory and returns their
// paths, and their lines by type.
func (e *ehr) download(m manifest, dir string) (paths []string, lines map[string][]string) {
	e.t.Helper()
	if len(m.Error) > 0 {
		e.t.Errorf("the export has errors: %s", e.get(m.Error[0].URL))
	}
	lines = map[string][]string{}
	for _, f := range m.Output {
		body := e.get(f.URL)
		rows := strings.Split(string(bytes.TrimSuffix(body, []byte("\n"))), "\n")
		if len(rows) != f.Count {
			e.t.Errorf("%s has %d lines, not %d", f.URL, len(rows), f.Count)
		}
		lines[f.Type] = append(lines[f.Type], rows...)
		paths = append(paths, filepath.Join(dir, f.URL[strings.LastIndexByte(f.URL, '/')+1:]))
		if err := os.WriteFile(paths[len(paths)-1], body, 0o600); err != nil {
			e.t.Fatal(err)
		}
	}
	return paths, lines
}
