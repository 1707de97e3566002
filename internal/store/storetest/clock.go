package storetest

import (
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store"
)

// EachClock is Each with a clock that the test controls.
func EachClock(t *testing.T, test func(t *testing.T, now *Clock, open func() *store.Store)) {
	t.Helper()
	EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := NewClock()
		cfg.Now = now.Now
		test(t, now, func() *store.Store { return Start(t, Node(t, cfg)) })
	})
}

// Clock is a clock that tests can move.
type Clock struct {
	mu sync.Mutex
	At time.Time
}

// NewClock returns a clock that shows a time in January 2026.
func NewClock() *Clock { return &Clock{At: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.At
}

// Pass moves the clock, backward if d is negative.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.At = c.At.Add(d)
}
