package drug

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestTidyKeepsTwelveDigits compares the fast path with the formatted number.
func TestTidyKeepsTwelveDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SampledFrom([]float64{1, 2, 16, 32, 10, 1e3, 1e9}).Draw(t, "parts")
		x := float64(rapid.Int64Range(-2e10, 2e10).Draw(t, "x")) / parts
		want, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
		if got := tidy(x); err != nil || got != want {
			t.Fatalf("%v became %v, want %v", x, got, want)
		}
	})
	for x, want := range map[float64]float64{3 * 5 * 4.7: 70.5, 123456789.0625: 123456789.062, 99999999.9375: 99999999.9375, 1e9 + 0.0625: 1000000000.06} {
		if got := tidy(x); got != want {
			t.Errorf("%v became %v, want %v", x, got, want)
		}
	}
}
