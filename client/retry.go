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

	// maxWait is the longest the client waits on its own account. A used-up
	// allowance can ask for most of an hour: that is for the caller to decide.
	maxWait = time.Minute
)

// mayRepeat reports whether a call that ended with err may be tried again.
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
		// A gateway's word for a connection that failed behind it.
		return c.isHarmlessToRepeat()
	}
	// An earlier try of this call is still running: its outcome comes.
	return e.Code == CodeIdempotencyInProgress
}

func (c *call) isHarmlessToRepeat() bool {
	return c.method == http.MethodGet || c.oauth || c.header.Get(idempotencyKey) != ""
}

// pause waits before the next try. It returns cause without waiting when the
// wait is too long to be worth it, and an error that wraps both the context's
// and cause when the context ends first.
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

// backoff doubles with every retry; half of it is chance.
func backoff(retries int) time.Duration {
	d := maxBackoff
	if retries < 5 {
		d = firstBackoff << retries
	}
	return d/2 + rand.N(d/2)
}

// sleep waits for d, or returns the context's error when that ends first.
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

// retryAfter reads a Retry-After header, which is in seconds or a date.
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
