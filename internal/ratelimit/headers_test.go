package ratelimit_test

import (
	"bufio"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/ratelimit"
)

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		d    ratelimit.Decision
		want http.Header
	}{
		{ratelimit.Decision{Allowed: true, Limit: 1000, Remaining: 995, Reset: 1768473000, ResetIn: 3500}, http.Header{
			"X-RateLimit-Limit": {"1000"}, "X-RateLimit-Remaining": {"995"}, "X-RateLimit-Reset": {"1768473000"},
			"RateLimit-Policy": {`"hour";q=1000;w=3600`}, "RateLimit": {`"hour";r=995;t=3500`},
		}},
		{ratelimit.Decision{}, http.Header{
			"X-RateLimit-Limit": {"0"}, "X-RateLimit-Remaining": {"0"}, "X-RateLimit-Reset": {"0"},
			"RateLimit-Policy": {`"hour";q=0;w=3600`}, "RateLimit": {`"hour";r=0;t=0`},
		}},
		{ratelimit.Decision{Limit: math.MaxInt64, Remaining: math.MaxInt64, Reset: math.MaxInt64, ResetIn: math.MaxInt64}, http.Header{
			"X-RateLimit-Limit": {"9223372036854775807"}, "X-RateLimit-Remaining": {"9223372036854775807"}, "X-RateLimit-Reset": {"9223372036854775807"},
			"RateLimit-Policy": {`"hour";q=9223372036854775807;w=3600`}, "RateLimit": {`"hour";r=9223372036854775807;t=9223372036854775807`},
		}},
	} {
		h := http.Header{"X-RateLimit-Limit": {"old"}}
		ratelimit.Set(h, tt.d)
		if len(h) != len(tt.want) {
			t.Errorf("%v, want %v", h, tt.want)
		}
		for name, want := range tt.want {
			if !slices.Equal(h[name], want) {
				t.Errorf("%s: %q, want %q", name, h[name], want)
			}
		}
	}
}

func TestAddingToOneHeaderLeavesTheOthers(t *testing.T) {
	h := map[string][]string{}
	ratelimit.Set(h, ratelimit.Decision{Limit: 10, Remaining: 5})
	h[ratelimit.LimitHeader] = append(h[ratelimit.LimitHeader], "more")
	if got := h[ratelimit.RemainingHeader]; !slices.Equal(got, []string{"5"}) {
		t.Errorf("Remaining is %q, want 5", got)
	}
}

// The names go out as they are written in the specification, and a client
// finds them in any case.
func TestHeadersOverTheWire(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ratelimit.Set(w.Header(), ratelimit.Decision{Limit: 1000, Remaining: 995, Reset: 1768473000, ResetIn: 3500})
	}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	var raw strings.Builder
	resp, err := http.ReadResponse(bufio.NewReader(io.TeeReader(conn, &raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, line := range []string{
		"X-RateLimit-Limit: 1000", "X-RateLimit-Remaining: 995", "X-RateLimit-Reset: 1768473000",
		`RateLimit: "hour";r=995;t=3500`, `RateLimit-Policy: "hour";q=1000;w=3600`,
	} {
		if !strings.Contains(raw.String(), "\r\n"+line+"\r\n") {
			t.Errorf("no line %q in\n%s", line, raw.String())
		}
		name, value, _ := strings.Cut(line, ": ")
		if got := resp.Header.Get(name); got != value {
			t.Errorf("Get(%q) = %q, want %q", name, got, value)
		}
	}
}
