// Package cohort keeps read models of each organisation's patients in memory
// and answers from them what the database could answer only by reading
// everything: search, and measures over all patients. It owns how patients are
// packed, how they are kept equal to the database, which organisations stay in
// memory, and how a scan is spread over the processors. The rule by which names
// are compared is internal/pain's; what is measured is internal/analytics'.
//
// An answer is exact: it includes every write that was acknowledged before
// the question was asked, by this process or another.
package cohort

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
)

// Cohorts holds the read models that were used last, in a limited number of
// bytes. An organisation has one of each kind that it has use for: one that
// only searches has no series in memory.
type Cohorts struct {
	limit   int64
	metrics *metrics
	scans   *scans
	memo    *memo
	gate    *gate
	// worthKeeping is the constant, or what a test makes of it.
	worthKeeping int

	mu     sync.Mutex
	places map[place]*list.Element
	recent *list.List // of *resident, the one used last in front
	bytes  int64
	// tooLarge has the models that alone take more than the limit, for which
	// nobody need read until that shows again. It stays: an organisation rarely
	// shrinks.
	tooLarge map[place]bool
}

// place is which model of which organisation.
type place struct {
	org  access.OrgNo
	kind string
}

// resident is a model in memory; all but the model itself is guarded by
// Cohorts.mu.
type resident struct {
	place
	model   interface{ bytes() int64 }
	users   int
	counted int64  // its part of Cohorts.bytes
	warmFor string // of series, the parameters of the question; see Warm
}

// New makes an empty Cohorts. Names and series together take at most limitBytes;
// a model that does not fit is read from the database for every answer; see
// gate. A sixteenth is for tallies; see memo. A nil registry keeps the metrics
// unpublished.
func New(limitBytes int64, registry prometheus.Registerer) *Cohorts {
	forTallies := limitBytes / 16
	m := newMetrics(registry)
	return &Cohorts{
		limit: limitBytes - forTallies, metrics: m, scans: newScans(), memo: newMemo(forTallies), gate: newGate(forTallies, m), worthKeeping: worthKeeping,
		places: map[place]*list.Element{}, recent: list.New(), tooLarge: map[place]bool{},
	}
}

// LogTo has refusals logged. It is called before anything is asked.
func (cs *Cohorts) LogTo(log *slog.Logger) { cs.gate.log = log }

// Search finds the patients whose name contains the term, without regard to
// case and accents, or, when the term starts with "pat_", whose identifier
// starts with it. It gives the numbers of a page of them (pages start at 1)
// in the order in which the patients were created, and the exact total. The
// term is trimmed and not empty.
func (cs *Cohorts) Search(ctx context.Context, org store.Org, term string, page, limit int64) (numbers []int64, total int64, err error) {
	patients, release, err := fresh(ctx, cs, org, names)
	if errors.Is(err, errNoRoom) {
		return streamSearch(ctx, cs, org, term, page, limit)
	}
	if err != nil {
		return nil, 0, err
	}
	defer release()
	numbers, total = roster(patients).search(term, page, limit)
	return numbers, total, nil
}

// fresh gives a model of an organisation with everything that was acknowledged
// before the call. It stays in memory until it is released.
func fresh[C chunked](ctx context.Context, cs *Cohorts, org store.Org, k *kind[C]) (chunks []C, release func(), err error) {
	r := use(cs, place{org.No(), k.name}, k)
	if chunks, err = r.model.(*model[C]).fresh(ctx, org); err != nil {
		cs.release(r)
		return nil, nil, err
	}
	return chunks, func() { cs.release(r) }, nil
}

// use finds or makes the resident and keeps it from being dropped.
func use[C chunked](cs *Cohorts, at place, k *kind[C]) *resident {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	found := cs.places[at]
	if found == nil {
		m := newModel(k, cs.limit, cs.metrics.loads.WithLabelValues(k.name).Inc)
		r := &resident{place: at, model: m}
		m.tooLarge = cs.tooLarge[at]
		m.room = func(bytes int64) bool { return cs.reserve(r, bytes) }
		m.isTooLarge = func() { cs.keepOut(at) }
		found = cs.recent.PushFront(r)
		cs.places[at] = found
		cs.metrics.models.WithLabelValues(k.name).Inc()
	}
	cs.recent.MoveToFront(found)
	r := found.Value.(*resident)
	r.users++
	return r
}

// release counts what the resident takes now, and makes room.
func (cs *Cohorts) release(r *resident) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	r.users--
	// While others use it, what one of them has reserved for it stays counted.
	if bytes := r.model.bytes(); r.users == 0 || bytes > r.counted {
		cs.count(r, bytes)
	}
	cs.makeRoom()
}

// reserve counts bytes that a model in use is about to take, and reports whether
// there is room for them beside the others that are in use.
func (cs *Cohorts) reserve(r *resident, bytes int64) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.count(r, r.counted+bytes)
	cs.makeRoom()
	return cs.bytes <= cs.limit
}

// keepOut remembers that a model does not fit, whatever else is in memory.
func (cs *Cohorts) keepOut(at place) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.tooLarge[at] = true
}

// makeRoom drops models that nobody uses, those that were not used for longest
// first, until the rest is within the limit.
func (cs *Cohorts) makeRoom() {
	for at := cs.recent.Back(); cs.bytes > cs.limit && at != nil && at != cs.recent.Front(); {
		longest := at.Value.(*resident)
		before := at.Prev()
		if longest.users == 0 {
			cs.recent.Remove(at)
			delete(cs.places, longest.place)
			cs.count(longest, 0)
			cs.metrics.models.WithLabelValues(longest.kind).Dec()
		}
		at = before
	}
}

// count sets what a resident takes.
func (cs *Cohorts) count(r *resident, bytes int64) {
	cs.bytes += bytes - r.counted
	cs.metrics.bytes.WithLabelValues(r.kind).Add(float64(bytes - r.counted))
	r.counted = bytes
}
