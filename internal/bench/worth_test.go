package bench

import (
	"runtime"
	"testing"
)

// A processor is worth itself, and several are worth something.
func TestWorth(t *testing.T) {
	if got := worth(); got < 0.5 || got > 1.5*float64(runtime.NumCPU()) {
		t.Errorf("%d processors are worth %.2f of one", runtime.NumCPU(), got)
	}
}
