package cohort

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/peer"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
)

// divides reports whether the series of an organisation are divided among the
// nodes: they do not fit into the memory of this node, or another node has asked
// it for some of them.
func (cs *Cohorts) divides(org access.OrgNo) bool {
	if cs.sharing == nil {
		return false
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.tooLarge[place{org, charts.name}] || cs.places[place{org, sliced}] != nil
}

// sliceCount returns the number of slices of an organisation.
func (cs *Cohorts) sliceCount(patients int64) int {
	return int((patients + cs.sliceSize - 1) / cs.sliceSize)
}

// scanSlices counts the patients of an organisation whose series are divided
// among the nodes. Slices that no node has in memory are read from the database.
// Each slice is counted as of a time after the call.
func scanSlices[T tally[T]](ctx context.Context, cs *Cohorts, org store.Org, measure string, p *analytics.Params, newTally func(*analytics.Params) T) (whole T, err error) {
	if cs.sharing.hasOthers() {
		if err := cs.gather(ctx, org.No()); err != nil {
			return whole, err
		}
		defer func() { <-cs.scans.gathering }() // not before missing slices are read: the rest stays in memory
	}
	pos, patients, err := org.Head(ctx)
	if err != nil {
		return whole, err
	}
	count := cs.sliceCount(patients)
	nodes, owner := cs.sharing.divide(org.No(), count)
	if len(nodes) == 0 {
		return streamMeasure(ctx, cs, org, measure, p, newTally)
	}
	parts := make([][]int, len(nodes))
	for slice, i := range owner {
		parts[i] = append(parts[i], slice)
	}
	ask := asking[T]{cs: cs, measure: measure, params: p, newTally: newTally, count: count, pos: pos}
	g := gathered[T]{whole: newTally(p)}
	work, leave := context.WithCancel(ctx)
	defer leave()
	var running sync.WaitGroup
	for i := range nodes {
		if len(parts[i]) == 0 {
			continue
		}
		count := func() error {
			t, counted, err := ask.of(work, org, &nodes[i], parts[i])
			if err == nil {
				g.add(t, parts[i], counted)
			}
			return err
		}
		running.Go(func() {
			if err := contained(count); err != nil {
				g.fail(err)
				leave()
			}
		})
	}
	running.Wait()
	if err := g.err; err != nil {
		return whole, cs.sliceFailure(ctx, org.No(), err)
	}
	if len(g.missing) > 0 {
		slices.Sort(g.missing)
		k := unheld(cs.sliceSize)
		only := func(index int) bool { return slices.Contains(g.missing, int(int64(index)*k.size/cs.sliceSize)) }
		read, err := streamSome(ctx, cs, org, k, measure, p, newTally, fmt.Sprint(g.missing), only)
		if err != nil {
			return whole, err
		}
		g.whole.Merge(read)
	}
	return g.whole, nil
}

// gather waits until the tallies of other nodes may be held for one more query.
// The caller must leave afterwards.
func (cs *Cohorts) gather(ctx context.Context, org access.OrgNo) error {
	err := enter(ctx, cs.scans.gathering)
	if errors.Is(err, context.DeadlineExceeded) {
		return cs.gate.refuse(place{org, sliced}, waitedTooLong)
	}
	return err
}

// gathered is what is known of all slices so far.
type gathered[T tally[T]] struct {
	mu      sync.Mutex
	whole   T
	missing []int
	err     error
}

// add adds the tally of the counted slices among those that were wanted.
func (g *gathered[T]) add(t T, wanted, counted []int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(counted) > 0 {
		g.whole.Merge(t)
	}
	for _, slice := range wanted {
		if !slices.Contains(counted, slice) {
			g.missing = append(g.missing, slice)
		}
	}
}

// fail records the first error.
func (g *gathered[T]) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
}

// sliceFailure returns the error of a query that could not be answered in time.
func (cs *Cohorts) sliceFailure(ctx context.Context, org access.OrgNo, err error) error {
	switch {
	case errors.Is(err, peer.ErrBusy):
		return cs.gate.refuse(place{org, sliced}, tooManyWait)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return cs.gate.refuse(place{org, sliced}, tookTooLong)
	}
	return err
}

