package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Base gives what tells the public address of the service, for links: what the
// operator configured, or else where the listener took the connection. It is
// never the Host header, which the caller writes.
func Base(configured string) func(*http.Request) string {
	return func(r *http.Request) string {
		if configured != "" {
			return configured
		}
		scheme, host := "http", "localhost"
		if r.TLS != nil {
			scheme = "https"
		}
		if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
			host = hostOf(local.String())
		}
		return scheme + "://" + host
	}
}

// hostOf is a local address as it stands in a link.
func hostOf(local string) string {
	if at, err := netip.ParseAddrPort(local); err == nil {
		return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port()).String()
	}
	return local
}

// strictTransport makes browsers use nothing but TLS for a year.
var strictTransport = []string{"max-age=31536000"}

// secure reports whether the service is reached by TLS: its own, or that of a
// proxy. A trusted proxy says so for each request; one that does not leaves it
// to the configured address.
func (a *API) secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	if said := r.Header["X-Forwarded-Proto"]; len(said) > 0 && len(a.TrustedProxies) > 0 {
		if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && within(peer.Addr().Unmap().WithZone(""), a.TrustedProxies) {
			first, _, _ := strings.Cut(said[0], ",")
			return strings.EqualFold(strings.TrimSpace(first), "https")
		}
	}
	return a.behindTLS
}
