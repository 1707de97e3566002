package client

import (
	"net/http"
	"strconv"
	"time"
)

// RateLimit is the state of an hourly allowance.
type RateLimit struct {
	Limit     int64
	Remaining int64
	// Reset is when the full allowance is available again.
	Reset time.Time
}

// RateLimit returns the state reported by the last response, or the zero value
// before the first.
func (c *Client) RateLimit() RateLimit {
	if r := c.rateLimit.Load(); r != nil {
		return *r
	}
	return RateLimit{}
}

// noteRateLimit stores the state in h if it is complete.
func (c *Client) noteRateLimit(h http.Header) {
	limit, err1 := strconv.ParseInt(h.Get("X-RateLimit-Limit"), 10, 64)
	remaining, err2 := strconv.ParseInt(h.Get("X-RateLimit-Remaining"), 10, 64)
	reset, err3 := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err1 == nil && err2 == nil && err3 == nil {
		c.rateLimit.Store(&RateLimit{limit, remaining, epoch(reset)})
	}
}
