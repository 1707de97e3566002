package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Base returns a function that determines the public URL of the service, for
// links: the configured one, or else the address at which the listener
// accepted the connection. It never uses the Host header, which the caller
// controls.
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

// hostOf returns a local address in the form used in links.
func hostOf(local string) string {
	if at, err := netip.ParseAddrPort(local); err == nil {
		return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port()).String()
	}
	return local
}

// strictTransport makes browsers use TLS only, for a year.
var strictTransport = []string{"max-age=31536000"}

// secure reports whether the request was made over TLS, either to this server
// or to a proxy. If a trusted proxy does not say which, the scheme of the
// configured base URL decides.
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
