// Package ratelimit decides whether a request is within its allowance: by
// client for callers with valid credentials (Limiter), by source address for
// all others (Addresses). Both use a fixed window of an hour that is opened by
// the first request.
//
// The package owns the window arithmetic, the coalescing of waiting requests
// and the response headers. The durable count of a client is in internal/store
// and is accessed through the functions Reserve and Return. The caller
// identifies clients and decides which requests are counted.
package ratelimit

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// Window is the length of a window.
const Window = time.Hour

// Farthest is the furthest that the end of a window can be in the future, with
// a margin for clock differences between nodes. A window that ends later was
// opened by a clock that has been set back since, and would block its client
// for too long.
const Farthest = Window + 5*time.Minute

// Reserve durably takes up to n of the client's allowance, and opens a window
// of length Window if none is open at now. It must be exact across processes:
// the sum of all grants in a window, minus returns, never exceeds the limit.
// If the limit is below what is already used, it grants nothing and leaves the
// count unchanged. A window that ends later than now plus Farthest is
// shortened to end Window after now, and keeps its count.
type Reserve func(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time) (Grant, error)

// Claim is a Reserve that does not wait: it calls tell with the result, from
// another goroutine. The end of ctx does not end it: others wait for the result
// too. It may hold claims back, to combine them with others, until
// the function that starts them is called; claims made within tell need no such
// call.
type Claim func(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time, tell func(Grant, error))

// Grant is the result of a Reserve.
type Grant struct {
	Granted   int64     // out of n; less only if the window is exhausted
	Used      int64     // in the window, including this grant
	WindowEnd time.Time // after the now of the call
}

// Return returns unused reservations. It must do nothing if the client's
// window is no longer the one that ends at windowEnd.
type Return func(ctx context.Context, client access.ClientNo, windowEnd time.Time, n int64) error

// Decision is the result for one request, with the values of the headers.
type Decision struct {
	Allowed   bool
	Limit     int64
	Remaining int64
	Reset     int64 // end of the window in epoch seconds, rounded up
	ResetIn   int64 // seconds until the end of the window, rounded up
}

// Fault returns the error for a refused request.
func (d Decision) Fault() *fault.Error {
	e := fault.New(fault.RateLimitExceeded, "The hourly rate limit is exceeded.", "limit", d.Limit, "reset", d.Reset)
	e.RetryAfter = time.Duration(max(d.ResetIn, 1)) * time.Second
	return e
}

// decide returns a decision. spent includes the request itself if it is
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

// endOf returns the end of a window according to the current clock.
func endOf(end, now time.Time) time.Time {
	if end.After(now.Add(Farthest)) {
		return now.Add(Window).Round(0)
	}
	return end
}
