package webhook

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJudge(t *testing.T) {
	closed := newGuard(false, nil)
	for _, c := range []struct{ addr, is string }{
		{"93.184.215.14", ""}, {"1.1.1.1", ""}, {"223.255.255.255", ""}, {"2606:2800:21f:cb07:6820:80da:af6b:8b2c", ""}, {"2a00::1", ""},

		{"0.0.0.0", "the current network"}, {"0.1.2.3", "the current network"},
		{"10.0.0.1", "private"}, {"172.16.0.1", "private"}, {"172.31.255.255", "private"}, {"192.168.1.1", "private"},
		{"100.64.0.1", "CGNAT"}, {"100.127.255.255", "CGNAT"}, {"100.100.100.200", "CGNAT"},
		{"127.0.0.1", "loopback"}, {"127.255.255.254", "loopback"},
		{"169.254.169.254", "link-local"}, {"168.63.129.16", "cloud"},
		{"192.0.0.8", "protocols"}, {"192.0.0.192", "protocols"},
		{"192.0.2.1", "documentation"}, {"198.51.100.1", "documentation"}, {"203.0.113.1", "documentation"},
		{"192.88.99.1", "6to4 relay"}, {"198.18.0.1", "benchmarks"}, {"198.19.255.255", "benchmarks"},
		{"192.31.196.1", "AS112"}, {"192.175.48.1", "AS112"}, {"192.52.193.1", "AMT"},
		{"224.0.0.1", "multicast"}, {"239.255.255.255", "multicast"}, {"240.0.0.1", "reserved"}, {"255.255.255.255", "broadcast"},

		{"::", "unspecified"}, {"::1", "loopback"}, {"::127.0.0.1", "withdrawn"}, {"::8.8.8.8", "withdrawn"},
		{"::ffff:127.0.0.1", "loopback"}, {"::ffff:10.0.0.1", "private"}, {"::ffff:169.254.169.254", "link-local"}, {"::ffff:1.1.1.1", ""},
		{"::ffff:0:127.0.0.1", "reserved"}, {"::ffff:0:8.8.8.8", "reserved"},
		{"64:ff9b::127.0.0.1", "loopback"}, {"64:ff9b::10.0.0.1", "private"}, {"64:ff9b::169.254.169.254", "link-local"}, {"64:ff9b::8.8.8.8", ""},
		{"64:ff9b:1::8.8.8.8", "translator"}, {"64:ff9b:1:ffff::1", "translator"}, {"64:ff9b:2::1", "reserved"},
		{"2002:7f00:1::1", "loopback"}, {"2002:a00:1::1", "private"}, {"2002:a9fe:a9fe::", "link-local"}, {"2002:808:808::1", ""},
		{"2001::1", "Teredo"}, {"2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"},
		{"2001:2::1", "benchmarks"}, {"2001:10::1", "ORCHID"}, {"2001:20::1", "ORCHID"}, {"2001:3f:ffff::1", "DRIP"}, {"2001:1ff::1", "protocols"},
		{"2001:db8::1", "documentation"}, {"3fff::1", "documentation"}, {"3fff:fff::1", "documentation"}, {"3fff:1000::1", ""},
		{"100::1", "discarding"}, {"100:0:0:1::1", "dummy"}, {"5f00::1", "segment routing"}, {"2620:4f:8000::1", "AS112"},
		{"fc00::1", "private"}, {"fd00:ec2::254", "private"}, {"fe80::1", "link-local"}, {"fe80::1%eth0", "link-local"}, {"fec0::1", "site-local"},
		{"ff02::1", "multicast"}, {"4000::1", "reserved"}, {"e000::1", "reserved"}, {"f000::1", "reserved"},
	} {
		addr := netip.MustParseAddr(c.addr)
		err := closed.judge(addr)
		switch {
		case c.is == "" && err != nil:
			t.Errorf("%s is refused: %v", c.addr, err)
		case c.is != "" && (err == nil || !strings.Contains(err.Error(), c.is)):
			t.Errorf("%s: %v, want that it is %s", c.addr, err, c.is)
		case c.is != "" && !strings.Contains(err.Error(), addr.String()):
			t.Errorf("the error does not name %s: %v", addr, err)
		}
	}
}

func TestEdgesOfNetworks(t *testing.T) {
	for _, n := range networks {
		first, last := n.prefix.Addr(), lastOf(n.prefix)
		if special(first) == "" || special(last) == "" {
			t.Errorf("%s: its first or last address is not refused", n.prefix)
		}
		if n.prefix != n.prefix.Masked() {
			t.Errorf("%s does not begin where it says", n.prefix)
		}
	}
	// The addresses around the ranges that are surrounded by public ones.
	for _, public := range []string{"1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "168.63.129.15", "168.63.129.17",
		"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255",
		"192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "2001:200::", "2001:db7::", "2001:db9::", "2003::", "3ffe::"} {
		if is := special(netip.MustParseAddr(public)); is != "" {
			t.Errorf("%s %s, they say; it is public", public, is)
		}
	}
}

func lastOf(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for bit := p.Bits(); bit < 8*len(bytes); bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// TestNoFormOfAnAddressIsALoophole checks every IPv6 form of an IPv4 address
// like the address itself.
func TestNoFormOfAnAddressIsALoophole(t *testing.T) {
	g := newGuard(false, nil)
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "bytes")
		v4 := netip.AddrFrom4([4]byte(b))
		refused := g.judge(v4) != nil
		for _, prefix := range []string{"::ffff:", "64:ff9b::", "::", "::ffff:0:", "64:ff9b:1::"} {
			form := netip.MustParseAddr(prefix + v4.String())
			if refused && g.judge(form) == nil {
				t.Fatalf("%s is refused, but %s is not", v4, form)
			}
		}
		var six [16]byte
		copy(six[:], append([]byte{0x20, 0x02}, b...))
		if form := netip.AddrFrom16(six); refused && g.judge(form) == nil {
			t.Fatalf("%s is refused, but %s is not", v4, form)
		}
	})
}

func TestAllowedNetworks(t *testing.T) {
	g := newGuard(false, []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("64:ff9b:1::/48")})
	for addr, allowed := range map[string]bool{
		"10.1.2.3": true, "10.2.0.1": false, "::ffff:10.1.2.3": true, "64:ff9b::10.1.2.3": true, "2002:a01:203::1": true,
		"fd12::1": true, "fc00::1": false, "64:ff9b:1::1": true, "127.0.0.1": false, "1.1.1.1": true,
	} {
		if err := g.judge(netip.MustParseAddr(addr)); (err == nil) != allowed {
			t.Errorf("%s: %v, want allowed %v", addr, err, allowed)
		}
	}
	dev := newGuard(true, nil)
	for addr, allowed := range map[string]bool{"127.0.0.1": true, "127.9.9.9": true, "::1": true, "10.0.0.1": false, "169.254.169.254": false, "0.0.0.0": false} {
		if err := dev.judge(netip.MustParseAddr(addr)); (err == nil) != allowed {
			t.Errorf("in development mode %s: %v, want allowed %v", addr, err, allowed)
		}
	}
}

func TestControlRefusesWhatItCannotRead(t *testing.T) {
	g := newGuard(true, nil)
	for address, want := range map[string]bool{"127.0.0.1:80": true, "[::1]:443": true, "10.0.0.1:80": false, "[fe80::1%lo]:80": false, "/run/socket": false, "localhost:80": false} {
		if err := g.control(t.Context(), "tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := g.control(t.Context(), "tcp4", "10.0.0.1:80", nil); !errors.As(err, new(*refusedError)) {
		t.Errorf("got %v", err)
	}
}
