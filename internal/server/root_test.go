package server

import (
	"net/http"
	"strings"
	"testing"
)

// A browser that opens the address of the service is redirected to the portal;
// programs get a 404 at "/", as for every unknown path.
func TestRootSendsBrowsersToThePortal(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, test := range []struct {
		method, path, accept string
		status               int
		location             string
	}{
		{"GET", "/", browser, http.StatusSeeOther, "/portal/"},
		{"HEAD", "/", browser, http.StatusSeeOther, "/portal/"},
		{"GET", "/?from=a+bookmark", browser, http.StatusSeeOther, "/portal/"},
		{"GET", "/", "", http.StatusNotFound, ""},
		{"GET", "/", "*/*", http.StatusNotFound, ""},
		{"GET", "/", "application/json", http.StatusNotFound, ""},
		{"GET", "/", "text/html, application/json", http.StatusNotFound, ""},
		{"HEAD", "/", "*/*", http.StatusNotFound, ""},
		{"POST", "/", browser, http.StatusNotFound, ""},
		{"DELETE", "/", browser, http.StatusNotFound, ""},
		{"GET", "/nothing", browser, http.StatusNotFound, ""},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, s.URL()+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "elsewhere.example" // no link is made of it
		request.Header.Set("X-Forwarded-Host", "elsewhere.example")
		if test.accept != "" {
			request.Header.Set("Accept", test.accept)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != test.status || answer.Header.Get("Location") != test.location {
			t.Errorf("%s %s for %q: %d to %q, want %d to %q", test.method, test.path, test.accept, answer.StatusCode, answer.Header.Get("Location"), test.status, test.location)
		}
		if answer.Header.Get("X-Request-Id") == "" || answer.Header.Get("X-RateLimit-Limit") == "" || !strings.Contains(answer.Header.Get("Cache-Control"), "no-store") {
			t.Errorf("%s %s: headers of every answer are missing: %v", test.method, test.path, answer.Header)
		}
	}
}
