package analytics

import (
	"testing"

	"pgregory.net/rapid"

	"anodyne/internal/pain/series"
)

// Most patients are asked about one kind of pain, perhaps besides others that
// are no primary outcome, or give way to it. What is known of them beforehand
// is held against the plainest way too.
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
			p.Gist.Primary, p.Gist.Onsets = GistOf(p.Series, nil)
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
			_, onsets := GistOf(&series.Series{Medications: list}, nil)
			if len(onsets) != test.want+1 {
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
	_, first := GistOf(p.Series, nil)
	_, both := GistOf(p.Series, first[:len(first):len(first)])
	if len(first) != 2 || len(both) != 4 || both[0] != both[2] || both[1] != both[3] {
		t.Errorf("%+v, and then %+v", first, both)
	}
}
