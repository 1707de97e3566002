package cohort

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain/series"
)

// smallPanels returns panels with a few patients each, some of whom have
// scores of today.
func smallPanels(random *rand.Rand, count int) []*panel {
	list := make([]*panel, count)
	for i := range list {
		list[i] = smallPanel(random)
	}
	return list
}

func smallPanel(random *rand.Rand) *panel {
	p := &panel{}
	for range 1 + random.IntN(4) {
		p.heads = append(p.heads, head{gender: analytics.Gender(random.IntN(4)), here: true})
		for range random.IntN(3) {
			p.last.Scores = append(p.last.Scores, series.Score{At: today.UnixMilli(), Kind: series.Kind{Scale: 1, Aspect: series.Average}, Value: uint8(random.IntN(11))})
		}
		p.closeCodes()
		p.closeSeries()
	}
	return p.fit()
}

// Whatever changed between two answers to a question, both are what counting
// everything gives, and only panels of groups that changed are counted.
func TestKeptTalliesAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	cs := New(plenty, nil)
	panels := smallPanels(random, 5*groupSize+3)
	requests := []analytics.Request{{}, {Gender: "female"}, {Interval: "day"}}
	asked := map[int][]*panel{} // what each question was answered from last
	for round := range 60 {
		panels = slices.Clone(panels)
		for range random.IntN(3) {
			panels[random.IntN(len(panels))] = smallPanel(random)
		}
		if round%10 == 9 {
			panels = append(panels, smallPanel(random))
		}
		which := random.IntN(len(requests))
		p := checked(t, requests[which])
		want, _, err := countAll(t.Context(), cs.scans, inMemory(panels), groupSize, nil, p, analytics.NewOutcomesTally)
		if err != nil {
			t.Fatal(err)
		}
		var counted atomic.Int64
		watched := source{len(panels), panels, func(_ context.Context, i int) (*panel, error) {
			counted.Add(1)
			return panels[i], nil
		}}
		got, err := answer(t.Context(), cs, 1, watched, "outcomes", p, analytics.NewOutcomesTally)
		if err != nil || printed(t, got.Result(today)) != printed(t, want.Result(today)) {
			t.Fatalf("round %d: %v, %s\nwant %s", round, err, printed(t, got.Result(today)), printed(t, want.Result(today)))
		}
		mustCount := 0
		for from := 0; from < len(panels); from += groupSize {
			to := min(from+groupSize, len(panels))
			if before := asked[which]; len(before) < to || !slices.Equal(before[from:to], panels[from:to]) {
				mustCount += to - from
			}
		}
		if counted.Load() != int64(mustCount) {
			t.Errorf("round %d: %d panels were counted, want %d", round, counted.Load(), mustCount)
		}
		asked[which] = panels
	}
}

// A query repeated after no change is answered from the same figures, which
// several callers may ask for at once; only the time is their own.
func TestRepeatedQueriesShareFigures(t *testing.T) {
	cs := New(plenty, nil)
	panels := inMemory(smallPanels(rand.New(rand.NewPCG(15, 16)), worthKeeping))
	p := checked(t, analytics.Request{})
	first, err := answer(t.Context(), cs, 1, panels, "population", p, analytics.NewPopulationTally)
	if err != nil {
		t.Fatal(err)
	}
	want := first.Result(today)
	var asking sync.WaitGroup
	for i := range 8 {
		asking.Go(func() {
			again, err := answer(t.Context(), cs, 1, panels, "population", p, analytics.NewPopulationTally)
			if err != nil || again != first {
				t.Errorf("counted again: %v", err)
				return
			}
			later := today.Add(time.Duration(i+1) * time.Hour)
			got := again.ResultAgainst(first, later)
			if got.GeneratedAt != later.Format(time.RFC3339) || got.Comparison == nil {
				t.Errorf("generated at %s, compared %v", got.GeneratedAt, got.Comparison)
			}
		})
	}
	asking.Wait()
	if want.Comparison != nil || want.GeneratedAt != today.Format(time.RFC3339) {
		t.Errorf("a later caller changed the first answer: %s, %v", want.GeneratedAt, want.Comparison)
	}
}

