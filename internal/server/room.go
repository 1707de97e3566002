package server

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// How room is made when there are as many connections as may be. There is no
// bound for an address while there is room: a hospital may come from one. When
// there is none, connections that wait for their caller are closed, of the
// address that has the most of them; a request that the server itself works on
// is never broken off. See docs/decisions/0038-callers-that-hold-others-up.md.

// origin is an address that connections come from, an IPv6 network of 64 bits
// counting as one.
type origin struct {
	addr  netip.Addr
	proxy bool
	held  int       // connections
	vain  time.Time // when room was last looked for in vain on its behalf

	search  uint64 // the last one that counted
	waiting int    // its connections that waited for their caller then
}

// originOf masks the host's part of an address.
func originOf(remote net.Addr) netip.Addr {
	at, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return netip.IPv4Unspecified()
	}
	return network(at.Addr())
}

func network(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		if prefix, err := addr.Prefix(64); err == nil {
			return prefix.Addr()
		}
	}
	return addr
}

// hold counts a connection for an address.
func (c *connections) hold(addr netip.Addr) *origin {
	o := c.origins[addr]
	if o == nil {
		o = &origin{addr: addr, proxy: slices.ContainsFunc(c.proxies, func(p netip.Prefix) bool { return p.Contains(addr) })}
		c.origins[addr] = o
	}
	o.held++
	return o
}

func (c *connections) letGo(o *origin) {
	if o.held--; o.held == 0 {
		delete(c.origins, o.addr)
	}
}

// attribute makes a connection one of another origin, for as long as a request
// of it takes. It goes on being held by its peer.
func (c *connections) attribute(conn *connection, to *origin) {
	if conn.origin == to {
		return
	}
	if conn.origin != conn.peer {
		c.letGo(conn.origin)
	}
	conn.origin = to
}

// wait is the time since when a caller is waited for. Over HTTP/2 a connection
// may wait for several things at once.
type wait struct {
	mu    sync.Mutex
	count int
	since time.Time
}

func (w *wait) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count++; w.count == 1 {
		w.since = time.Now()
	}
}

func (w *wait) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count--
}

func (w *wait) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count = 0
}

// age is how long it has been waited; less than nothing when it is not.
func (w *wait) age(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count <= 0 {
		return -1
	}
	return max(now.Sub(w.since), 0)
}

const (
	// patience is how long a caller may be slow, whoever asks for room.
	patience = 2 * time.Second
	// fresh is how long a new connection, or a caller that takes an answer, is
	// not held to be slow.
	fresh = time.Second
	// inVain is how long room is not looked for again for one address.
	inVain = 100 * time.Millisecond
)

// slow is how long a busy connection has waited for its caller, or less than
// nothing.
func (conn *connection) slow(now time.Time) time.Duration {
	if age := conn.taking.age(now); age >= fresh {
		return age
	}
	return conn.sending.age(now)
}

// makeRoom closes connections so that one from this address may be opened, and
// reports whether there were any to close.
func (c *connections) makeRoom(from netip.Addr, now time.Time) bool {
	asks := c.origins[from]
	if asks != nil && now.Sub(asks.vain) < inVain && !asks.vain.After(now) {
		return false
	}
	most, second := c.count(now)
	if most != nil {
		held := 0
		if asks != nil && !asks.proxy {
			held = asks.held
		}
		victims := c.victims(most, most.held > held, now)
		// Several at once, so that a crowd does not make for a search each; but
		// not more than bring it down to the next.
		n := min(max(c.most/100, 1), max(most.waiting-second, 1), len(victims))
		for _, victim := range victims[:n] {
			if victim.idle {
				c.close(victim, "idle")
			} else {
				c.close(victim, "slow")
			}
		}
		if n > 0 {
			return true
		}
	}
	// Nobody has to make room for an address that fills most of it.
	if (asks == nil || asks != most || 2*most.waiting < c.most) && c.closeOldest(now) {
		return true
	}
	if asks != nil {
		asks.vain = now
	}
	return false
}

// count finds the address with the most connections that wait for their caller,
// and how many the next one has. Idle connections of proxies are nobody's.
func (c *connections) count(now time.Time) (most *origin, second int) {
	c.searches++
	add := func(conn *connection) {
		o := conn.origin
		if o.proxy || conn.spare.Load() {
			return
		}
		if o.search != c.searches {
			o.search, o.waiting = c.searches, 0
		}
		o.waiting++
		switch {
		case most == nil || o == most:
			most = o
		case o.waiting > most.waiting:
			most, second = o, most.waiting
		default:
			second = max(second, o.waiting)
		}
	}
	for conn := range c.seats(false) {
		add(conn)
	}
	for conn := range c.seats(true) {
		if conn.slow(now) >= 0 {
			add(conn)
		}
	}
	return most, second
}

// seats are the connections that are idle, the longest idle first, or busy.
func (c *connections) seats(busy bool) func(yield func(*connection) bool) {
	first := &c.idle
	if busy {
		first = &c.busy
	}
	return func(yield func(*connection) bool) {
		for seat := first.Next(); seat != first && yield(seat.Value.(*connection)); seat = seat.Next() {
		}
	}
}

// victims are the connections of an origin that may be closed, in that order:
// those that are idle, and those that wait for a slow caller, the longest first.
// From others than a greater one only those are taken that have waited for a
// while.
func (c *connections) victims(of *origin, greater bool, now time.Time) (list []*connection) {
	for conn := range c.seats(false) {
		if conn.origin == of && !conn.spare.Load() && (greater || conn.settledIn(now)) {
			list = append(list, conn)
		}
	}
	type slow struct {
		conn *connection
		age  time.Duration
	}
	var waiting []slow
	for conn := range c.seats(true) {
		if age := conn.slow(now); conn.origin == of && age >= 0 && !conn.spare.Load() && (greater || age >= patience) {
			waiting = append(waiting, slow{conn, age})
		}
	}
	slices.SortFunc(waiting, func(a, b slow) int { return int(min(max(b.age-a.age, -1), 1)) })
	for _, s := range waiting {
		list = append(list, s.conn)
	}
	return list
}

// settledIn reports whether an idle connection has had time to send a request.
func (conn *connection) settledIn(now time.Time) bool {
	return conn.served || now.Sub(conn.since) >= fresh
}

// closeOldest closes the connection that has been idle for the longest.
func (c *connections) closeOldest(now time.Time) bool {
	for conn := range c.seats(false) {
		if !conn.spare.Load() && conn.settledIn(now) {
			c.close(conn, "idle")
			return true
		}
	}
	return false
}

// closeSpare closes one of the connections beyond the bound that waits for its
// caller, of the address that has the most of them, idle ones first.
func (c *connections) closeSpare(now time.Time) bool {
	var waiting []*connection
	count := map[*origin]int{}
	for _, busy := range []bool{false, true} {
		for conn := range c.seats(busy) {
			if conn.spare.Load() && (!busy || conn.slow(now) >= 0) {
				waiting = append(waiting, conn)
				count[conn.origin]++
			}
		}
	}
	if len(waiting) == 0 {
		return false
	}
	victim := waiting[0]
	for _, conn := range waiting {
		if count[conn.origin] > count[victim.origin] {
			victim = conn
		}
	}
	c.close(victim, "idle")
	return true
}
