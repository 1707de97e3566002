package config

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// leastToken is the minimum length of the admin listener's token.
const leastToken = 16

// adminFlags registers the flags for monitoring.
func (c *Config) adminFlags(fs *flag.FlagSet) {
	fs.StringVar(&c.AdminListen, "admin-listen", "127.0.0.1:9464", "`address` for metrics and pprof; requires --admin-token-file unless it is loopback; empty to disable")
	fs.StringVar(&c.AdminTokenFile, "admin-token-file", "", "`file`, readable only by its owner, with the bearer token for the admin listener; read again for every request")
	fs.BoolVar(&c.RequestLog, "request-log", true, "log every request at level info")
	fs.StringVar(&c.OTLPEndpoint, "otlp-endpoint", "", "`URL` of an OpenTelemetry collector (OTLP over HTTP) for traces, such as http://127.0.0.1:4318; empty to disable")
}

// validateAdmin reports errors in these flags.
func (c *Config) validateAdmin(bad func(flag, format string, args ...any)) {
	if c.AdminListen != "" {
		_, _, err := net.SplitHostPort(c.AdminListen)
		if err != nil || !c.AdminIsLocal() && c.AdminTokenFile == "" {
			bad("admin-listen", "want a loopback address such as 127.0.0.1:9464, or also --admin-token-file, not %q: metrics and pprof would be public", c.AdminListen)
		}
	}
	if _, err := c.AdminToken(); err != nil {
		bad("admin-token-file", "%v", err)
	}
	if c.OTLPEndpoint != "" {
		if u, err := url.Parse(c.OTLPEndpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
			bad("otlp-endpoint", "want a URL such as http://127.0.0.1:4318, without a password or a query")
		}
	}
}

// AdminIsLocal reports whether the admin listener is only reachable from this
// machine.
func (c *Config) AdminIsLocal() bool {
	host, _, err := net.SplitHostPort(c.AdminListen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// AdminToken reads the token of the admin listener, or returns "" if there is
// none.
func (c *Config) AdminToken() (string, error) {
	if c.AdminTokenFile == "" {
		return "", nil
	}
	f, err := os.Open(c.AdminTokenFile)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s is readable by other users (mode %04o); run chmod 600", c.AdminTokenFile, info.Mode().Perm())
	}
	text := make([]byte, 4096)
	n, err := f.Read(text)
	token := strings.TrimSpace(string(text[:n]))
	switch {
	case n == len(text):
		return "", errors.New("the token is too long")
	case len(token) < leastToken:
		return "", fmt.Errorf("%s must contain a token of at least %d characters", c.AdminTokenFile, leastToken)
	}
	return token, err
}
