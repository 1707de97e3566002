package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

func TestTypedError(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		refuse(w, http.StatusBadRequest, client.CodeInvalidParameter, map[string]any{"parameter": "name", "value": "Ada"})
	})
	_, err := c.CreatePatient(t.Context(), client.NewPatient{Name: "Ada"})
	want := &client.Error{
		Status: 400, Code: client.CodeInvalidParameter, Message: "Not so.", RequestID: "req_1", RetryAfter: 7 * time.Second,
		Details: map[string]any{"parameter": "name", "value": "Ada"},
	}
	if got, ok := errors.AsType[*client.Error](err); !ok || !reflect.DeepEqual(got, want) {
		t.Fatalf("error %#v, want %#v", err, want)
	}
	if got, want := err.Error(), "anodyne: INVALID_PARAMETER: Not so. (status 400, request req_1)"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestIsCode(t *testing.T) {
	missing := &client.Error{Status: 404, Code: client.CodeNotFound}
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("other"), false},
		{&client.Error{Status: 404}, false}, // a proxy's, not the service's
		{missing, true},
		{fmt.Errorf("import: %w", missing), true},
	} {
		if got := client.IsNotFound(tt.err); got != tt.want {
			t.Errorf("IsNotFound(%v) = %v", tt.err, got)
		}
	}
}

func TestAnswersOfStrangers(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		text   string
	}{
		{"HTML error", 404, "<h1>Smith?</h1>", "anodyne: Not Found (status 404)"},
		{"JSON of another shape", 400, `{"error":"Smith"}`, "anodyne: Bad Request (status 400)"},
		{"redirect", 308, "", "anodyne: Permanent Redirect (status 308)"},
		{"HTML success", 200, "<h1>Smith</h1>", "anodyne: get patient: the answer is not the JSON expected (*json.SyntaxError)"},
		{"wrong type", 200, `{"created_at":"Smith"}`, "anodyne: get patient: the answer is not the JSON expected (*time.ParseError)"},
		{"empty success", 200, "", "anodyne: get patient: the answer is not the JSON expected (*json.SyntaxError)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://elsewhere.test/")
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			})
			if _, err := c.Patient(t.Context(), "pat_1"); err == nil || err.Error() != tt.text {
				t.Errorf("error %v, want %s", err, tt.text)
			}
		})
	}
}

func TestHugeAnswerIsRefused(t *testing.T) {
	tries := 0
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		tries++
		chunk := bytes.Repeat([]byte(" "), 1<<20)
		for range 33 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	if _, err := c.Patient(t.Context(), "pat_1"); err == nil || !strings.Contains(err.Error(), "is over") || tries != 1 {
		t.Errorf("error %v after %d tries", err, tries)
	}
}

func TestUnusableBaseURL(t *testing.T) {
	for _, base := range []string{"", "anodyne.example.org", "ftp://h", "http://", "http://u:p@h", "http://h?q=1", "http://h#f", "http://h:x%"} {
		c := client.New(base, "", "", client.WithToken("at_1"))
		if _, err := c.Patient(t.Context(), "pat_1"); err == nil || !strings.Contains(err.Error(), "base URL") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestIdentifierThatIsNone(t *testing.T) {
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was asked for", r.URL) })
	for _, id := range []string{"", ".", ".."} {
		if _, err := c.Patient(t.Context(), id); err == nil {
			t.Errorf("%q was taken for an identifier", id)
		}
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "pat_1") {
			answer(w, http.StatusOK, client.Patient{})
			return
		}
		refuse(w, http.StatusNotFound, client.CodeNotFound, map[string]any{"id": strings.Repeat("x", 100_000)})
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	c := client.New(server.URL, "", "", client.WithToken("at_1"))
	defer c.CloseIdleConnections()
	for range 5 {
		if _, err := c.Patient(t.Context(), "pat_1"); err != nil {
			t.Error(err)
		}
		if _, err := c.Patient(t.Context(), "pat_2"); !client.IsNotFound(err) {
			t.Errorf("error %v, want not found", err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestRateLimit(t *testing.T) {
	told := true
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if told {
			w.Header().Set("X-RateLimit-Limit", "1000")
			w.Header().Set("X-RateLimit-Remaining", "999")
			w.Header().Set("X-RateLimit-Reset", "1800000000")
		}
		refuse(w, http.StatusNotFound, client.CodeNotFound, nil)
	})
	if got := c.RateLimit(); got != (client.RateLimit{}) {
		t.Errorf("before the first answer: %+v", got)
	}
	want := client.RateLimit{Limit: 1000, Remaining: 999, Reset: time.Unix(1800000000, 0).UTC()}
	for _, told = range []bool{true, false} {
		_, _ = c.Patient(t.Context(), "pat_1")
		if got := c.RateLimit(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}
