package webhook

import "net/netip"

// network is a range of non-public addresses, with a description.
type network struct {
	prefix netip.Prefix
	is     string
}

// networks are those of the IANA special-purpose address registries (IPv4 and
// IPv6), multicast and reserved space, and ranges that were withdrawn but are
// still routed somewhere. If two contain an address, the first one describes
// it.
var networks = parseNetworks(
	"0.0.0.0/8", "is the current network",
	"10.0.0.0/8", "is private",
	"100.64.0.0/10", "is shared by a carrier's customers (CGNAT)",
	"127.0.0.0/8", "is loopback",
	"168.63.129.16/32", "belongs to the platform of a cloud (Azure)",
	"169.254.0.0/16", "is link-local",
	"172.16.0.0/12", "is private",
	"192.0.0.0/24", "is reserved for protocols",
	"192.0.2.0/24", "is for documentation",
	"192.31.196.0/24", "belongs to the DNS sink AS112",
	"192.52.193.0/24", "is for multicast tunnels (AMT)",
	"192.88.99.0/24", "is a 6to4 relay",
	"192.168.0.0/16", "is private",
	"192.175.48.0/24", "belongs to the DNS sink AS112",
	"198.18.0.0/15", "is for benchmarks",
	"198.51.100.0/24", "is for documentation",
	"203.0.113.0/24", "is for documentation",
	"224.0.0.0/4", "is multicast",
	"255.255.255.255/32", "is the broadcast address",
	"240.0.0.0/4", "is reserved",

	"::/128", "is unspecified",
	"::1/128", "is loopback",
	"::/96", "is an IPv4 address in a withdrawn form",
	// The address layout of a local translator is its operator's choice, so the
	// IPv4 address cannot be extracted.
	"64:ff9b:1::/48", "is behind a local translator (NAT64)",
	"100::/64", "is for discarding",
	"100:0:0:1::/64", "is a dummy prefix",
	"2001::/32", "is a Teredo tunnel",
	"2001:2::/48", "is for benchmarks",
	"2001:10::/28", "is a withdrawn ORCHID identifier",
	"2001:20::/28", "is an ORCHID identifier",
	"2001:30::/28", "is a drone's identifier (DRIP)",
	"2001::/23", "is reserved for protocols",
	"2001:db8::/32", "is for documentation",
	"2620:4f:8000::/48", "belongs to the DNS sink AS112",
	"3fff::/20", "is for documentation",
	"5f00::/16", "is a segment routing identifier",
	"fc00::/7", "is private",
	"fe80::/10", "is link-local",
	"fec0::/10", "is site-local",
	"ff00::/8", "is multicast",
)

// global6 is the allocated part of IPv6; the rest is reserved.
var global6 = netip.MustParsePrefix("2000::/3")

// special describes addr if it is not public, and returns "" otherwise.
func special(addr netip.Addr) string {
	addr = addr.WithZone("")
	for _, n := range networks {
		if n.prefix.Contains(addr) {
			return n.is
		}
	}
	if addr.Is6() && !global6.Contains(addr) {
		return "is reserved"
	}
	return ""
}

func parseNetworks(pairs ...string) []network {
	list := make([]network, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, network{netip.MustParsePrefix(pairs[i]), pairs[i+1]})
	}
	return list
}
