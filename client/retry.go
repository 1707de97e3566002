package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	firstBackoff = 250 * time.Millisecond
	maxBackoff   = 8 * time.Second

	// maxWait is the longest delay before a retry. A used-up allowance can mean
	// a wait of almost an hour, which is left to the caller.
	maxWait = time.Minute
)

// mayRepeat reports whether a call that failed with err may be retried.
func (c *call) mayRepeat(err error) bool {
	if _, ok := errors.AsType[*netError](err); ok {
		return c.isHarmlessToRepeat()
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		// Sent by a gateway for a failed connection behind it.
		return c.isHarmlessToRepeat()
	}
	// An earlier attempt of this call is still running; its outcome will
	// follow.
	return e.Code == CodeIdempotencyInProgress
}

func (c *call) isHarmlessToRepeat() bool {
	return c.method == http.MethodGet || c.oauth || c.header.Get(idempotencyKey) != ""
}

// pause waits before the next attempt. It returns cause immediately if the
// delay is too long, and an error that wraps both the context's error and
// cause if the context ends first.
func (c *call) pause(ctx context.Context, retries int, cause error) error {
	if ctx.Err() != nil {
		return cause
	}
	wait := backoff(retries)
	if e, ok := errors.AsType[*Error](cause); ok {
		if e.RetryAfter > maxWait {
			return cause
		}
		wait += e.RetryAfter
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return cause
	}
	if err := sleep(ctx, wait); err != nil {
		return fmt.Errorf("anodyne: %s: %w while waiting to try again after: %w", c.op, err, cause)
	}
	return nil
}

// backoff doubles with every retry; half of it is random.
func backoff(retries int) time.Duration {
	d := maxBackoff
	if retries < 5 {
		d = firstBackoff << retries
	}
	return d/2 + rand.N(d/2)
}

// sleep waits for d or until the context ends, and returns the context's error
// then.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryAfter parses a Retry-After header, which is in seconds or a date.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
