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
type Points struct{ last time.Time }

// Point gives way to processes that are waiting, if the last time was a while
// ago.
func (p *Points) Point() {
	if p.due(time.Now()) {
		yield()
	}
}

func (p *Points) due(now time.Time) bool {
	if now.Sub(p.last) < interval {
		return false
	}
	p.last = now
	return true
}

// Any reports whether there was a point at which the goroutine gave way.
func (p *Points) Any() bool { return !p.last.IsZero() }
