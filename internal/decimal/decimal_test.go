package decimal

import (
	"math"
	"testing"
)

func TestRound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f        float64
		decimals int
		want     float64
	}{
		{0, 1, 0}, {-0.01, 1, 0}, {0.04, 1, 0}, {0.05, 1, 0.1}, {-0.05, 1, -0.1}, {6.6667, 1, 6.7}, {-2.3333, 1, -2.3},
		{1.005, 2, 1.01}, {-1.005, 2, -1.01}, {2.675, 2, 2.68}, // binary fractions below the half
		{0.21875, 4, 0.2188}, {0.21874999999999997, 4, 0.2188}, {0.21875000000000003, 4, 0.2188}, {0.218749, 4, 0.2187}, {0.218751, 4, 0.2188},
		{2.5, 0, 3}, {-2.5, 0, -3}, {2.4999, 0, 2},
		{1e15 + 0.5, 0, 1e15 + 1}, {1e22, 1, 1e22}, {123456789.25, 1, 123456789.3}, {math.Inf(1), 1, math.Inf(1)}, {math.Inf(-1), 1, math.Inf(-1)},
	} {
		if got := Round(c.f, c.decimals); got != c.want || got == 0 && math.Signbit(got) {
			t.Errorf("%v with %d decimals: %v, want %v", c.f, c.decimals, got, c.want)
		}
	}
	if got := Round(math.NaN(), 1); !math.IsNaN(got) {
		t.Errorf("not a number: %v", got)
	}
}
