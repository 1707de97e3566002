package cohort

import (
	"context"
	"errors"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/store"
)

// Warm makes ready what is likely to be asked of an organisation next, so that
// nobody need wait for it: its names, its series, and what is counted for a
// question to both measures. It does nothing when that was done and is still in
// memory, nor when more than half of the memory is taken: what is asked must
// not make room for what may be.
func (cs *Cohorts) Warm(ctx context.Context, org store.Org, p *analytics.Params) error {
	q, err := newQuestion(org.No(), "", p)
	if err != nil || !cs.cold(q) {
		return err
	}
	if _, err := load(ctx, cs, org, names); err != nil {
		return err
	}
	panels, err := load(ctx, cs, org, charts)
	if err != nil {
		return err
	}
	if panels >= cs.worthKeeping { // else nothing that is counted is kept
		if _, err := scan(ctx, cs, org, "outcomes", p, analytics.NewOutcomesTally); err != nil {
			return err
		}
		if _, err := scan(ctx, cs, org, "population", p, analytics.NewPopulationTally); err != nil {
			return err
		}
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if at := cs.places[place{q.org, charts.name}]; at != nil {
		at.Value.(*resident).warmFor = q.params
	}
	return nil
}

// load makes a model ready, and gives the number of its chunks: none of what
// does not fit.
func load[C chunked](ctx context.Context, cs *Cohorts, org store.Org, k *kind[C]) (chunks int, err error) {
	loaded, release, err := fresh(ctx, cs, org, k)
	if errors.Is(err, errNoRoom) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	release()
	return len(loaded), nil
}

// cold reports whether an organisation is to be warmed for a question.
func (cs *Cohorts) cold(q question) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	series := cs.places[place{q.org, charts.name}]
	if series != nil && cs.places[place{q.org, names.name}] != nil {
		return series.Value.(*resident).warmFor != q.params
	}
	return cs.bytes <= cs.limit/2
}
