// Package cohort keeps read models of each organisation's patients in memory,
// for queries that the database could only answer by reading everything:
// search, and measures over all patients. It owns the packing of patients,
// their synchronisation with the database, the choice of organisations to keep
// in memory, and the distribution of scans over CPUs. internal/pain defines
// how names are compared; internal/analytics defines the measures.
//
// Results are exact: they include every write that was acknowledged before the
// query, by this process or another.
package cohort

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
)

// Cohorts holds the most recently used read models within a memory limit. An
// organisation only has the kinds of models it uses: one that only searches
// has no series in memory.
type Cohorts struct {
	limit   int64
	metrics *metrics
	scans   *scans
	memo    *memo
	gate    *gate
	// worthKeeping and sliceSize are the constants, or values set by a test.
	worthKeeping int
	sliceSize    int64
	sharing      *sharing // nil without other nodes

	mu     sync.Mutex
	places map[place]*list.Element
	recent *list.List // of *resident, most recently used first
	bytes  int64
	// tooLarge has the models that exceed the limit by themselves, so that they
	// are not loaded again just to find out. Entries are kept, because an
	// organisation rarely shrinks.
	tooLarge map[place]bool
}

// place identifies a model of an organisation.
type place struct {
	org  access.OrgNo
	kind string
}

// resident is a model in memory. All fields except the model are guarded by
// Cohorts.mu.
type resident struct {
	place
	model   interface{ bytes() int64 }
	users   int
	counted int64  // its part of Cohorts.bytes
	warmFor string // for series, the parameters of the query; see Warm
}

// New returns an empty Cohorts. Names and series together take at most
// limitBytes; a model that does not fit is read from the database for every
// query (see gate). One sixteenth is for tallies (see memo). If registry is
// nil, metrics are not published.
func New(limitBytes int64, registry prometheus.Registerer) *Cohorts {
	forTallies := limitBytes / 16
	m := newMetrics(registry)
	return &Cohorts{
		limit: limitBytes - forTallies, metrics: m, scans: newScans(), memo: newMemo(forTallies), gate: newGate(forTallies, m),
		worthKeeping: worthKeeping, sliceSize: sliceSize,
		places: map[place]*list.Element{}, recent: list.New(), tooLarge: map[place]bool{},
	}
}

// LogTo sets the log for refused queries. It must be called before the first
// query.
func (cs *Cohorts) LogTo(log *slog.Logger) { cs.gate.log = log }

// List finds the patients that match a query. It returns the numbers of one
// page of them, in order, and the exact total.
func (cs *Cohorts) List(ctx context.Context, org store.Org, q Query) (numbers []int64, total int64, err error) {
	if q.Identifier != (pain.Identifier{}) {
		return listIdentified(ctx, org, q)
	}
	patients, release, err := fresh(ctx, cs, org, names)
	if errors.Is(err, errNoRoom) {
		return streamList(ctx, cs, org, q)
	}
	if err != nil {
		return nil, 0, err
	}
	defer release()
	numbers, total = roster(patients).list(q)
	return numbers, total, nil
}

// listIdentified is List for the few patients with an identifier, which the
// database finds.
func listIdentified(ctx context.Context, org store.Org, q Query) (numbers []int64, total int64, err error) {
	var found []patient
	var unreadable error
	err = org.IdentifiedPatients(ctx, q.Identifier, func(item patients.PatientItem) {
		p, err := patientOf(&item)
		if err != nil {
			unreadable = err
		}
		found = append(found, p)
	})
	if err = errors.Join(err, unreadable); err != nil {
		return nil, 0, err
	}
	// They are numbered from 1 in the roster, in the same order.
	places, total := rosterOf(found).list(q)
	for _, place := range places {
		numbers = append(numbers, found[place-1].no)
	}
	return numbers, total, nil
}

// fresh returns a model of an organisation with everything that was
// acknowledged before the call. It stays in memory until it is released.
func fresh[C chunked](ctx context.Context, cs *Cohorts, org store.Org, k *kind[C]) (chunks []C, release func(), err error) {
	r := use(cs, place{org.No(), k.name}, k)
	if chunks, err = r.model.(*model[C]).fresh(ctx, org); err != nil {
		cs.release(r)
		return nil, nil, err
	}
	return chunks, func() { cs.release(r) }, nil
}

// use finds or creates the resident of a model and keeps it from being evicted.
func use[C chunked](cs *Cohorts, at place, k *kind[C]) *resident {
	return cs.occupy(at, func(r *resident) {
		m := newModel(k, cs.limit, cs.metrics.loads.WithLabelValues(k.name).Inc)
		m.tooLarge, m.sampled = cs.tooLarge[at], cs.sharing != nil && at.kind == charts.name
		m.room = func(bytes int64) bool { return cs.reserve(r, bytes) }
		m.isTooLarge = func() { cs.keepOut(at) }
		r.model = m
	})
}

// occupy finds or creates a resident and keeps it from being evicted. create
// sets its model.
func (cs *Cohorts) occupy(at place, create func(*resident)) *resident {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	found := cs.places[at]
	if found == nil {
		r := &resident{place: at}
		create(r)
		found = cs.recent.PushFront(r)
		cs.places[at] = found
		cs.metrics.models.WithLabelValues(at.kind).Inc()
	}
	cs.recent.MoveToFront(found)
	r := found.Value.(*resident)
	r.users++
	return r
}

// release updates the size of the resident and evicts others if needed.
func (cs *Cohorts) release(r *resident) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	r.users--
	// While others use it, their reservation for it still counts.
	if bytes := r.model.bytes(); r.users == 0 || bytes > r.counted {
		cs.count(r, bytes)
	}
	cs.makeRoom()
}

// reserve counts bytes that a model in use is about to allocate, and reports
// whether they fit in addition to the other models in use.
func (cs *Cohorts) reserve(r *resident, bytes int64) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.count(r, r.counted+bytes)
	cs.makeRoom()
	return cs.bytes <= cs.limit
}

// keepOut records that a model never fits.
func (cs *Cohorts) keepOut(at place) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.tooLarge[at] = true
}

// makeRoom evicts unused models, least recently used first, until the rest is
// within the limit.
func (cs *Cohorts) makeRoom() {
	for at := cs.recent.Back(); cs.bytes > cs.limit && at != nil && at != cs.recent.Front(); {
		longest := at.Value.(*resident)
		before := at.Prev()
		if longest.users == 0 {
			cs.recent.Remove(at)
			delete(cs.places, longest.place)
			cs.count(longest, 0)
			if h, ok := longest.model.(*holding); ok {
				h.evicted()
			}
			cs.metrics.models.WithLabelValues(longest.kind).Dec()
		}
		at = before
	}
}

// count sets the size of a resident.
func (cs *Cohorts) count(r *resident, bytes int64) {
	cs.bytes += bytes - r.counted
	cs.metrics.bytes.WithLabelValues(r.kind).Add(float64(bytes - r.counted))
	r.counted = bytes
}
