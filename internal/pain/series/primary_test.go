package series

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain/drug"
)

// Test vectors of the rule; internal/analytics compares it with a naive model
// for many random patients.
func TestChoose(t *testing.T) {
	start := time.Date(2024, time.March, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	nrs := Kind{Scale: 1, Aspect: Average}
	vas, current, worst, words := Kind{Scale: 2, Aspect: Average}, Kind{Scale: 1, Aspect: Current}, Kind{Scale: 1, Aspect: 3}, Kind{Scale: 3, Aspect: Average}
	left, right, both := Kind{1, Average, 20, 1}, Kind{1, Average, 20, 2}, Kind{1, Average, 20, 3}
	at := func(day float64, kind Kind, value uint8) Score {
		return Score{At: start + int64(day*millisecondsPerDay), Kind: kind, Value: value}
	}
	for _, test := range []struct {
		name   string
		scores []Score
		from   int
		want   Kind
		index  int // days after the start
	}{
		{"one", []Score{at(3.5, nrs, 5)}, 0, nrs, 3},
		{"average, though it comes later and once", []Score{at(0, current, 9), at(1, current, 9), at(5, nrs, 1)}, 0, nrs, 5},
		{"no average in the period", []Score{at(0, nrs, 9), at(1, current, 2)}, 1, current, 1},
		{"most at baseline", []Score{at(0, left, 9), at(0, right, 2), at(0.5, right, 2)}, 0, right, 0},
		{"most at baseline, of 14 days", []Score{at(0, right, 2), at(13, left, 9), at(13.9, right, 2)}, 1, right, 13},
		{"not of 15", []Score{at(0, right, 2), at(14, left, 9), at(14.9, right, 2)}, 1, left, 14},
		{"the worst mean: 40 mm is 4, and 4 less than 5", []Score{at(0, vas, 40), at(0, nrs, 5)}, 0, nrs, 0},
		{"the worst mean: 51 mm is 5.1", []Score{at(0, vas, 51), at(0, nrs, 5)}, 0, vas, 0},
		{"the worst mean: 16 / 2 over 15 / 2", []Score{at(0, left, 8), at(0, right, 10), at(0.1, right, 5), at(0.2, left, 8)}, 0, left, 0},
		{"the first scale", []Score{at(0, vas, 50), at(0, nrs, 5)}, 0, nrs, 0},
		{"the first side", []Score{at(0, both, 5), at(0, right, 5), at(0, left, 5)}, 0, left, 0},
		{"no site before a site", []Score{at(0, left, 5), at(0, nrs, 5)}, 0, nrs, 0},
		{"later is not at baseline", []Score{at(0, left, 2), at(1, right, 9), at(1, right, 9)}, 0, left, 0},
		{"one that is not scored in the period is none", []Score{at(0, right, 9), at(0, right, 9), at(1, left, 2)}, 2, left, 1},
	} {
		var c Chooser
		for range 2 { // it forgets the patient before
			kind, index, ok := c.Choose(test.scores, test.from)
			if want := dayOf(start) + drug.Day(test.index); !ok || kind != test.want || index != want {
				t.Errorf("%s: %v on day %d, %v; want %v on %d", test.name, kind, index, ok, test.want, want)
			}
		}
	}
	var c Chooser
	for name, scores := range map[string][]Score{"none": nil, "neither average nor current": {at(0, worst, 5)}, "words": {at(0, words, 2)}} {
		if kind, _, ok := c.Choose(scores, 0); ok {
			t.Errorf("%s: %v", name, kind)
		}
	}
	if _, _, ok := c.Choose([]Score{at(0, nrs, 5)}, 1); ok {
		t.Error("one before the period was chosen")
	}
}

// Days before 1970 are counted downwards.
func TestDayOf(t *testing.T) {
	for ms, want := range map[int64]drug.Day{0: 0, -1: -1, millisecondsPerDay - 1: 0, millisecondsPerDay: 1, -millisecondsPerDay: -1, -millisecondsPerDay - 1: -2} {
		if got := dayOf(ms); got != want {
			t.Errorf("%d is on day %d, want %d", ms, got, want)
		}
	}
}
