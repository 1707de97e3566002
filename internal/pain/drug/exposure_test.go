package drug

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCover(t *testing.T) {
	for _, c := range []struct {
		days   int
		end    Day
		hasEnd bool
		want   Span
		ok     bool
	}{
		{30, 0, false, Span{100, 129}, true},
		{1, 0, false, Span{100, 100}, true},
		{30, 110, true, Span{100, 110}, true},
		{30, 200, true, Span{100, 129}, true},
		{0, 105, true, Span{100, 105}, true},
		{0, 0, false, Span{}, false},
		{30, 99, true, Span{100, 99}, false},
	} {
		if got, ok := Cover(100, c.days, c.end, c.hasEnd); ok != c.ok || ok && got != c.want {
			t.Errorf("%+v: %v, %v", c, got, ok)
		}
	}
}

func TestTimeline(t *testing.T) {
	got := Timeline([]Course{
		{Span{10, 19}, 20, ""}, {Span{15, 24}, 30.1, ""}, {Span{25, 25}, 5, ""}, {Span{40, 41}, 0.2, ""}, {Span{0, 99}, 0, NoFactor},
	})
	want := []Dose{{Span{10, 14}, 20}, {Span{15, 19}, 50.1}, {Span{20, 24}, 30.1}, {Span{25, 25}, 5}, {Span{40, 41}, 0.2}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if Timeline(nil) != nil {
		t.Error("a timeline of nothing")
	}
}

func TestMeasure(t *testing.T) {
	courses := []Course{{Span{0, 9}, 60, ""}, {Span{5, 14}, 30, ""}, {Span{20, 29}, 0, MissingDose}, {Span{40, 49}, 0, ExcludedBuprenorphine}}
	e := Measure(courses, Always)
	want := Exposure{TotalMME: 900, SuppliedDays: 20, CoveredDays: 15, Peak: 90, DaysFrom50: 10, DaysFrom90: 5, OpioidDays: 35, Incomplete: true}
	if e != want {
		t.Errorf("got  %+v\nwant %+v", e, want)
	}
	e = Measure(courses, Span{8, 12})
	want = Exposure{TotalMME: 270, SuppliedDays: 7, CoveredDays: 5, Peak: 90, DaysFrom50: 2, DaysFrom90: 2, OpioidDays: 5}
	if e != want {
		t.Errorf("in a window: %+v\nwant %+v", e, want)
	}
	if _, ok := Measure(nil, Always).Average(); ok {
		t.Error("an average over no days")
	}
	if e := Measure(courses[3:], Always); e.Incomplete || e.OpioidDays != 10 {
		t.Errorf("buprenorphine alone: %+v", e)
	}
}

func TestBand(t *testing.T) {
	for mme, want := range map[float64]string{0: "0", 0.1: ">0-<20", 19.99: ">0-<20", 20: "20-<50", 49.9: "20-<50", 50: "50-<90", 89.9: "50-<90", 90 - 1e-12: ">=90", 300: ">=90"} {
		if got := Band(mme); got != want {
			t.Errorf("%v: %s, want %s", mme, got, want)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b []Span
		want int
	}{
		{nil, nil, 0},
		{[]Span{{1, 5}}, nil, 0},
		{[]Span{{1, 5}}, []Span{{6, 9}}, 0},
		{[]Span{{1, 5}}, []Span{{5, 9}}, 1},
		{[]Span{{1, 5}, {3, 8}}, []Span{{4, 20}}, 5},
		{[]Span{{10, 20}, {1, 2}}, []Span{{2, 10}, {20, 20}, {20, 25}}, 3},
	} {
		if got, back := Overlap(c.a, c.b), Overlap(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%v and %v: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

// Spans give what counting day by day gives.
func TestAgainstCounting(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		const horizon = 60
		var days [horizon]float64
		var covered, other [horizon]bool
		var courses []Course
		var a, b []Span
		for range random.IntN(6) {
			first := random.IntN(40)
			c := Course{Span{Day(first), Day(first + random.IntN(20))}, float64(1+random.IntN(600)) / 10, ""}
			courses, a = append(courses, c), append(a, c.Span)
			for d := c.First; d <= c.Last; d++ {
				days[d] += c.MME
				covered[d] = true
			}
			first = random.IntN(40)
			s := Span{Day(first), Day(first + random.IntN(20))}
			b = append(b, s)
			for d := s.First; d <= s.Last; d++ {
				other[d] = true
			}
		}
		var want Exposure
		overlap := 0
		for d := range horizon {
			if covered[d] {
				want.CoveredDays++
			}
			if AtLeast(days[d], 50) {
				want.DaysFrom50++
			}
			if covered[d] && other[d] {
				overlap++
			}
			want.Peak = max(want.Peak, tidy(days[d]))
		}
		got := Measure(courses, Always)
		if got.CoveredDays != want.CoveredDays || got.OpioidDays != want.CoveredDays || got.DaysFrom50 != want.DaysFrom50 || got.Peak != want.Peak || Overlap(a, b) != overlap {
			t.Fatalf("%v: %+v, want %+v; overlap %d, want %d", courses, got, want, Overlap(a, b), overlap)
		}
	}
}

func TestTwice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spans, want []Span }{
		{nil, nil},
		{[]Span{{1, 5}}, nil},
		{[]Span{{1, 5}, {6, 9}}, nil},
		{[]Span{{1, 5}, {5, 9}}, []Span{{5, 5}}},
		{[]Span{{5, 9}, {1, 20}, {7, 8}, {15, 30}}, []Span{{5, 9}, {15, 20}}},
		{[]Span{{1, 20}, {3, 4}, {6, 7}}, []Span{{3, 4}, {6, 7}}},
	} {
		if got := Twice(c.spans); !slices.Equal(got, c.want) {
			t.Errorf("of %v it is %v, want %v", c.spans, got, c.want)
		}
	}
}
