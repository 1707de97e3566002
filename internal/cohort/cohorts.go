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
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne/internal/access"
	"anodyne/internal/store"
)

// Cohorts holds the read models that were used last, in a limited number of
// bytes. An organisation has one of each kind that it has use for: one that
// only searches has no series in memory.
type Cohorts struct {
	limit   int64
	metrics *metrics
	scans   *scans
	memo    *memo
	// worthKeeping is the constant, or what a test makes of it.
	worthKeeping int

	mu     sync.Mutex
	places map[place]*list.Element
	recent *list.List // of *resident, the one used last in front
	bytes  int64
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

// New makes an empty Cohorts. The names used last stay in memory even when
// they alone take more than limitBytes; series that alone take more are read
// from the database for every answer. A sixteenth is for tallies; see memo. A
// nil registry keeps the metrics unpublished.
func New(limitBytes int64, registry prometheus.Registerer) *Cohorts {
	forTallies := limitBytes / 16
	return &Cohorts{
		limit: limitBytes - forTallies, metrics: newMetrics(registry), scans: newScans(), memo: newMemo(forTallies), worthKeeping: worthKeeping,
		places: map[place]*list.Element{}, recent: list.New(),
	}
}

// Search finds the patients whose name contains the term, without regard to
// case and accents, or, when the term starts with "pat_", whose identifier
// starts with it. It gives the numbers of a page of them (pages start at 1)
// in the order in which the patients were created, and the exact total. The
// term is trimmed and not empty.
func (cs *Cohorts) Search(ctx context.Context, org store.Org, term string, page, limit int64) (numbers []int64, total int64, err error) {
	patients, err := fresh(ctx, cs, org, names)
	if err != nil {
		return nil, 0, err
	}
	numbers, total = roster(patients).search(term, page, limit)
	return numbers, total, nil
}

// fresh gives a model of an organisation with everything that was acknowledged
// before the call.
func fresh[C chunked](ctx context.Context, cs *Cohorts, org store.Org, k *kind[C]) ([]C, error) {
	r := use(cs, place{org.No(), k.name}, k)
	defer cs.release(r)
	return r.model.(*model[C]).fresh(ctx, org)
}

// use finds or makes the resident and keeps it from being dropped.
func use[C chunked](cs *Cohorts, at place, k *kind[C]) *resident {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	found := cs.places[at]
	if found == nil {
		m := newModel(k, cs.limit, cs.metrics.loads.WithLabelValues(k.name).Inc)
		found = cs.recent.PushFront(&resident{place: at, model: m})
		cs.places[at] = found
		cs.metrics.models.WithLabelValues(k.name).Inc()
	}
	cs.recent.MoveToFront(found)
	r := found.Value.(*resident)
	r.users++
	return r
}

// release counts what the resident takes now, and drops those that were not
// used for longest until everything is within the limit.
func (cs *Cohorts) release(r *resident) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	r.users--
	cs.count(r, r.model.bytes())
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
