package server

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// This file decides which connections to close at the connection limit. There
// is no limit per address while there is room, because a whole hospital may
// share one address. If there is no room, connections that wait for their
// caller are closed, from the address that has the most of them; a request
// being processed is never aborted. See
// docs/decisions/0038-connection-limit.md.

// origin is an address that connections come from. An IPv6 /64 network counts
// as one address.
type origin struct {
	addr  netip.Addr
	proxy bool
	held  int       // number of connections
	vain  time.Time // last time no room could be made for it

	search  uint64 // number of the last search that counted it
	waiting int    // connections waiting for their caller in that search
}

// originOf returns the address without its host part.
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

// attribute assigns a connection to another origin for the duration of a
// request. Its peer continues to hold it.
func (c *connections) attribute(conn *connection, to *origin) {
	if conn.origin == to {
		return
	}
	if conn.origin != conn.peer {
		c.letGo(conn.origin)
	}
	conn.origin = to
}

// wait is the time since when a caller has been waited for. An HTTP/2
// connection may wait for several things at once.
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

// age returns the duration of the wait, or a negative value if there is none.
func (w *wait) age(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count <= 0 {
		return -1
	}
	return max(now.Sub(w.since), 0)
}

const (
	// fresh is how long a new connection, or a caller receiving a response, is
	// not considered slow.
	fresh = time.Second
	// inVain is the minimum time between two failed searches for the same
	// address.
	inVain = 100 * time.Millisecond
)

// slow returns how long a busy connection has waited for its caller, or a
// negative value.
func (conn *connection) slow(now time.Time) time.Duration {
	if age := conn.taking.age(now); age >= fresh {
		return age
	}
	return conn.sending.age(now)
}

// makeRoom closes connections to make room for one from this address, and
// reports whether it closed any.
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
		// Close several at once, so that a burst does not need a search for
		// each, but no more than it takes to equal the next address.
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
	// No other caller has to make room for an address that uses most of the
	// connections.
	if (asks == nil || asks != most || 2*most.waiting < c.most) && c.closeOldest(now) {
		return true
	}
	if asks != nil {
		asks.vain = now
	}
	return false
}

// count finds the address with the most connections that wait for their
// caller, and the number that the next one has. Idle connections of proxies
// count for no address.
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

// seats iterates over the busy connections, or over the idle ones, longest
// idle first.
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

// victims lists the connections of an origin that may be closed, in order: the
// idle ones, then those waiting for a slow caller, longest first. If the
// origin is not greater than the one asking for room, it lists only those that
// have waited for a while.
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
		if age := conn.slow(now); conn.origin == of && age >= 0 && !conn.spare.Load() && (greater || age >= c.patience) {
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

// closeOldest closes the connection that has been idle longest.
func (c *connections) closeOldest(now time.Time) bool {
	for conn := range c.seats(false) {
		if !conn.spare.Load() && conn.settledIn(now) {
			c.close(conn, "idle")
			return true
		}
	}
	return false
}

// closeSpare closes a spare connection that waits for its caller, from the
// address that has the most of them, idle ones first.
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
