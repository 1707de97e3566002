package api

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

const hsts = "Strict-Transport-Security"

// The header is there when callers come by TLS, on every answer, and not
// otherwise.
func TestStrictTransportSecurity(t *testing.T) {
	proxy := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for name, test := range map[string]struct {
		base      string
		trusted   []netip.Prefix
		forwarded []string
		want      bool
	}{
		"plain":                           {want: false},
		"plain address":                   {base: "http://api.example.org", want: false},
		"public address":                  {base: "https://api.example.org", want: true},
		"a proxy says so":                 {trusted: proxy, forwarded: []string{"https"}, want: true},
		"a proxy says so in capitals":     {trusted: proxy, forwarded: []string{"HTTPS , http"}, want: true},
		"a proxy says otherwise":          {base: "https://api.example.org", trusted: proxy, forwarded: []string{"http"}, want: false},
		"a proxy says nothing":            {base: "https://api.example.org", trusted: proxy, want: true},
		"somebody says so":                {forwarded: []string{"https"}, want: false},
		"somebody beside a proxy says so": {trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, forwarded: []string{"https"}, want: false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t, "sqlite", func(cfg *Config) { cfg.BaseURL, cfg.TrustedProxies = test.base, test.trusted })
			var header []string
			for _, value := range test.forwarded {
				header = append(header, "X-Forwarded-Proto", value)
			}
			for _, path := range []string{"/healthz", "/v1/patients", "/nothing", "/openapi.json", "/oauth/token"} {
				got := n.send("GET", path, "", header...).header.Values(hsts)
				if test.want != (len(got) == 1 && strings.HasPrefix(got[0], "max-age=")) || !test.want && len(got) > 0 {
					t.Errorf("%s: %q", path, got)
				}
			}
		})
	}
}

// What a caller claims in Host is in no link.
func TestLinksAreNotFromTheHostHeader(t *testing.T) {
	for _, base := range []string{"", "https://api.example.org"} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			n := start(t, "sqlite", func(cfg *Config) { cfg.BaseURL = base })
			c := n.caller("north")
			id := c.create("Arlo Finch")
			want := base
			if want == "" {
				want = n.url
			}
			for _, path := range []string{"/.well-known/oauth-authorization-server", "/openapi.json", "/v1/patients?limit=1", "/v1/patients/" + id, "/v1/events", "/v1/reports", "/nothing"} {
				request, err := http.NewRequest("GET", n.url+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				request.Host = "evil.example"
				request.Header.Set("X-Forwarded-Host", "evil.example")
				request.Header.Set("Forwarded", "host=evil.example")
				request.Header.Set("Authorization", "Bearer "+c.token)
				r := n.do(request)
				for name, values := range r.header {
					if strings.Contains(strings.Join(values, " "), "evil") {
						t.Errorf("%s: %s %q", path, name, values)
					}
				}
				if strings.Contains(string(r.body), "evil") {
					t.Errorf("%s: %s", path, r.body)
				}
				if strings.HasPrefix(path, "/.well-known") && (r.json()["issuer"] != want || r.json()["token_endpoint"] != want+"/oauth/token") {
					t.Errorf("%s, want %s", r.body, want)
				}
			}
		})
	}
}

func TestBase(t *testing.T) {
	t.Parallel()
	for local, want := range map[string]string{
		"127.0.0.1:8080": "127.0.0.1:8080", "[::1]:8080": "[::1]:8080", "[::ffff:192.0.2.1]:8080": "192.0.2.1:8080", "[fe80::1%eth0]:80": "[fe80::1]:80", "/run/socket": "/run/socket",
	} {
		if got := hostOf(local); got != want {
			t.Errorf("%s: %s, want %s", local, got, want)
		}
	}
}
