package server

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// crowd returns a listener with connections without a peer.
func crowd(tb testing.TB, most int, from func(i int) string) *connections {
	tb.Helper()
	c := newConnections(nil, most, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), "connections", "a test")
	for i := range most {
		conn := &connection{TCPConn: &net.TCPConn{}, room: c}
		conn.seat.Value = conn
		conn.peer = c.hold(netip.MustParseAddr(from(i)))
		conn.origin = conn.peer
		c.rest(conn, time.Now())
		c.open++
	}
	return c
}

func (c *connections) held(from string) int {
	if o := c.origins[netip.MustParseAddr(from)]; o != nil {
		return o.held
	}
	return 0
}

// The address with the most connections that wait for their caller makes room,
// until the next has as many; connections whose requests are being processed
// do not.
func TestWhoMakesRoom(t *testing.T) {
	t.Parallel()
	const many, some, working = "192.0.2.1", "192.0.2.2", "192.0.2.3"
	c := crowd(t, 100, func(i int) string {
		switch {
		case i < 30:
			return many
		case i < 50:
			return some
		}
		return working
	})
	for _, conn := range collect(c) {
		if conn.origin.addr.String() == working {
			c.wake(conn)
		}
	}
	newcomer := netip.MustParseAddr("198.51.100.1")
	for i := range 10 {
		if !c.makeRoom(newcomer, time.Now()) || c.held(many) != 29-i || c.held(some) != 20 || c.held(working) != 50 {
			t.Fatalf("%d: %d, %d and %d are left", i, c.held(many), c.held(some), c.held(working))
		}
	}
	for range 40 {
		if !c.makeRoom(newcomer, time.Now()) {
			t.Fatal("no room")
		}
	}
	if c.held(many) != 0 || c.held(some) != 0 || c.held(working) != 50 || c.makeRoom(newcomer, time.Now()) {
		t.Errorf("%d, %d and %d are left", c.held(many), c.held(some), c.held(working))
	}
}

func collect(c *connections) (list []*connection) {
	for conn := range c.seats(false) {
		list = append(list, conn)
	}
	return list
}

// The slowest of an address go first, and for one of its own only those that
// have been slow for a while.
func TestTheSlowestMakesRoom(t *testing.T) {
	t.Parallel()
	c := crowd(t, 3, func(int) string { return "192.0.2.1" })
	all, now := collect(c), time.Now()
	for i, conn := range all {
		c.wake(conn)
		conn.sending.begin()
		conn.sending.since = now.Add(-time.Duration([]int{100, 300, 200}[i]) * time.Millisecond)
	}
	own := netip.MustParseAddr("192.0.2.1")
	if c.makeRoom(own, now) {
		t.Error("a request of the same address was broken off at once")
	}
	for _, want := range []int{1, 2} {
		if !c.makeRoom(netip.MustParseAddr("192.0.2.2"), now) || !all[want].gone {
			t.Errorf("number %d was not closed", want)
		}
	}
	if all[0].gone || !c.makeRoom(own, now.Add(c.patience)) || !all[0].gone {
		t.Error("the last one was not closed after a while")
	}
	if len(c.origins) != 0 || c.open != 0 {
		t.Errorf("%d addresses and %d connections are left", len(c.origins), c.open)
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3::4": "2001:db8:1:2::", "fe80::1%eth0": "fe80::",
	} {
		if got := network(netip.MustParseAddr(addr)); got != netip.MustParseAddr(want) {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

// A search with all places taken, from as many addresses as connections.
func BenchmarkMakeRoom(b *testing.B) {
	c := crowd(b, 10_000, func(i int) string { return fmt.Sprintf("10.0.%d.%d", i>>8, i&0xff) })
	for b.Loop() {
		c.count(time.Now())
	}
}
