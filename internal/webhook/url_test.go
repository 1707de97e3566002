package webhook

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

func TestCheckURL(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("é", longestURL-len("https://example.org/"))
	for _, c := range []struct {
		url  string
		dev  bool
		want string // part of the message; "" when it is taken
	}{
		{"https://example.org", false, ""},
		{"HTTPS://Example.ORG:8443/hooks?key=1&b=%20", false, ""},
		{"https://xn--bcher-kva.example/a_b", false, ""},
		{"https://93.184.215.14/", false, ""},
		{"https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:443/", false, ""},
		{"https://intranet/", false, ""},
		{long, false, ""},
		{long + "x", false, "at most 2000 characters"},

		{"", false, "missing"},
		{"http://example.org/", false, "https://"},
		{"ftp://example.org/", false, "https://"},
		{"example.org/hooks", false, "https://"},
		{"//example.org", false, "https://"},
		{" https://example.org/", false, "not a valid URL"},
		{"https://example.org/\n", false, "not a valid URL"},
		{"https://exa mple.org/", false, "not a valid URL"},
		{"https://example.org\\@10.0.0.1/", false, "not a valid URL"},
		{"https:example.org", false, "have a host name"},
		{"https:///hooks", false, "have a host name"},
		{"https://:443/", false, "have a host name"},
		{"https://user:password@example.org/", false, "user name"},
		{"https://@example.org/", false, "user name"},
		{"https://example.org/#top", false, "fragment"},
		{"https://example.org/#", false, "fragment"},
		{"https://example.org:/", false, "port"},
		{"https://example.org:0/", false, "port"},
		{"https://example.org:65536/", false, "port"},

		{"https://10.0.0.1/", false, "private"},
		{"https://169.254.169.254/latest/meta-data/", false, "link-local"},
		{"https://[::1]/", false, "loopback"},
		{"https://[::ffff:10.0.0.1]/", false, "private"},
		{"https://[64:ff9b::7f00:1]/", false, "loopback"},
		{"https://localhost/", false, "loopback"},
		{"https://LOCALHOST/", false, "loopback"},
		{"https://a.localhost/", false, "loopback"},
		{"https://[fe80::1%25eth0]/", false, "zone"},
		{"https://2130706433/", false, "have a host name"},
		{"https://0x7f000001/", false, "have a host name"},
		{"https://0x7f.1/", false, "have a host name"},
		{"https://127.1/", false, "have a host name"},
		{"https://0177.0.0.1/", false, "have a host name"},
		{"https://127.0.0.1./", false, "have a host name"},
		{"https://example.org./", false, "have a host name"},
		{"https://example..org/", false, "have a host name"},
		{"https://127。0。0。1/", false, "have a host name"},
		{"https://bücher.example/", false, "xn--"},
		{"https://" + strings.Repeat("a", 64) + ".org/", false, "have a host name"},
		{"https://" + strings.Repeat("a.", 130) + "org/", false, "have a host name"},

		{"http://localhost:8080/", true, ""},
		{"http://127.0.0.1:8080/", true, ""},
		{"http://[::1]:8080/", true, ""},
		{"https://localhost:8443/", true, ""},
		{"http://localhost:8080/", false, "https://"},
		{"http://example.org/", true, "only for loopback"},
		{"http://10.0.0.1/", true, "only for loopback"},
		{"https://10.0.0.1/", true, "private"},
	} {
		err := CheckURL(c.url, c.dev)
		if c.want == "" {
			if err != nil {
				t.Errorf("%q (dev %v) is refused: %v", c.url, c.dev, err)
			}
			continue
		}
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || e.Code != fault.InvalidParameter || e.Details["parameter"] != "url" || !strings.Contains(e.Message, c.want) {
			t.Errorf("%q (dev %v): %v, want a fault of url with %q", c.url, c.dev, err, c.want)
		} else if c.url != "" && e.Details["value"] != c.url {
			t.Errorf("%q is echoed as %v", c.url, e.Details["value"])
		}
	}
}

func TestCheckURLTakesWhatIsAllowed(t *testing.T) {
	allow := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8")}
	for url, allowed := range map[string]bool{
		"https://10.0.0.1/": true, "https://localhost/": true, "https://192.168.0.1/": false, "http://10.0.0.1/": false, "http://localhost/": false,
	} {
		if err := CheckURL(url, false, allow...); (err == nil) != allowed {
			t.Errorf("%s: %v, want allowed %v", url, err, allowed)
		}
	}
}
