package analytics

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// However many tallies were merged, any order statistic, share and mean of the
// doses is the same as after sorting them all.
func TestDosesAreThoseInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var whole doses
		all := []float64{7}
		whole.add(7)
		whole.close()
		numbers := rapid.SliceOf(rapid.OneOf(rapid.Float64Range(0, 20), rapid.SampledFrom([]float64{0, 3, 3.5, 7})))
		for range rapid.IntRange(0, 9).Draw(rt, "tallies") {
			var one doses
			for _, f := range numbers.Draw(rt, "doses") {
				one.add(f)
				all = append(all, f)
			}
			one.close()
			whole.merge(&one)
		}
		slices.Sort(all)
		for place, want := range all {
			if got := whole.nth(place); got != want {
				rt.Fatalf("at %d is %v, want %v of %v", place, got, want, all)
			}
		}
		bands := make([]int, 21)
		total := 0.0
		for _, f := range all {
			bands[int(f)]++
			total += f
		}
		if got := whole.bands(21, func(f float64) int { return int(f) }); !slices.Equal(got, bands) {
			rt.Fatalf("bands %v, want %v", got, bands)
		}
		if want := total / float64(len(all)); whole.n != len(all) || math.Abs(whole.mean()-want) > 1e-8 {
			rt.Fatalf("the mean of %d is %v, want %v of %d", whole.n, whole.mean(), want, len(all))
		}
	})
}
