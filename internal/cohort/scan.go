package cohort

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"anodyne/internal/analytics"
	"anodyne/internal/pain/drug"
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
	panels, err := fresh(ctx, cs, org, charts)
	if err != nil {
		return none, err
	}
	workers := min(cap(cs.scans.processors), max(1, len(panels)))
	tallies := make([]T, workers)
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for w := range tallies {
		group.Go(func() error {
			tallies[w] = newTally(p)
			r := newReader(p)
			for i := next.Add(1) - 1; i < int64(len(panels)); i = next.Add(1) - 1 {
				if err := enter(ctx, cs.scans.processors); err != nil {
					return err
				}
				err := r.each(panels[i], tallies[w].Add)
				<-cs.scans.processors
				if err != nil {
					return err
				}
				runtime.Gosched() // whoever waits for a processor goes first
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return none, err
	}
	for _, other := range tallies[1:] {
		tallies[0].Merge(other)
	}
	return tallies[0], nil
}

// reader gives the patients of panels to a tally, in memory that it uses again
// and again.
type reader struct {
	filter  analytics.Filter
	class   series.Class // 0 for any
	patient analytics.Patient
	series  series.Series
}

func newReader(p *analytics.Params) *reader {
	r := &reader{filter: p.Filter()}
	if p.MedicationClass != nil {
		r.class = series.ClassOf(drug.Class(*p.MedicationClass))
	}
	return r
}

var errPanel = errors.New("a series in memory cannot be read")

// each calls add for the patients that pass what can be judged before their
// series is decoded; add judges the rest.
func (r *reader) each(p *panel, add func(*analytics.Patient)) error {
	s := &r.series
	for slot := range p.heads {
		h := &p.heads[slot]
		if !h.here || r.class != 0 && !h.classes.has(r.class) {
			continue
		}
		r.patient = analytics.Patient{Born: h.born, Gender: h.gender, Codes: p.codesOf(slot), Series: s}
		if !r.filter.Admits(&r.patient) {
			continue
		}
		*s = series.Series{Scores: s.Scores[:0], Assessments: s.Assessments[:0], Procedures: s.Procedures[:0], Medications: s.Medications[:0]}
		if decodeYears(s, p.seriesOf(slot)) != nil {
			return errPanel // which gathering keeps from happening
		}
		add(&r.patient)
	}
	return nil
}
