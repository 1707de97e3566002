package analytics

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain/series"
)

// Most patients have one kind of pain, perhaps besides others that are not the
// primary outcome. Their precomputed gist is also compared with the naive
// computation.
func TestOutcomesByGistAreThoseOfTheRecords(t *testing.T) {
	current := series.Kind{Scale: 1, Aspect: series.Current}
	worst := series.Kind{Scale: 1, Aspect: 3}
	habits := []struct {
		kinds []series.Kind
		want  known
	}{
		{[]series.Kind{averageNRS}, alone},
		{[]series.Kind{current}, alone},
		{[]series.Kind{{Scale: 2, Aspect: series.Average}, worst}, alone},
		{[]series.Kind{averageNRS, current, {Scale: 1, Aspect: series.Current, Site: 20}}, leading},
		{[]series.Kind{averageNRS, {Scale: 1, Aspect: series.Average, Site: 20}}, mixed},
		{[]series.Kind{{Scale: 1, Aspect: series.Average, Site: 20, Side: 1}, {Scale: 1, Aspect: series.Average, Site: 20, Side: 2}}, mixed},
		{[]series.Kind{current, {Scale: 1, Aspect: series.Average, Site: 20}, {Scale: 1, Aspect: series.Average, Site: 21}}, mixed},
		{[]series.Kind{worst}, never},
	}
	met := map[known]int{}
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		patients := random.patients(50)
		for _, p := range patients {
			habit := oneOf(random, habits...)
			used := map[series.Kind]bool{}
			for i := range p.Series.Scores {
				kind := oneOf(random, habit.kinds...)
				p.Series.Scores[i].Kind = kind
				used[kind] = true
			}
			p.Series.Sort()
			p.Gist = new(Gist)
			GistOf(p.Series, p.Gist)
			if got := p.Gist.Primary.known; len(used) == len(habit.kinds) && got != habit.want {
				rt.Fatalf("scores of %v: %d, want %d", habit.kinds, got, habit.want)
			}
			met[p.Gist.Primary.known]++
		}
		holdOutcomes(rt, patients, ask(t, random.request()))
	})
	for _, k := range []known{never, alone, leading, mixed} {
		if met[k] < 20 {
			t.Errorf("%d patients of whom %d is known are too few", met[k], k)
		}
	}
}

// A class begins on a day when none of it could have been taken for the 90 days
// before, whichever of those that began on one day lasted longest.
func TestOnsetsOfAClass(t *testing.T) {
	for _, test := range []struct {
		next string
		want int
	}{{"2024-05-08", 1}, {"2024-05-09", 1}, {"2024-05-10", 2}} {
		list := []series.Medication{
			prescription(t, "opioid", "2024-01-01", 40, 0), prescription(t, "opioid", "2024-01-01", 10, 0), // up to 9 February
			prescription(t, "opioid", test.next, 30, 0), prescription(t, "nsaid", "2024-03-01", 30, 0),
		}
		for range 2 {
			var g Gist
			GistOf(&series.Series{Medications: list}, &g)
			if onsets := g.Onsets; len(onsets) != test.want+1 {
				t.Errorf("one more on %s: %+v, want %d of opioids", test.next, onsets, test.want)
			}
			list[0], list[1] = list[1], list[0]
		}
	}
}

// What is known beforehand does not depend on the list that it is added to.
func TestGistIsAppended(t *testing.T) {
	p := scores(0, 8, 95, 4)
	p.Series.Medications = []series.Medication{prescription(t, "opioid", "2024-01-02", 30, 40), prescription(t, "nsaid", "2024-02-02", 30, 0)}
	p.Series.Scores = append(p.Series.Scores, series.Score{At: p.Series.Scores[1].At, Kind: series.Kind{Scale: 1, Aspect: 3}})
	var one, two Gist
	GistOf(p.Series, &one)
	GistOf(p.Series, &two)
	GistOf(p.Series, &two)
	twice(t, "points", one.Track.Points, two.Track.Points, 2)
	twice(t, "lines", one.Track.Lines, two.Track.Lines, 1)
	twice(t, "other scores", one.Others, two.Others, 1)
	twice(t, "medications", one.Medications, two.Medications, 2)
	twice(t, "sources", one.Sources, two.Sources, 1)
	twice(t, "onsets", one.Onsets, two.Onsets, 2)
	if one.Primary != two.Primary {
		t.Errorf("primary outcome %+v, and then %+v", one.Primary, two.Primary)
	}
}

func twice[T comparable](t *testing.T, what string, one, two []T, want int) {
	if t.Helper(); len(one) != want || !slices.Equal(two, slices.Concat(one, one)) {
		t.Errorf("%s: %+v, and then %+v", what, one, two)
	}
}

// The line of any stretch of a track is that of its points, however much of it
// is stored.
func TestLineOfAStretch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		var track Track
		at := int64(1_700_000_000_000)
		for range 1 + random.IntN(5*lineSpan) {
			at += int64(random.IntN(40)) * int64(random.IntN(millisecondsPerDay))
			track.Points = append(track.Points, pointAt(at)|Point(random.IntN(101)))
		}
		track.Lines = linesOf(track.Points, nil)
		from := random.IntN(len(track.Points))
		to := from + 1 + random.IntN(len(track.Points)-from)
		got, want := track.line(from, to), lineOf(track.Points[from:to])
		if got.area != want.area || got.weight != want.weight || got.y != want.y {
			rt.Fatalf("from %d to %d: %+v, want %+v", from, to, got, want)
		}
		for _, f := range [][2]float64{{got.x, want.x}, {got.xx, want.xx}, {got.xy, want.xy}} {
			if math.Abs(f[0]-f[1]) > 1e-13*f[1] {
				rt.Fatalf("from %d to %d: %+v, want %+v", from, to, got, want)
			}
		}
	})
}
