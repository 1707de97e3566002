// Package giveway interrupts long computations for a moment, so that other
// processes can run. If all processors are busy, a process that is woken, such as
// a server that receives a request, may have to wait until a running one is
// interrupted by the clock, which takes up to 4 ms on many systems.
package giveway

import "time"

// interval is the time between two interruptions. An interruption takes less than
// a microsecond if no other process is waiting.
const interval = 200 * time.Microsecond

// Points are the points at which a goroutine can be interrupted. The zero value
// is ready for use.
type Points struct {
	last time.Time     // when others had their turn
	took time.Duration // their turn
}

// Point gives way to processes that are waiting, if the last time was a while
// ago. If they took long, because all processors are busy, the goroutine runs for
// as long before it gives way again: each time, Linux puts it behind all others,
// so that it would otherwise get a small part of its share.
func (p *Points) Point() {
	now := time.Now()
	if !p.due(now) {
		return
	}
	yield()
	p.last = time.Now()
	p.took = p.last.Sub(now)
}

func (p *Points) due(now time.Time) bool { return now.Sub(p.last) >= max(interval, p.took) }

// Any reports whether there was a point at which the goroutine gave way.
func (p *Points) Any() bool { return !p.last.IsZero() }
