// Package timeline determines on which days each prescription of a patient
// counts as taken. All figures about days with a medicine use it: current
// dose, peak and average, bands, flags, overlaps, alerts, worklists,
// population measures and reports. So no figure contradicts another.
//
// A prescription with a supply or an end date counts on the days covered by
// its record. Three rules change that, each among prescriptions of the same
// ingredient and route:
//
//   - An open prescription, with neither supply nor end date, counts from its
//     first day until it is stopped, until a later one begins, or for
//     [AssumedDays] days, whichever comes first. All days but the first are
//     assumed. Immediate release does not replace extended release, nor vice
//     versa, unless the strength is the same: both are taken.
//   - An early refill of the same strength begins when the current supply is used
//     up. At most [MostCarried] days are carried forward; the rest is dropped.
//     Nothing is carried forward if the strength is unknown, or if two
//     prescriptions of the same day have different doses; both count then.
//   - A stop ends what began before it, unless both strengths are known and
//     differ, or one strength is unknown and the release differs.
//
// A day only depends on prescriptions that begin up to it, so later
// prescriptions do not change past days.
package timeline

import (
	"cmp"
	"slices"
	"sync"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

const (
	// AssumedDays is the maximum number of days that an open prescription
	// counts, including the first.
	AssumedDays = 90
	// MostCarried is the maximum number of days of supply carried forward to a
	// refill.
	MostCarried = 30
)

// Planner computes the days of prescriptions, reusing its memory from one
// patient to the next. The zero value is ready for use. It is not safe for
// concurrent use.
type Planner struct {
	// Overlapped has, after Lay, the days of each prescription if no supply
	// were carried forward, in the order of the list. Shifted reports whether
	// any differ.
	Overlapped []drug.Span
	Shifted    bool

	order []int
	plans []plan
	// Of one medicine: the stops and starts to come, the kinds prescribed, and
	// the newest supply of each.
	stops    []kindDay
	starts   []kindDay
	begun    []kind
	supplies []supply
}

// plan holds intermediate results about a prescription.
type plan struct {
	next    drug.Day // start of the next prescription of the medicine
	stop    drug.Day // last day according to later records of a stop
	dropped bool     // counts on no day
	beside  bool     // another supply of the product is taken at the same time
	earlier int      // index of the previous supply of the same product, or -1
}

// supply is the newest supply of a product.
type supply struct {
	product uint32
	fill    int
}

// Lay sets the Span of each prescription to the days on which it counts (none
// if Last is before First) and Start to its first day according to the record.
// The list holds all prescriptions of a patient, at least of some classes, and
// keeps its order. Days after the first of an open prescription are assumed.
func (p *Planner) Lay(list []series.Medication) {
	p.Shifted = false
	p.Overlapped = p.Overlapped[:0]
	p.order, p.plans = p.order[:0], p.plans[:0]
	for i := range list {
		m := &list[i]
		m.Start = m.First
		p.order = append(p.order, i)
		p.plans = append(p.plans, plan{next: never, stop: never, earlier: -1})
		p.Overlapped = append(p.Overlapped, m.Span)
	}
	slices.SortFunc(p.order, func(i, k int) int {
		a, b := &list[i], &list[k]
		if a.Class != b.Class {
			return cmp.Compare(a.Class, b.Class)
		}
		if a.Drug != b.Drug {
			return cmp.Compare(a.Drug, b.Drug)
		}
		return a.Compare(b)
	})
	for order := p.order; len(order) > 0; {
		n := 1
		if first := &list[order[0]]; first.Drug != 0 { // otherwise the medicine is unknown
			for n < len(order) && list[order[n]].Class == first.Class && list[order[n]].Drug == first.Drug {
				n++
			}
		}
		p.layMedicine(list, order[:n])
		order = order[n:]
	}
}

// layMedicine computes the days of the prescriptions of one medicine, sorted
// by first day.
func (p *Planner) layMedicine(list []series.Medication, order []int) {
	if len(order) > 1 {
		p.matchRecordedAgain(list, order)
		p.dropNotices(list, order)
		p.lookAhead(list, order)
		p.findBeside(list, order)
	}
	p.supplies = p.supplies[:0]
	for _, i := range order {
		m, plan := &list[i], &p.plans[i]
		switch {
		case plan.dropped:
			m.Last = m.First - 1
		case m.Open:
			m.Last = lastOfOpen(m, plan.next)
		case m.Supplied && m.Product != 0 && !plan.beside:
			p.carry(list, i)
		}
		p.cut(m, i)
	}
}

// findBeside finds supplies of one product that begin on the same day with
// different doses, for example one in the morning and two at night. They are
// not refills of each other: both count, and nothing is carried forward.
func (p *Planner) findBeside(list []series.Medication, order []int) {
	for len(order) > 0 {
		n := sameFirst(list, order)
		for at, i := range order[:n] {
			for _, k := range order[at+1 : n] {
				a, b := &list[i], &list[k]
				if a.Supplied && b.Supplied && a.Product == b.Product && a.Product != 0 && a.MME != b.MME && a.Reason == 0 && b.Reason == 0 && !p.plans[i].dropped && !p.plans[k].dropped {
					p.plans[i].beside, p.plans[k].beside = true, true
				}
			}
		}
		order = order[n:]
	}
}

// lastOfOpen returns the last day of an open prescription, ignoring stops by
// other records.
func lastOfOpen(m *series.Medication, next drug.Day) drug.Day {
	last := min(m.First+AssumedDays-1, next-1)
	if m.Ended() { // on the day of its record, which is Last
		last = min(last, max(m.First, m.Last-1))
	}
	return last
}

// cut ends a prescription at the stop, and sets the days on which it would
// count if nothing were carried forward.
func (p *Planner) cut(m *series.Medication, i int) {
	plan := &p.plans[i]
	m.Last = max(min(m.Last, plan.stop), m.First-1)
	if plan.dropped || m.Open {
		p.Overlapped[i] = m.Span
		return
	}
	p.Overlapped[i].Last = min(p.Overlapped[i].Last, plan.stop)
	p.Shifted = p.Shifted || p.Overlapped[i] != m.Span
}

// carry delays a refill until the current supply is used up, and drops the
// excess supply.
func (p *Planner) carry(list []series.Medication, i int) {
	m := &list[i]
	at := slices.IndexFunc(p.supplies, func(s supply) bool { return s.product == m.Product })
	if at < 0 {
		p.supplies = append(p.supplies, supply{m.Product, i})
		return
	}
	before := p.supplies[at].fill
	p.supplies[at].fill, p.plans[i].earlier = i, before
	if list[before].Last < m.First {
		return
	}
	most := m.First + MostCarried - 1
	for k := before; k >= 0 && list[k].Last > most; k = p.plans[k].earlier {
		list[k].Last = max(most, list[k].First-1)
	}
	first := min(list[before].Last, most) + 1
	if !m.HasEnd || m.Last < m.End { // otherwise there is more supply, and the end date limits it
		m.Last += first - m.First
		if m.HasEnd {
			m.Last = min(m.Last, m.End)
		}
	}
	m.First = first
	m.Last = max(m.Last, first-1)
}

// Assumed returns the days of a prescription that are assumed, after Lay. It
// is ok if there are any.
func Assumed(m *series.Medication) (_ drug.Span, ok bool) {
	s := drug.Span{First: m.First + 1, Last: m.Last}
	return s, m.Open && s.First <= s.Last
}

var planners = sync.Pool{New: func() any { return new(Planner) }}

// Lay is [Planner.Lay] with pooled memory.
func Lay(list []series.Medication) {
	p := planners.Get().(*Planner)
	p.Lay(list)
	planners.Put(p)
}
