package cohort

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"anodyne/internal/analytics"
	"anodyne/internal/pain/series"
	"anodyne/internal/store"
)

// Outcomes measures how the patients of an organisation fared.
func (cs *Cohorts) Outcomes(ctx context.Context, org store.Org, p *analytics.Params, now time.Time) (*analytics.Outcomes, error) {
	t, err := scan(ctx, cs, org, p, analytics.NewOutcomesTally)
	if err != nil {
		return nil, err
	}
	return t.Result(now), nil
}

// Population measures how the patients of an organisation are.
func (cs *Cohorts) Population(ctx context.Context, org store.Org, p *analytics.Params, now time.Time) (*analytics.Population, error) {
	t, err := scan(ctx, cs, org, p, analytics.NewPopulationTally)
	if err != nil {
		return nil, err
	}
	return t.Result(now), nil
}

// tally counts patients. Tallies merged in any order give the same answer.
type tally[T any] interface {
	Add(*analytics.Patient)
	Merge(T)
}

// scans bounds what all scans together take of the machine.
type scans struct {
	// running has room for the scans that are under way, each with the memory
	// of its tallies.
	running chan struct{}
	// processors has room for the panels that are being counted. Scans get it
	// in turn, panel by panel, so that a large one does not hold up a small
	// one.
	processors chan struct{}
}

func newScans() *scans {
	processors := runtime.GOMAXPROCS(0)
	return &scans{running: make(chan struct{}, 4*processors), processors: make(chan struct{}, processors)}
}

// enter waits for room; whoever gets it must leave.
func enter(ctx context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// scan counts the patients of an organisation whom the parameters ask for.
func scan[T tally[T]](ctx context.Context, cs *Cohorts, org store.Org, p *analytics.Params, newTally func(*analytics.Params) T) (T, error) {
	var none T
	if err := enter(ctx, cs.scans.running); err != nil {
		return none, err
	}
	defer func() { <-cs.scans.running }()
	panels, err := cs.panels(ctx, org)
	if err != nil {
		return none, err
	}
	return countAll(ctx, cs.scans, panels, p, newTally)
}

// countAll counts panels on all processors, and gives one tally of them.
func countAll[T tally[T]](ctx context.Context, s *scans, panels source, p *analytics.Params, newTally func(*analytics.Params) T) (T, error) {
	tallies := make([]T, min(cap(s.processors), max(1, panels.count)))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for w := range tallies {
		tallies[w] = newTally(p)
		group.Go(func() error {
			filter := p.Filter()
			for i := int(next.Add(1)) - 1; i < panels.count; i = int(next.Add(1)) - 1 {
				if err := enter(ctx, s.processors); err != nil {
					return err
				}
				read, err := panels.at(ctx, i)
				if err == nil {
					read.addTo(&filter, tallies[w].Add)
				}
				<-s.processors
				if err != nil {
					return err
				}
				runtime.Gosched() // whoever waits for a processor goes first
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		var none T
		return none, err
	}
	for _, other := range tallies[1:] {
		tallies[0].Merge(other)
	}
	return tallies[0], nil
}

// source is panels, and how to get at each.
type source struct {
	count int
	at    func(ctx context.Context, i int) (*panel, error)
}

// inMemory is panels that are there.
func inMemory(panels []*panel) source {
	return source{len(panels), func(_ context.Context, i int) (*panel, error) { return panels[i], nil }}
}

// panels gives an organisation's panels: from memory, where all of them are of
// one moment, or, when they do not fit there, from the database, where each is
// of a moment after the call.
func (cs *Cohorts) panels(ctx context.Context, org store.Org) (source, error) {
	loaded, err := fresh(ctx, cs, org, charts)
	if !errors.Is(err, errTooLarge) {
		return inMemory(loaded), err
	}
	_, patients, err := org.Head(ctx)
	if err != nil {
		return source{}, err
	}
	cs.metrics.streamed.Inc()
	return source{int((patients + panelSize - 1) / panelSize), func(ctx context.Context, i int) (*panel, error) {
		first := int64(i)*panelSize + 1
		return readPanel(ctx, org, first, min(first+panelSize-1, patients))
	}}, nil
}

// addTo adds the patients to a tally, which judges the whole filter;
// most of those who do not pass are left out before that.
func (p *panel) addTo(filter *analytics.Filter, add func(*analytics.Patient)) {
	var patient analytics.Patient
	var s series.Series
	for slot := range p.heads {
		if !p.heads[slot].here {
			continue
		}
		if p.patient(slot, &patient, &s); filter.Admits(&patient) {
			add(&patient)
		}
	}
}