// noteAsked counts the result of a question to another node.
func (cs *Cohorts) noteAsked(n *node, err error, partial bool) {
	result := resultAnswered
	switch {
	case errors.Is(err, errAway):
		result = resultSkipped
	case errors.Is(err, peer.ErrBusy):
		result = resultBusy
	case err != nil:
		result = resultFailed
		cs.gate.log.Warn("another node did not answer; reading its part of an organisation from the database", "address", n.Address, "error", err)
	case partial:
		result = resultPartial
	}
	cs.metrics.asked.WithLabelValues(result).Inc()
}

var errBehind = errors.New("this node sees an older state of the database than the one that asks")

// asking is a query about slices.
type asking[T tally[T]] struct {
	cs       *Cohorts
	measure  string
	params   *analytics.Params
	newTally func(*analytics.Params) T
	count    int         // of all slices of the organisation
	pos      journal.Pos // that the answer must include
}

// of counts the slices of a node. If another node does not answer, or if a node
// sees an older state of the database, nothing is counted.
func (a *asking[T]) of(ctx context.Context, org store.Org, n *node, wanted []int) (whole T, counted []int, err error) {
	if n.self {
		whole, counted, err = a.here(ctx, org, wanted)
		if errors.Is(err, errBehind) {
			return whole, nil, nil
		}
		return whole, counted, err
	}
	whole, counted, err = a.there(ctx, n, org.No(), wanted)
	if ctx.Err() != nil {
		return whole, nil, ctx.Err()
	}
	a.cs.noteAsked(n, err, len(counted) < len(wanted))
	// A caller without a deadline, such as a report, waits at the gate instead.
	if _, hurried := ctx.Deadline(); hurried && errors.Is(err, peer.ErrBusy) {
		return whole, nil, err
	}
	if err != nil {
		return whole, nil, nil
	}
	return whole, counted, nil
}

// here counts those of the wanted slices that this node can hold, as of a time
// after the call.
func (a *asking[T]) here(ctx context.Context, org store.Org, wanted []int) (whole T, counted []int, err error) {
	cs := a.cs
	if err := enter(ctx, cs.scans.running); err != nil {
		return whole, nil, err
	}
	defer func() { <-cs.scans.running }()
	r := cs.hold(org.No())
	defer cs.release(r)
	held, at, err := r.model.(*holding).fresh(ctx, org, wanted, cs.owned(org.No(), a.count))
	if err != nil {
		return whole, nil, err
	}
	var panels []*panel
	for _, slice := range wanted {
		if some, ok := held[slice]; ok {
			counted, panels = append(counted, slice), append(panels, some...)
		}
	}
	if len(counted) == 0 {
		return whole, nil, nil
	}
	if at < a.pos {
		return whole, nil, errBehind
	}
	whole, err = answer(ctx, cs, org.No(), inMemory(panels), a.measure+" of slices", a.params, a.newTally)
	return whole, counted, err
}

// hold finds or creates the holding of an organisation and keeps it from being
// evicted.
func (cs *Cohorts) hold(org access.OrgNo) *resident {
	return cs.occupy(place{org, sliced}, func(r *resident) {
		h := newHolding(cs.sliceSize)
		h.loads = cs.metrics.loads.WithLabelValues(sliced).Inc
		h.room = func(bytes int64) bool { return cs.reserve(r, bytes) }
		h.held = func(change int) { cs.metrics.slices.Add(float64(change)) }
		r.model = h
	})
}

// owned returns which slices belong to this node, of this many.
func (cs *Cohorts) owned(org access.OrgNo, count int) func(slice int) bool {
	nodes, owner := cs.sharing.divide(org, count)
	if len(nodes) == 0 { // unknown
		return func(int) bool { return true }
	}
	return func(slice int) bool { return slice < count && nodes[owner[slice]].self }
}
