package api

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestSourceOf(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, s := range []struct {
		peer      string
		forwarded []string
		trusted   []netip.Prefix
		want      string
	}{
		{"192.0.2.1:5", nil, nil, "192.0.2.1"},
		{"192.0.2.1:5", []string{"198.51.100.1"}, nil, "192.0.2.1"},
		{"192.0.2.1:5", []string{"198.51.100.1"}, trusted, "192.0.2.1"},
		{"10.0.0.1:5", []string{"198.51.100.1"}, trusted, "198.51.100.1"},
		{"10.0.0.1:5", []string{"203.0.113.7, 198.51.100.1"}, trusted, "198.51.100.1"},
		{"10.0.0.1:5", []string{"198.51.100.1, 10.0.0.2"}, trusted, "198.51.100.1"},
		{"10.0.0.1:5", []string{"198.51.100.1", "10.0.0.2"}, trusted, "198.51.100.1"},
		{"10.0.0.1:5", []string{"10.0.0.3, 10.0.0.2"}, trusted, "10.0.0.3"},
		{"10.0.0.1:5", []string{"198.51.100.1, junk, 10.0.0.2"}, trusted, "10.0.0.2"},
		{"10.0.0.1:5", nil, trusted, "10.0.0.1"},
		{"[::ffff:10.0.0.1]:5", []string{"::ffff:198.51.100.1"}, trusted, "198.51.100.1"},
		{"[fe80::1%eth0]:5", nil, trusted, "fe80::1"},
		{"[fd00::1]:5", []string{"2001:db8::1"}, trusted, "2001:db8::1"},
		{"@", []string{"198.51.100.1"}, trusted, "0.0.0.0"},
	} {
		r := &http.Request{RemoteAddr: s.peer, Header: http.Header{"X-Forwarded-For": s.forwarded}}
		if got := sourceOf(r, s.trusted).String(); got != s.want {
			t.Errorf("%s with %q: %s, want %s", s.peer, s.forwarded, got, s.want)
		}
	}
}
