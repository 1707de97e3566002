package engine

import (
	"testing"
	"time"
)

// ShortBusyTimeout makes connections that are opened from now on wait shortly
// for another process's lock.
func ShortBusyTimeout(tb testing.TB) {
	before := busyTimeout
	busyTimeout = 50 * time.Millisecond
	tb.Cleanup(func() { busyTimeout = before })
}
