package ratelimit

import (
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestAddressesShareAnAllowanceBySite(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", true},
		{"2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"fe80::1%eth0", "fe80::2%eth1", true},
		{"0.0.0.0", "::", false},
		{"0.0.0.0", "", false},
		{"", "", true},
	} {
		now := time.Unix(1_700_000_000, 0)
		l := NewAddresses(1, 10, func() time.Time { return now })
		a, _ := netip.ParseAddr(tt.a)
		b, _ := netip.ParseAddr(tt.b)
		if !l.Take(a).Allowed {
			t.Errorf("%q is refused at first", tt.a)
		}
		if got := l.Take(b).Allowed; got == tt.same {
			t.Errorf("%q after %q: allowed %v", tt.b, tt.a, got)
		}
	}
}

func TestAddressesDecide(t *testing.T) {
	now := time.Unix(1_700_000_000, 500)
	begin := now
	l := NewAddresses(3, 10, func() time.Time { return now })
	addr := netip.MustParseAddr("192.0.2.1")
	check := func(step string, got, want Decision) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %+v, want %+v", step, got, want)
		}
	}
	reset := begin.Add(Window).Unix() + 1
	check("peek before", l.Peek(addr), Decision{true, 3, 3, reset, 3600})
	check("first", l.Take(addr), Decision{true, 3, 2, reset, 3600})
	now = begin.Add(time.Minute)
	check("second", l.Take(addr), Decision{true, 3, 1, reset, 3540})
	check("peek", l.Peek(addr), Decision{true, 3, 1, reset, 3540})
	check("third", l.Take(addr), Decision{true, 3, 0, reset, 3540})
	check("fourth", l.Take(addr), Decision{false, 3, 0, reset, 3540})
	check("peek exhausted", l.Peek(addr), Decision{false, 3, 0, reset, 3540})
	now = begin.Add(-4 * time.Minute)
	check("clock back", l.Take(addr), Decision{false, 3, 0, reset, 3840})
	now = begin.Add(Window - 1)
	check("last moment", l.Take(addr), Decision{false, 3, 0, reset, 1})
	now = begin.Add(Window)
	check("peek ended", l.Peek(addr), Decision{true, 3, 3, reset + 3600, 3600})
	check("new window", l.Take(addr), Decision{true, 3, 2, reset + 3600, 3600})
}

// A clock that was days ahead is corrected: an address waits for an hour, not
// for days.
func TestAddressesOfAClockFarBack(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	now := begin.Add(48 * time.Hour)
	l := NewAddresses(1, 10, func() time.Time { return now })
	addr := netip.MustParseAddr("192.0.2.1")
	l.Take(addr)
	now = begin
	want := Decision{false, 1, 0, begin.Add(Window).Unix(), 3600}
	if peek, take := l.Peek(addr), l.Take(addr); peek != want || take != want {
		t.Errorf("%+v and %+v, want %+v", peek, take, want)
	}
	now = begin.Add(Window)
	if !l.Take(addr).Allowed {
		t.Error("refused after an hour")
	}
}

func TestAddressesAreExact(t *testing.T) {
	l := NewAddresses(1000, 10, time.Now)
	addr := netip.MustParseAddr("2001:db8::1")
	var allowed atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				if l.Take(addr).Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	group.Wait()
	if allowed.Load() != 1000 {
		t.Errorf("%d passed, want 1000", allowed.Load())
	}
}

func TestFloodDoesNotFreeAGuesser(t *testing.T) {
	const capacity = 100
	l := NewAddresses(10, capacity, time.Now)
	guesser := netip.MustParseAddr("192.0.2.1")
	for range 20 {
		l.Take(guesser)
	}
	for i := range uint32(50 * capacity) {
		l.Take(numbered(i))
		if len(l.sources) > capacity {
			t.Fatalf("%d sources held, capacity %d", len(l.sources), capacity)
		}
	}
	if l.Take(guesser).Allowed {
		t.Error("the guesser was forgotten under a flood of other addresses")
	}
	l.check(t)
}

