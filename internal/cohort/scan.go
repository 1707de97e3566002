package cohort

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/store"
)

// The names of the measures.
const (
	measureOutcomes   = "outcomes"
	measurePopulation = "population"
)

// Outcomes returns the treatment outcomes of an organisation's patients.
func (cs *Cohorts) Outcomes(ctx context.Context, org store.Org, p *analytics.Params, now time.Time) (*analytics.Outcomes, error) {
	t, earlier, err := scanBoth(ctx, cs, org, measureOutcomes, p, analytics.NewOutcomesTally)
	if err != nil {
		return nil, err
	}
	return t.ResultAgainst(earlier, now), nil
}

// Population returns the population health of an organisation's patients.
func (cs *Cohorts) Population(ctx context.Context, org store.Org, p *analytics.Params, now time.Time) (*analytics.Population, error) {
	t, earlier, err := scanBoth(ctx, cs, org, measurePopulation, p, analytics.NewPopulationTally)
	if err != nil {
		return nil, err
	}
	return t.ResultAgainst(earlier, now), nil
}

// scanBoth counts the period and, if the parameters request a comparison, the
// earlier one. It counts both at once, so that an organisation that is not in
// memory is read once.
func scanBoth[T tally[T]](ctx context.Context, cs *Cohorts, org store.Org, measure string, p *analytics.Params, newTally func(*analytics.Params) T) (t, earlier T, err error) {
	before := p.Earlier()
	if before == nil {
		t, err = scan(ctx, cs, org, measure, p, newTally)
		return t, earlier, err
	}
	both, ctx := errgroup.WithContext(ctx)
	count := func(p *analytics.Params, into *T) {
		both.Go(func() error {
			return contained(func() (err error) {
				*into, err = scan(ctx, cs, org, measure, p, newTally)
				return err
			})
		})
	}
	count(p, &t)
	count(before, &earlier)
	err = both.Wait()
	return t, earlier, err
}

// tally counts patients. Tallies merged in any order give the same result.
type tally[T any] interface {
	counter
	Close() // ends adding
	Merge(T)
	Encode() []byte // for another node, once it is closed
	Decode([]byte) error
	Bytes() int64 // its memory, once it is closed
}

// counter is the part of a tally that receives patients. PassBy receives those
// whom the filter does not admit, judged without the series.
type counter interface {
	Add(*analytics.Patient)
	PassBy(*analytics.Patient)
}

// scans limits the resources used by all scans together.
type scans struct {
	// running limits the number of scans, each of which needs memory for its
	// tallies.
	running chan struct{}
	// gathering limits the queries that hold tallies of other nodes. At least as
	// many are allowed as one pass can serve. Answering another node must not wait
	// for it: two nodes could wait for each other.
	gathering chan struct{}
	// reading limits the chunks being read for passes. The store has twice as
	// many readers, so that others can read too.
	reading chan struct{}
	// processors limits the panels being counted. Scans take turns panel by
	// panel, so that a large scan does not block a small one.
	processors chan struct{}
}

func newScans() *scans {
	processors := runtime.GOMAXPROCS(0)
	return &scans{
		running: make(chan struct{}, 4*processors), gathering: make(chan struct{}, max(4*processors, mostAsked)),
		reading: make(chan struct{}, readers()), processors: make(chan struct{}, processors),
	}
}

// within calls fn when there is room.
func within(ctx context.Context, room chan struct{}, fn func() error) error {
	if err := enter(ctx, room); err != nil {
		return err
	}
	defer func() { <-room }()
	return fn()
}

