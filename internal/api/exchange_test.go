package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestRequestIDIsKeptOrReplaced(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, id := range []string{"a", "6f0c8b1e-6f0b-4f6e-9a53-0d1c4f3f8a11", "A.b_c:d-9", strings.Repeat("x", 128)} {
			for _, r := range []*reply{c.get("/v1/patients", "X-Request-Id", id), n.send("GET", "/v1/patients", "", "X-Request-Id", id), n.send("GET", "/nothing", "", "X-Request-Id", id)} {
				if got := r.header.Get("X-Request-Id"); got != id {
					t.Errorf("%s: %q became %q", r.what, id, got)
				}
			}
		}
		seen := map[string]bool{}
		for _, id := range []string{"", "a b", "a\"b", "a{b}", strings.Repeat("x", 129), "é", "a,b"} {
			got := c.get("/v1/patients", "X-Request-Id", id).header.Get("X-Request-Id")
			if !strings.HasPrefix(got, "req_") || len(got) != 30 || seen[got] {
				t.Errorf("%q became %q", id, got)
			}
			seen[got] = true
		}
		if got := c.get("/v1/patients", "X-Request-Id", "a", "X-Request-Id", "b").header.Get("X-Request-Id"); !strings.HasPrefix(got, "req_") {
			t.Errorf("of two it took %q", got)
		}
	})
}

func TestGzipOnlyWhenAsked(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.fill(30)
		plain := c.get("/v1/patients").is(http.StatusOK)
		for accept, coded := range map[string]bool{"": false, "identity": false, "br": false, "gzip;q=0": false, "gzip; q=0.0": false, "deflate, br": false,
			"gzip": true, "br, gzip": true, "GZIP": true, "gzip;q=0.5": true, "deflate, gzip;q=1.0, *;q=0.5": true} {
			r := c.get("/v1/patients", "Accept-Encoding", accept).is(http.StatusOK)
			if got := r.header.Get("Content-Encoding") == "gzip"; got != coded {
				t.Errorf("Accept-Encoding %q: Content-Encoding %q", accept, r.header.Get("Content-Encoding"))
				continue
			}
			if !slices.Contains(r.header.Values("Vary"), "Accept-Encoding") {
				t.Errorf("Vary %q", r.header.Values("Vary"))
			}
			body := r.body
			if coded {
				reader, err := gzip.NewReader(bytes.NewReader(r.body))
				if err != nil {
					t.Fatal(err)
				}
				if body, err = io.ReadAll(reader); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(body, plain.body) {
				t.Errorf("Accept-Encoding %q: another body", accept)
			}
		}
		if r := n.send("GET", "/healthz", "", "Accept-Encoding", "gzip"); r.header.Get("Content-Encoding") != "" {
			t.Error("a few bytes are compressed")
		}
	})
}

func TestNothingIsSniffedOrStored(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, r := range []*reply{c.get("/v1/patients"), c.get("/v1/nothing"), n.form("/oauth/token", nil), c.post("/v1/patients", fullPatient)} {
			if r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v", r.what, r.header)
			}
		}
	})
}

const origin = "https://app.example.org"

func preflight(n *node, path, from string) *reply {
	return n.send("OPTIONS", path, "", "Origin", from, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
}

func corsHeaders(r *reply) (names []string) {
	for name := range r.header {
		if strings.HasPrefix(name, "Access-Control-") {
			names = append(names, name)
		}
	}
	return names
}

func TestNoCORSUnlessConfigured(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		preflight(n, "/v1/patients", origin).is(http.StatusUnauthorized)
		preflight(n, "/oauth/token", origin).is(http.StatusMethodNotAllowed)
		for _, r := range []*reply{preflight(n, "/v1/patients", origin), c.get("/v1/patients", "Origin", origin)} {
			if got := corsHeaders(r); len(got) > 0 || slices.Contains(r.header.Values("Vary"), "Origin") {
				t.Errorf("%s: %v", r.what, got)
			}
		}
	})
}

func TestCORSOfAConfiguredOrigin(t *testing.T) {
	eachWith(t, func(cfg *Config) { cfg.CORSOrigins = []string{origin} }, func(t *testing.T, n *node) {
		c := n.caller("north")
		before := n.send("GET", "/healthz", "").remaining()
		for _, path := range []string{"/v1/patients", "/v1/patients/pat_x", "/oauth/token"} {
			r := preflight(n, path, origin).is(http.StatusNoContent)
			if r.header.Get("Access-Control-Allow-Origin") != origin || !strings.Contains(r.header.Get("Access-Control-Allow-Methods"), "PATCH") ||
				!strings.Contains(r.header.Get("Access-Control-Allow-Headers"), "Authorization") {
				t.Errorf("%v", r.header)
			}
			if r.remaining() != before {
				t.Errorf("a preflight request was counted")
			}
		}
		for _, r := range []*reply{c.get("/v1/patients", "Origin", origin), n.send("GET", "/v1/patients", "", "Origin", origin)} {
			if r.header.Get("Access-Control-Allow-Origin") != origin || !strings.Contains(r.header.Get("Access-Control-Expose-Headers"), "X-RateLimit-Remaining") ||
				r.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: %v", r.what, r.header)
			}
		}
		for _, from := range []string{"https://evil.example.org", "null", origin + ".evil.org", "http://app.example.org"} {
			r := c.get("/v1/patients", "Origin", from).is(http.StatusOK)
			if got := corsHeaders(r); len(got) > 0 || !slices.Contains(r.header.Values("Vary"), "Origin") {
				t.Errorf("%s: %v, Vary %q", from, got, r.header.Values("Vary"))
			}
			preflight(n, "/v1/patients", from).is(http.StatusUnauthorized)
		}
	})
}
