package webhook

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"
)

// guard decides which addresses may be dialled. Since users choose the URLs of
// webhooks, everything except public addresses is refused unless the operator
// has allowed the network. Otherwise a webhook could be used to reach the
// server's internal network.
type guard struct{ allow []netip.Prefix }

func newGuard(dev bool, allow []netip.Prefix) guard {
	if dev {
		allow = append([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, allow...)
	}
	return guard{allow}
}

// refusedError is an address that must not be dialled.
type refusedError struct {
	addr netip.Addr
	is   string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the address %s %s; the operator of this server can allow it with --webhook-allow-cidr", e.addr, e.is)
}

// control is the net.Dialer.ControlContext of every connection. It checks the
// address about to be dialled, after name resolution, so there is no second
// lookup that could return something else. If a name has several addresses,
// each is checked when it is dialled.
func (g guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return g.judge(at.Addr())
}

// judge returns a *refusedError for an address that must not be dialled.
func (g guard) judge(addr netip.Addr) error {
	inner := addr.Unmap()
	for {
		if g.allows(inner) {
			return nil
		}
		next, translated := embedded(inner)
		if !translated {
			break
		}
		inner = next
	}
	if is := special(inner); is != "" {
		return &refusedError{addr, is}
	}
	return nil
}

func (g guard) allows(addr netip.Addr) bool {
	for _, network := range g.allow {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// embedded returns the IPv4 address to which a translator or relay would
// connect for addr.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return addr, false
	}
	bytes := addr.WithZone("").As16()
	switch {
	case nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(bytes[12:16])), true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(bytes[2:6])), true
	}
	return addr, false
}
