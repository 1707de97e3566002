package store

import "time"

// farthestLease is further ahead than any lease reaches: those of webhooks and
// of reports have 15 s, and a report that is put off waits for less than half
// a minute. An end beyond it was written by a clock that has been put back
// since, or by a node whose clock is far off. It would hold everybody up for
// as long as the clock was wrong, so it counts as over; what the one who wrote
// it still does is fenced.
const farthestLease = 5 * time.Minute

// living gives the bounds between which the end of a lease says that it is
// held.
func living(now time.Time) (after, upTo int64) { return millis(now), millis(now.Add(farthestLease)) }
