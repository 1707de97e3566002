package analytics

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// However many tallies were merged, closed or not, the doses come in order, and
// the tallies stay as they are.
func TestDosesInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var whole doses
		var want []float64
		numbers := rapid.SliceOf(rapid.Float64Range(0, 20))
		for range rapid.IntRange(0, 9).Draw(rt, "tallies") {
			one := doses{own: numbers.Draw(rt, "doses")}
			if rapid.Bool().Draw(rt, "closed") {
				slices.Sort(one.own)
			}
			want = append(want, one.own...)
			if rapid.Bool().Draw(rt, "twice") {
				two := doses{own: numbers.Draw(rt, "more")}
				want = append(want, two.own...)
				one.merge(&two)
			}
			whole.merge(&one)
		}
		whole.add(7)
		want = append(want, 7)
		before := slices.Concat(whole.runs()...)
		slices.Sort(want)
		if got := whole.sorted(); !slices.Equal(got, want) || whole.count() != len(want) {
			rt.Fatalf("%v, want %v", got, want)
		}
		if !slices.Equal(slices.Concat(whole.runs()...), before) {
			rt.Fatal("what was merged was changed")
		}
	})
}
