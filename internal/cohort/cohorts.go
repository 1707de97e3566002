// Package cohort keeps a read model of each organisation's patients in memory
// and answers from it what the database could answer only by reading
// everything: search. It owns how patients are packed, how they are kept equal
// to the database, and which organisations stay in memory. The rule by which
// names are compared is internal/pain's; analytics, when they come, run on
// the same model.
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

// Cohorts holds the read models of the organisations that were used last, in
// a limited number of bytes.
type Cohorts struct {
	limit   int64
	metrics *metrics

	mu     sync.Mutex
	orgs   map[access.OrgNo]*list.Element
	recent *list.List // of *resident, the one used last in front
	bytes  int64
}

// resident is a cohort in memory; all but the cohort itself is guarded by
// Cohorts.mu.
type resident struct {
	*cohort
	org     access.OrgNo
	users   int
	counted int64 // its part of Cohorts.bytes
}

// New makes an empty Cohorts. The organisation used last stays in memory even
// when it alone takes more than limitBytes. A nil registry keeps the metrics
// unpublished.
func New(limitBytes int64, registry prometheus.Registerer) *Cohorts {
	return &Cohorts{limit: limitBytes, metrics: newMetrics(registry), orgs: map[access.OrgNo]*list.Element{}, recent: list.New()}
}

// Search finds the patients whose name contains the term, without regard to
// case and accents, or, when the term starts with "pat_", whose identifier
// starts with it. It gives the numbers of a page of them (pages start at 1)
// in the order in which the patients were created, and the exact total. The
// term is trimmed and not empty.
func (cs *Cohorts) Search(ctx context.Context, org store.Org, term string, page, limit int64) (numbers []int64, total int64, err error) {
	patients, err := cs.fresh(ctx, org)
	if err != nil {
		return nil, 0, err
	}
	numbers, total = patients.search(term, page, limit)
	return numbers, total, nil
}

// Warm loads an organisation, so that its first search need not wait.
func (cs *Cohorts) Warm(ctx context.Context, org store.Org) error {
	_, err := cs.fresh(ctx, org)
	return err
}

func (cs *Cohorts) fresh(ctx context.Context, org store.Org) (roster, error) {
	r := cs.use(org.No())
	defer cs.release(r)
	return r.fresh(ctx, org)
}

// use finds or makes the resident and keeps it from being dropped.
func (cs *Cohorts) use(org access.OrgNo) *resident {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	place := cs.orgs[org]
	if place == nil {
		place = cs.recent.PushFront(&resident{cohort: newCohort(cs.metrics.loads.Inc), org: org})
		cs.orgs[org] = place
	}
	cs.recent.MoveToFront(place)
	r := place.Value.(*resident)
	r.users++
	return r
}

// release counts what the resident takes now, and drops those that were not
// used for longest until everything is within the limit.
func (cs *Cohorts) release(r *resident) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	r.users--
	size := r.size.Load()
	cs.bytes += size - r.counted
	r.counted = size
	for place := cs.recent.Back(); cs.bytes > cs.limit && place != nil && place != cs.recent.Front(); {
		longest := place.Value.(*resident)
		before := place.Prev()
		if longest.users == 0 {
			cs.recent.Remove(place)
			delete(cs.orgs, longest.org)
			cs.bytes -= longest.counted
		}
		place = before
	}
	cs.metrics.bytes.Set(float64(cs.bytes))
	cs.metrics.organisations.Set(float64(cs.recent.Len()))
}