// enter waits for room. The caller must leave afterwards.
func enter(ctx context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// scan counts the patients selected by the parameters.
func scan[T tally[T]](ctx context.Context, cs *Cohorts, org store.Org, measure string, p *analytics.Params, newTally func(*analytics.Params) T) (whole T, err error) {
	if cs.divides(org.No()) {
		return scanSlices(ctx, cs, org, measure, p, newTally)
	}
	whole, err = scanLoaded(ctx, cs, org, measure, p, newTally)
	switch {
	case !errors.Is(err, errNoRoom):
		return whole, err
	case cs.divides(org.No()):
		return scanSlices(ctx, cs, org, measure, p, newTally)
	}
	return streamMeasure(ctx, cs, org, measure, p, newTally)
}

// scanLoaded is scan for an organisation that is in memory or fits into it.
func scanLoaded[T tally[T]](ctx context.Context, cs *Cohorts, org store.Org, measure string, p *analytics.Params, newTally func(*analytics.Params) T) (whole T, err error) {
	if err := enter(ctx, cs.scans.running); err != nil {
		return whole, err
	}
	defer func() { <-cs.scans.running }()
	panels, release, err := fresh(ctx, cs, org, charts)
	if err != nil {
		return whole, err
	}
	defer release()
	return answer(ctx, cs, org.No(), inMemory(panels), measure, p, newTally)
}

const (
	// groupSize is the number of panels that share a tally, unless their tallies
	// would take too much memory; see memo.groupSize.
	groupSize = 8
	// worthKeeping is the number of panels from which tallies are kept. Fewer
	// panels are counted within a millisecond or two.
	worthKeeping = 2 * groupSize
)

// answer counts panels, using the tallies of earlier runs of the same query.
func answer[T tally[T]](ctx context.Context, cs *Cohorts, org access.OrgNo, panels source, measure string, p *analytics.Params, newTally func(*analytics.Params) T) (whole T, err error) {
	if len(panels.loaded) < cs.worthKeeping {
		whole, _, err = countAll(ctx, cs.scans, panels, groupSize, nil, p, newTally)
		return whole, err
	}
	q, err := newQuestion(org, measure, p)
	if err != nil {
		return whole, err
	}
	before := cs.memo.recall(q)
	if before == nil {
		done, err := cs.memo.lead(ctx, q)
		if err != nil {
			return whole, err
		}
		defer done()
		before = cs.memo.recall(q)
	}
	each := 0
	if before != nil {
		each = before.each
	} else {
		each = cs.memo.groupSize(panels.count, newTally(p).Bytes())
	}
	whole, groups, err := countAll(ctx, cs.scans, panels, each, before, p, newTally)
	if err == nil && !before.still(groups) {
		kept := cs.memo.keep(&answered{q, each, groups, whole, bytesOf(p, groups, whole)})
		cs.metrics.bytes.WithLabelValues("tallies").Set(float64(kept))
	}
	return whole, err
}

// countAll counts panels on all CPUs, one group of so many panels at a time,
// except for groups counted before. It returns the total, that of before if no
// group has changed, and the tallies of the groups.
func countAll[T tally[T]](ctx context.Context, s *scans, panels source, each int, before *answered, p *analytics.Params, newTally func(*analytics.Params) T) (whole T, groups []group, err error) {
	groups = make([]group, (panels.count+each-1)/each)
	var next atomic.Int64
	work, ctx := errgroup.WithContext(ctx)
	count := func() error {
		filter := p.Scope()
		for i := int(next.Add(1)) - 1; i < len(groups); i = int(next.Add(1)) - 1 {
			g := &groups[i]
			g.panels = panels.numbers(i*each, (i+1)*each)
			var ok bool
			if g.tally, ok = before.known(i, g.panels); ok {
				continue
			}
			t := newTally(p)
			for at := i * each; at < min((i+1)*each, panels.count); at++ {
				if err := s.count(ctx, panels, at, &filter, t); err != nil {
					return err
				}
				runtime.Gosched() // let those waiting for a CPU go first
			}
			t.Close()
			g.tally = t
		}
		return nil
	}
	for range min(cap(s.processors), len(groups)) {
		work.Go(func() error { return contained(count) })
	}
	if err := work.Wait(); err != nil {
		return whole, nil, err
	}
	if before.still(groups) {
		return before.whole.(T), groups, nil
	}
	whole = newTally(p)
	for _, g := range groups {
		whole.Merge(g.tally.(T))
	}
	return whole, groups, nil
}

// count adds a panel when a CPU is free.
func (s *scans) count(ctx context.Context, panels source, at int, filter *analytics.Filter, to counter) error {
	return within(ctx, s.processors, func() error {
		read, err := panels.at(ctx, at)
		if err == nil {
			read.addTo(filter, to)
		}
		return err
	})
}

// source provides panels in memory; tests use others.
type source struct {
	count  int
	loaded []*panel
	at     func(ctx context.Context, i int) (*panel, error)
}

// inMemory returns a source for panels in memory.
func inMemory(panels []*panel) source {
	return source{len(panels), panels, func(_ context.Context, i int) (*panel, error) { return panels[i], nil }}
}

// numbers returns the numbers of the panels from one index to before another,
// or nil if they are not in memory.
func (s *source) numbers(from, to int) (numbers []uint64) {
	for i := from; i < min(to, len(s.loaded)); i++ {
		numbers = append(numbers, s.loaded[i].number)
	}
	return numbers
}

// addTo adds the patients to a tally, which applies the whole filter. Most
// patients who do not match are skipped before that.
func (p *panel) addTo(filter *analytics.Filter, to counter) {
	c := newChart()
	for slot := range p.heads {
		if !p.heads[slot].here {
			continue
		}
		if p.open(slot, c); filter.Admits(&c.Patient) {
			p.read(slot, c)
			to.Add(&c.Patient)
		} else {
			to.PassBy(&c.Patient)
		}
	}
}
