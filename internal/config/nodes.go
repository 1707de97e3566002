package config

import (
	"flag"
	"net"
	"net/netip"

	"anodyne.example/anodyne/internal/store/engine"
)

// nodeFlags registers the flags for the other nodes.
func (c *Config) nodeFlags(fs *flag.FlagSet) {
	fs.StringVar(&c.NodeListen, "node-listen", "", "`address` at which other nodes on the same PostgreSQL database ask for their part of an organisation larger than --cohort-memory; encrypted, and only for processes with the same master key; empty to disable")
	fs.StringVar(&c.NodeAddress, "node-address", "", "`address` at which other nodes reach --node-listen (default: the address of --node-listen)")
}

// validateNodes reports errors in these flags.
func (c *Config) validateNodes(bad func(flag, format string, args ...any)) {
	if c.NodeListen == "" {
		if c.NodeAddress != "" {
			bad("node-address", "give --node-listen too")
		}
		return
	}
	if !engine.IsPostgres(c.Database) {
		bad("node-listen", "a SQLite database has one node; it must be empty")
	}
	host, _, err := net.SplitHostPort(c.NodeListen)
	if err != nil {
		bad("node-listen", "want HOST:PORT, not %q", c.NodeListen)
		return
	}
	ip, err := netip.ParseAddr(host)
	if everywhere := host == "" || err == nil && ip.IsUnspecified(); everywhere && c.NodeAddress == "" {
		bad("node-listen", "%q does not say how other nodes reach this one; give --node-address too", c.NodeListen)
	}
	if _, _, err := net.SplitHostPort(c.NodeAddress); c.NodeAddress != "" && err != nil {
		bad("node-address", "want HOST:PORT, not %q", c.NodeAddress)
	}
}
