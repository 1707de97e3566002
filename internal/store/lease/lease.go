// Package lease judges ends of leases, and other moments that a clock wrote
// down, by a clock that may have been put back since.
package lease

import (
	"time"

	"anodyne.example/anodyne/internal/store/engine"
)

// farthestLease is further ahead than any lease reaches: those of webhooks and
// of reports have 15 s, and a report that is put off waits for less than half
// a minute. An end beyond it was written by a clock that has been put back
// since, or by a node whose clock is far off. It would hold everybody up for
// as long as the clock was wrong, so it counts as over; what the one who wrote
// it still does is fenced.
const farthestLease = 5 * time.Minute

// ClockSkew is how far the clocks of nodes may differ.
const ClockSkew = 5 * time.Minute

// Ahead reports a moment that lies farther ahead than clocks differ. Of what has
// happened already it says that the clock has been put back since, nobody knows
// how long ago: what began then, and is to last for a while, would last for as
// long as the clock was wrong.
func Ahead(at, now time.Time) bool { return at.After(now.Add(ClockSkew)) }

// Living gives the bounds between which the end of a lease says that it is
// held.
func Living(now time.Time) (after, upTo int64) {
	return engine.Millis(now), engine.Millis(now.Add(farthestLease))
}
