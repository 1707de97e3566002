package ratelimit

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
)

// Addresses counts requests without valid credentials by source address, in
// the memory of this process: the count only slows guessing down, so it need
// not survive a restart. It holds a bounded number of addresses. To make room
// it drops an ended window, else one of the least used, so that a caller who
// cycles through addresses pushes out his own before those of a guesser who is
// being held back. All of it is O(1) a request.
type Addresses struct {
	limit    int64
	capacity int
	now      func() time.Time

	mu      sync.Mutex
	sources map[sourceKey]*source
	ages    list     // in order of opening, which is the order of ending
	levels  [65]list // by the bit length of the use count
}

// sourceKey is an IPv4 address, or the upper half of an IPv6 address: a /64 is
// the least a site is given, so all of it counts as one source.
type sourceKey struct {
	bits    uint64
	version byte            // 4 or 6, or 0 for an address that is not valid
	client  access.ClientNo // whose requests are counted there; 0 for those of all
}

func keyOf(addr netip.Addr) sourceKey {
	switch addr = addr.Unmap(); {
	case addr.Is4():
		b := addr.As4()
		return sourceKey{bits: uint64(binary.BigEndian.Uint32(b[:])), version: 4}
	case addr.Is6():
		b := addr.As16()
		return sourceKey{bits: binary.BigEndian.Uint64(b[:8]), version: 6}
	}
	return sourceKey{}
}

// NetworkOf is what counts as one source: an IPv4 address, or the /64 of an
// IPv6 address. Addresses that are not valid share the zero one.
func NetworkOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}

// NewAddresses counts up to capacity addresses at a time, with an allowance of
// limit each.
func NewAddresses(limit int64, capacity int, now func() time.Time) *Addresses {
	return &Addresses{limit: limit, capacity: max(capacity, 1), now: now, sources: make(map[sourceKey]*source)}
}

// Take counts one request from the address. Those whose address is not known
// share one allowance.
func (a *Addresses) Take(addr netip.Addr) Decision { return a.take(keyOf(addr)) }

// TakeFor counts one request of the client from the address, apart from those
// of others there.
func (a *Addresses) TakeFor(client access.ClientNo, addr netip.Addr) Decision {
	key := keyOf(addr)
	key.client = client
	return a.take(key)
}

func (a *Addresses) take(key sourceKey) Decision {
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sources[key]
	if s == nil || !now.Before(s.end) {
		s = a.open(key, s, now)
	}
	s.end = endOf(s.end, now)
	if s.used >= a.limit {
		return decide(false, a.limit, s.used, s.end, now)
	}
	s.used++
	if level := levelOf(s.used); level != levelOf(s.used-1) {
		a.levels[levelOf(s.used-1)].remove(byLevel, s)
		a.levels[level].push(byLevel, s)
	}
	return decide(true, a.limit, s.used, s.end, now)
}

// Return takes back one request that Take counted.
func (a *Addresses) Return(addr netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sources[keyOf(addr)]
	if s == nil || s.used == 0 {
		return // its window has ended meanwhile
	}
	s.used--
	if level := levelOf(s.used); level != levelOf(s.used+1) {
		a.levels[levelOf(s.used+1)].remove(byLevel, s)
		a.levels[level].push(byLevel, s)
	}
}

// Peek describes the address's window without counting.
func (a *Addresses) Peek(addr netip.Addr) Decision {
	key, now := keyOf(addr), a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sources[key]
	if s == nil || !now.Before(s.end) {
		return unopened(a.limit, now)
	}
	return decide(s.used < a.limit, a.limit, s.used, endOf(s.end, now), now)
}

// open starts a window for the key, whose last window, if any, is ended. Each
// call drops up to two ended windows, so memory falls again after a flood.
func (a *Addresses) open(key sourceKey, ended *source, now time.Time) *source {
	if ended != nil {
		a.drop(ended)
	}
	spare := ended
	for range 2 {
		if s := a.ages.first; s != nil && !now.Before(s.end) {
			a.drop(s)
			spare = s
		}
	}
	if len(a.sources) >= a.capacity {
		spare = a.leastUsed()
		a.drop(spare)
	}
	if spare == nil {
		spare = new(source)
	}
	*spare = source{key: key, end: now.Add(Window).Round(0)}
	a.sources[key] = spare
	a.ages.push(byAge, spare)
	a.levels[0].push(byLevel, spare)
	return spare
}

// leastUsed finds the source that was first to reach the lowest level.
func (a *Addresses) leastUsed() *source {
	for i := range a.levels {
		if s := a.levels[i].first; s != nil {
			return s
		}
	}
	return nil
}

func (a *Addresses) drop(s *source) {
	delete(a.sources, s.key)
	a.ages.remove(byAge, s)
	a.levels[levelOf(s.used)].remove(byLevel, s)
}

func levelOf(used int64) int { return bits.Len64(uint64(used)) }
