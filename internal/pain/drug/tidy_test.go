package drug

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestTidyKeepsTwelveDigits holds the short way against the printed number.
func TestTidyKeepsTwelveDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SampledFrom([]float64{1, 2, 16, 32, 10, 1e3, 1e9}).Draw(t, "parts")
		x := float64(rapid.Int64Range(-2e10, 2e10).Draw(t, "x")) / parts
		want, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
		if got := tidy(x); err != nil || got != want {
			t.Fatalf("%v became %v, want %v", x, got, want)
		}
	})
	if got := tidy(3 * 5 * 4.7); got != 70.5 {
		t.Errorf("3 x 5 x 4.7 is %v", got)
	}
}