// The results of a large organisation do not evict each other, and a change
// still counts a part of it.
func TestLargeResultsLeaveRoom(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	cs := New(256<<20, nil)
	panels := smallPanels(random, 250*groupSize)
	outcomes, population := checked(t, analytics.Request{}), checked(t, analytics.Request{Gender: "female"})
	byTurns := func() (counted int64) {
		var n atomic.Int64
		watched := source{len(panels), panels, func(_ context.Context, i int) (*panel, error) {
			n.Add(1)
			return panels[i], nil
		}}
		if _, err := answer(t.Context(), cs, 1, watched, "outcomes", outcomes, analytics.NewOutcomesTally); err != nil {
			t.Fatal(err)
		}
		if _, err := answer(t.Context(), cs, 1, watched, "population", population, analytics.NewPopulationTally); err != nil {
			t.Fatal(err)
		}
		return n.Load()
	}
	all := 2 * int64(len(panels))
	if first, again := byTurns(), byTurns(); first != all || again != 0 {
		t.Errorf("counted %d panels and then %d, want %d and 0", first, again, all)
	}
	panels = slices.Clone(panels)
	panels[100] = smallPanel(random)
	if counted := byTurns(); counted == 0 || counted > all/2 {
		t.Errorf("counted %d of %d panels after one changed", counted, all)
	}
}

func TestMemoIsBoundedAndApart(t *testing.T) {
	m := newMemo(100)
	about := func(org access.OrgNo, params string) question { return question{org, "outcomes", params} }
	keep := func(q question, panel uint64, bytes int64) int64 {
		return m.keep(&answered{question: q, groups: []group{{panels: []uint64{panel}}}, bytes: bytes})
	}
	number := func(q question) uint64 {
		if a := m.recall(q); a != nil {
			return a.groups[0].panels[0]
		}
		return 0
	}
	keep(about(1, "a"), 1, 40)
	keep(about(2, "a"), 2, 40)
	if number(about(2, "a")) != 2 || number(about(1, "a")) != 1 || number(about(1, "b")) != 0 || number(question{1, "population", "a"}) != 0 {
		t.Error("questions are mixed up")
	}
	if got := keep(about(3, "a"), 3, 40); got != 80 || number(about(2, "a")) != 0 || number(about(1, "a")) != 1 {
		t.Errorf("%d bytes; the one that was asked last must stay", got)
	}
	if got := keep(about(1, "a"), 4, 101); got != 40 || number(about(1, "a")) != 0 {
		t.Errorf("%d bytes; what is too large is not kept, nor what it replaces", got)
	}
	if keep(about(3, "a"), 5, 60) != 60 || number(about(3, "a")) != 5 || m.recent.Len() != len(m.answers) {
		t.Error("the newer answer did not replace the older")
	}
}

// Of several callers with the same new query, one computes it; if that one
// leaves, another does.
func TestFirstToAskCountsForAll(t *testing.T) {
	cs := New(plenty, nil)
	panels := []*panel{{number: 1}}
	cs.worthKeeping = 1
	p := checked(t, analytics.Request{})
	var counted atomic.Int32
	counting, leave := make(chan struct{}), make(chan struct{})
	held := source{1, panels, func(ctx context.Context, _ int) (*panel, error) {
		if counted.Add(1) == 1 {
			close(counting)
			<-leave
			return nil, context.Canceled
		}
		return panels[0], nil
	}}
	ask := func(ctx context.Context) error {
		_, err := answer(ctx, cs, 1, held, "outcomes", p, analytics.NewOutcomesTally)
		return err
	}
	var asking sync.WaitGroup
	asking.Go(func() {
		if err := ask(t.Context()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	<-counting
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(gone); !errors.Is(err, context.Canceled) || counted.Load() != 1 {
		t.Errorf("one who left while another counts: %v", err)
	}
	results := make([]error, 5)
	for i := range results {
		asking.Go(func() { results[i] = ask(t.Context()) })
	}
	close(leave)
	asking.Wait()
	if counted.Load() != 2 || slices.ContainsFunc(results, func(err error) bool { return err != nil }) {
		t.Errorf("counted %d times, want twice: by the one who left, and for all others; %v", counted.Load(), results)
	}
	if len(cs.memo.first) != 0 {
		t.Error("somebody still leads")
	}
}
