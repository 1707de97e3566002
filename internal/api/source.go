package api

import (
	"net/http"
	"net/netip"
	"strings"
)

// Source returns a function that determines the caller's address, for use by
// other packages.
func Source(trusted []netip.Prefix) func(*http.Request) netip.Addr {
	return func(r *http.Request) netip.Addr { return sourceOf(r, trusted) }
}

// sourceOf returns the caller's address. X-Forwarded-For is trusted only as
// far as trusted proxies wrote it: the result is the rightmost address that is
// not a trusted proxy.
func sourceOf(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv4Unspecified()
	}
	source := peer.Addr().Unmap().WithZone("")
	if len(trusted) == 0 || !within(source, trusted) {
		return source
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			return source
		}
		source = hop.Unmap().WithZone("")
		if !within(source, trusted) {
			return source
		}
	}
	return source
}

func within(addr netip.Addr, prefixes []netip.Prefix) bool {
	for _, p := range prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
