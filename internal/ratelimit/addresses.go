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
// the memory of this process. The count only slows down guessing, so it need
// not survive a restart. It holds a limited number of addresses. To make room,
// it drops an expired window or else one of the least used, so that a caller
// who cycles through addresses evicts their own before those of an attacker
// being slowed down. All operations are O(1).
type Addresses struct {
	limit    int64
	capacity int
	now      func() time.Time

	mu      sync.Mutex
	sources map[sourceKey]*source
	ages    list     // in order of opening, which is the order of expiry
	levels  [65]list // by the bit length of the count
}

// sourceKey is an IPv4 address, or the upper half of an IPv6 address: a /64 is
// the smallest network assigned to a site, so it counts as one source.
type sourceKey struct {
	bits    uint64
	version byte            // 4 or 6, or 0 for an invalid address
	client  access.ClientNo // client whose requests are counted; 0 for all
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

// NetworkOf returns what counts as one source: an IPv4 address, or the /64 of
// an IPv6 address. Invalid addresses share the zero prefix.
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

// Take counts one request from the address. Requests from unknown addresses
// share one allowance.
func (a *Addresses) Take(addr netip.Addr) Decision { return a.take(keyOf(addr)) }

// TakeFor counts one request of the client from the address, separately from
// those of other clients.
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

// Return undoes one call of Take.
func (a *Addresses) Return(addr netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sources[keyOf(addr)]
	if s == nil || s.used == 0 {
		return // its window has expired in the meantime
	}
	s.used--
	if level := levelOf(s.used); level != levelOf(s.used+1) {
		a.levels[levelOf(s.used+1)].remove(byLevel, s)
		a.levels[level].push(byLevel, s)
	}
}

// Peek returns the state of the address's window without counting.
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

// open starts a window for the key. ended is its expired window, if any. Each
// call drops up to two expired windows, so that memory shrinks again after a
// flood.
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

// leastUsed returns the source that was first to reach the lowest level.
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