func TestEndedWindowsGoFirst(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := NewAddresses(10, 3, func() time.Time { return now })
	for range 10 {
		l.Take(numbered(1)) // the most used, and the first to end
	}
	now = now.Add(time.Minute)
	l.Take(numbered(2))
	l.Take(numbered(3))
	now = now.Add(Window - time.Minute)
	l.Take(numbered(4))
	for i, want := range map[uint32]int64{1: 10, 2: 9, 3: 9, 4: 9} {
		if got := l.Peek(numbered(i)).Remaining; got != want {
			t.Errorf("address %d has %d remaining, want %d", i, got, want)
		}
	}
	l.check(t)
}

func TestMemoryFallsAfterAFlood(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := NewAddresses(10, 1000, func() time.Time { return now })
	for i := range uint32(1000) {
		l.Take(numbered(i))
	}
	now = now.Add(Window)
	for i := range uint32(600) {
		l.Take(numbered(1<<20 + i%100))
	}
	if got := len(l.sources); got > 901 {
		t.Errorf("%d sources held, want ended ones to be dropped", got)
	}
	for i := range uint32(1000) {
		l.Take(numbered(1<<21 + i))
	}
	for i := range uint32(1000) {
		if l.Peek(numbered(i)).Remaining != 10 {
			t.Errorf("address %d is still held", i)
		}
	}
	l.check(t)
}

func numbered(i uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, 10<<24+i)))
}

// check verifies that the two kinds of lists match the map.
func (a *Addresses) check(t *testing.T) {
	t.Helper()
	aged, levelled := 0, 0
	for s := a.ages.first; s != nil; s = s.next[byAge] {
		aged++
	}
	for i := range a.levels {
		for s := a.levels[i].first; s != nil; s = s.next[byLevel] {
			levelled++
			if levelOf(s.used) != i || a.sources[s.key] != s {
				t.Errorf("source with use %d is on level %d", s.used, i)
			}
		}
	}
	if aged != len(a.sources) || levelled != len(a.sources) {
		t.Errorf("%d sources, %d by age, %d by level", len(a.sources), aged, levelled)
	}
}

// Return undoes exactly what Take counted.
func TestReturn(t *testing.T) {
	a := NewAddresses(3, 10, time.Now)
	addr := netip.MustParseAddr("192.0.2.1")
	a.Return(addr) // of an address that was never seen
	for range 5 {
		if !a.Take(addr).Allowed {
			t.Fatal("refused, and all before were given back")
		}
		a.Return(addr)
	}
	a.Return(addr)
	for i := range 4 {
		if allowed := a.Take(addr).Allowed; allowed != (i < 3) {
			t.Errorf("take %d: allowed %v", i+1, allowed)
		}
	}
	a.Return(addr)
	if !a.Take(addr).Allowed || a.Take(addr).Allowed {
		t.Error("one that was given back is not one more")
	}
}

// A network is what Addresses counts as one source.
func TestNetworkOf(t *testing.T) {
	for _, pair := range [][2]string{
		{"192.0.2.1", "192.0.2.2"}, {"192.0.2.1", "::ffff:192.0.2.1"}, {"2001:db8::1", "2001:db8::ffff:1"}, {"2001:db8::1", "2001:db8:0:1::1"}, {"fe80::1%eth0", "fe80::2"},
	} {
		a, b := netip.MustParseAddr(pair[0]), netip.MustParseAddr(pair[1])
		if (NetworkOf(a) == NetworkOf(b)) != (keyOf(a) == keyOf(b)) {
			t.Errorf("%s and %s: networks %s and %s", a, b, NetworkOf(a), NetworkOf(b))
		}
	}
	if NetworkOf(netip.Addr{}).IsValid() || NetworkOf(netip.Addr{}).String() == "" {
		t.Error("an address that is not known has no name for its network")
	}
}
