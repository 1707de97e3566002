// Package ratelimit decides whether a request is within its allowance: by
// client for callers with valid credentials (Limiter), by source address for
// all others (Addresses). Both count in one fixed window of an hour that the
// first request opens.
//
// The package owns the window arithmetic, the coalescing of waiting requests
// and the response headers. The durable count of a client lives in
// internal/store and is reached by the function values Reserve and Return; who
// a caller is, and which requests are counted, is decided by the caller.
package ratelimit

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// Window is the length of a window.
const Window = time.Hour

// Farthest is farther ahead than a window ends, by more than the clocks of nodes
// differ. One that ends beyond it was opened by a clock that has been put back
// since, and would refuse its client for as long as that.
const Farthest = Window + 5*time.Minute

// Reserve takes up to n of the client's allowance, durably, and opens a window
// of length Window when none is open at now. It must be exact over processes:
// the sum of all that is granted in a window, less what was returned, never
// exceeds the limit. A limit below what is already used grants nothing and
// leaves the count as it is. A window that ends after now by more than Farthest
// ends Window after now from then on, with all that is used of it.
type Reserve func(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time) (Grant, error)

// Grant is the answer to a Reserve.
type Grant struct {
	Granted   int64     // of the n asked for; less only when the window is exhausted
	Used      int64     // of the window, this grant included
	WindowEnd time.Time // after the now that was asked with
}

// Return gives back what was reserved and not used. It must do nothing when
// the client's window is no longer the one that ends at windowEnd.
type Return func(ctx context.Context, client access.ClientNo, windowEnd time.Time, n int64) error

// Decision is the verdict on one request and what the headers say about it.
type Decision struct {
	Allowed   bool
	Limit     int64
	Remaining int64
	Reset     int64 // the window's end in epoch seconds, rounded up
	ResetIn   int64 // seconds from the decision to the window's end, rounded up
}

// Fault is what a refused caller is told.
func (d Decision) Fault() *fault.Error {
	e := fault.New(fault.RateLimitExceeded, "The hourly rate limit is exceeded.", "limit", d.Limit, "reset", d.Reset)
	e.RetryAfter = time.Duration(max(d.ResetIn, 1)) * time.Second
	return e
}

// decide fills in a decision; spent counts the request itself if it is
// allowed, and exceeds the limit after that was lowered.
func decide(allowed bool, limit, spent int64, end, now time.Time) Decision {
	resetIn := end.Unix() - now.Unix()
	if end.Nanosecond() > now.Nanosecond() {
		resetIn++
	}
	return Decision{
		Allowed:   allowed,
		Limit:     limit,
		Remaining: max(limit-spent, 0),
		Reset:     resetAt(end),
		ResetIn:   max(resetIn, 0),
	}
}

// unopened describes a window that the next counted request would open.
func unopened(limit int64, now time.Time) Decision {
	return decide(limit > 0, limit, 0, now.Add(Window), now)
}

// resetAt rounds up, so that a caller who waits until then is never early.
func resetAt(end time.Time) int64 {
	if end.Nanosecond() > 0 {
		return end.Unix() + 1
	}
	return end.Unix()
}

// endOf is when a window that was to end then does, by the clock as it is now.
func endOf(end, now time.Time) time.Time {
	if end.After(now.Add(Farthest)) {
		return now.Add(Window).Round(0)
	}
	return end
}
