package engine

import (
	"testing"
	"time"
)

// ShortBusyTimeout reduces how long connections opened from now on wait for
// another process's lock.
func ShortBusyTimeout(tb testing.TB) {
	before := busyTimeout
	busyTimeout = 50 * time.Millisecond
	tb.Cleanup(func() { busyTimeout = before })
}
