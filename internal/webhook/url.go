package webhook

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/fault"
)

// longestURL is the maximum length in characters.
const longestURL = 2000

// CheckURL checks a URL to be registered. The error is a *fault.Error for the
// parameter url. Names are not resolved: their addresses are checked at each
// connection. With dev, loopback addresses are allowed, also with http.
func CheckURL(raw string, dev bool, allow ...netip.Prefix) error {
	if raw == "" {
		return fault.Parameter("url", nil, "url is missing.")
	}
	if err := judgeURL(raw, dev, newGuard(dev, allow)); err != nil {
		return fault.Parameter("url", raw, "url "+err.Error()+".")
	}
	return nil
}

// judgeURL returns what is wrong with a URL, as the rest of a sentence that
// begins with "the URL".
func judgeURL(raw string, dev bool, g guard) error {
	if utf8.RuneCountInString(raw) > longestURL {
		return errors.New("must have at most 2000 characters")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("is not a valid URL; want one such as https://example.org/hooks")
	}
	plain := dev && u.Scheme == "http"
	switch {
	case u.Scheme != "https" && !plain:
		return errors.New("must start with https://")
	case u.Host == "" || u.Hostname() == "":
		return errors.New("must have a host name, as in https://example.org/hooks")
	case u.User != nil:
		return errors.New("must not contain a user name or password; messages are signed instead")
	case strings.Contains(raw, "#"):
		return errors.New("must not contain a fragment (#)")
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errors.New("must have a port between 1 and 65535, or none")
		}
	}
	return judgeHost(u.Hostname(), plain, g)
}

var (
	loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})

	errPlain = errors.New("must start with https://; http is allowed only for loopback")
	errHost  = errors.New("must have a host name of letters, digits, hyphens and dots (xn-- for others), or an IP address")
)

// judgeHost checks a host as written. plain is set if the connection would not
// be encrypted.
func judgeHost(host string, plain bool, g guard) error {
	host = strings.ToLower(host)
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil && addr.Zone() != "":
		return errors.New("must not contain a zone (%)")
	case err == nil:
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		addr = loopback4
	case !isName(host):
		return errHost
	case plain:
		return errPlain
	default:
		return nil
	}
	if plain && !addr.Unmap().IsLoopback() {
		return errPlain
	}
	if err := g.judge(addr); err != nil {
		return errors.New("has a host that this server must not connect to: " + err.Error())
	}
	return nil
}

// isName reports whether host, in lower case, is a name and not something that
// a resolver might read as an address: 2130706433, 0x7f.1 and 0177.0.0.1 are
// all loopback for getaddrinfo.
func isName(host string) bool {
	if len(host) > 253 {
		return false
	}
	var last string
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
		last = label
	}
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}
