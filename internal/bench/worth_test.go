package bench

import (
	"math"
	"testing"
	"time"
)

// How much it is depends on what else the machine does, so that only what
// follows from two times is certain.
func TestWorth(t *testing.T) {
	if got := worth(); got <= 0 || math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("all processors are worth %v of one", got)
	}
	for _, c := range []struct {
		workers         int
		alone, together time.Duration
		want            float64
	}{
		{1, 4 * time.Millisecond, 4 * time.Millisecond, 1},
		{2, 4 * time.Millisecond, 4 * time.Millisecond, 2},    // two whole cores
		{2, 4 * time.Millisecond, 8 * time.Millisecond, 1},    // two halves of one
		{8, 3 * time.Millisecond, 4 * time.Millisecond, 6},    // something is shared
		{2, 4 * time.Millisecond, 16 * time.Millisecond, 0.5}, // others use them too
	} {
		if got := multiple(c.workers, c.alone, c.together); got != c.want {
			t.Errorf("%d workers that take %v instead of %v do %.2f times what one does, want %.2f", c.workers, c.together, c.alone, got, c.want)
		}
	}
}
