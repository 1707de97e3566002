package cohort

import (
	"context"
	"errors"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/store"
)

// Warm preloads what is likely to be queried next for an organisation: its
// names, its series, and the tallies of both measures. It does nothing if that
// is already in memory, or if more than half of the memory is used, so that
// speculative data does not evict data in use.
func (cs *Cohorts) Warm(ctx context.Context, org store.Org, p *analytics.Params) error {
	q, err := newQuestion(org.No(), "", p)
	if err != nil || !cs.cold(q) {
		return err
	}
	if _, err := load(ctx, cs, org, names); err != nil {
		return err
	}
	if cs.divides(org.No()) {
		return nil
	}
	panels, err := load(ctx, cs, org, charts)
	if err != nil {
		return err
	}
	if panels >= cs.worthKeeping { // otherwise no tallies are kept
		if _, err := scan(ctx, cs, org, measureOutcomes, p, analytics.NewOutcomesTally); err != nil {
			return err
		}
		if _, err := scan(ctx, cs, org, measurePopulation, p, analytics.NewPopulationTally); err != nil {
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

// load loads a model and returns the number of its chunks, which is 0 if it
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

// cold reports whether an organisation should be warmed for a query.
func (cs *Cohorts) cold(q question) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	series := cs.places[place{q.org, charts.name}]
	if series != nil && cs.places[place{q.org, names.name}] != nil {
		return series.Value.(*resident).warmFor != q.params
	}
	return cs.bytes <= cs.limit/2
}
