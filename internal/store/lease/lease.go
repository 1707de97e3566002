// Package lease evaluates the ends of leases, and other stored times, by a
// clock that may have been set back since they were stored.
package lease

import (
	"time"

	"anodyne.example/anodyne/internal/store/engine"
)

// farthestLease is farther ahead than any lease reaches: those of webhooks and
// reports last 15 s, and a report that is deferred waits for less than half a
// minute. An end beyond it was written by a clock that has been set back since,
// or by a node whose clock is far off. It would block everybody for as long as
// the clock was wrong, so it counts as expired; writes of its owner are fenced.
const farthestLease = 5 * time.Minute

// ClockSkew is the maximum difference between the clocks of nodes.
const ClockSkew = 5 * time.Minute

// Ahead reports whether a time is farther ahead than clocks may differ. If it
// is the time of a past event, the clock has been set back since, by an unknown
// amount: a period that began then would last for as long as the clock was
// wrong.
func Ahead(at, now time.Time) bool { return at.After(now.Add(ClockSkew)) }

// Living returns the bounds between which the end of a lease means that it is
// held.
func Living(now time.Time) (after, upTo int64) {
	return engine.Millis(now), engine.Millis(now.Add(farthestLease))
}
