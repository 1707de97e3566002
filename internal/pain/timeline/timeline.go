// Package timeline says on which days each prescription of a patient counts as
// taken. Everything that speaks of days with a medicine asks it: the current
// dose, peak and average, bands, flags, overlaps, alerts, worklists, population
// measures and reports. So no figure contradicts another.
//
// A prescription with a supply or an end counts on the days that its record
// covers. Three rules change that, each among prescriptions of the same
// ingredient and route:
//
//   - One that is open, with neither supply nor end, counts from its first day
//     until it is stopped, until a later one begins, or for [AssumedDays] days,
//     whichever is first. All of them but the first are assumed. One of
//     immediate release does not take the place of one of extended release, nor
//     the other way round, unless the strength is the same: both are taken.
//   - An early refill of the same strength too begins when the supply at hand is
//     used up, of which at most [MostCarried] days are carried: what is more is
//     dropped. Without a known strength nothing is carried, and both count; so do
//     two of one day with different doses.
//   - A stop ends what began before it, unless both strengths are known and
//     differ, or one strength is not known and the release is another.
//
// Days depend only on what begins up to them, so that a look at a past day is
// not changed by what was prescribed later.
package timeline

import (
	"cmp"
	"slices"
	"sync"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

const (
	// AssumedDays is for how many days an open prescription counts at most, the
	// first included.
	AssumedDays = 90
	// MostCarried is how many days of a supply a refill carries on at most.
	MostCarried = 30
)

// Planner lays prescriptions out, one patient after the other in the same
// memory. The zero value is ready; it is for one goroutine at a time.
type Planner struct {
	// Overlapped has, after Lay, the days of each prescription without supply
	// being carried, in the order of the list; Shifted says whether any differ.
	Overlapped []drug.Span
	Shifted    bool

	order []int
	plans []plan
	// Of one medicine: the stops and starts to come, the kinds that were prescribed, and
	// the newest supply of each.
	stops    []kindDay
	starts   []kindDay
	begun    []kind
	supplies []supply
}

// plan is what is found out about a prescription on the way.
type plan struct {
	next    drug.Day // when a later one of the medicine begins
	stop    drug.Day // the last day, by later records that say it was stopped
	dropped bool     // it counts on no day
	beside  bool     // another supply of the product is taken beside it
	earlier int      // the supply before of the same product, or -1
}

// supply is the newest supply of a product.
type supply struct {
	product uint32
	fill    int
}

// Lay sets the Span of each prescription to the days on which it counts, none
// when Last is before First, and Start to its first day by the record. The list
// has all prescriptions of a patient, at least of some classes, and stays in
// its order. Days after the first of an open one are assumed.
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
		if first := &list[order[0]]; first.Drug != 0 { // else nothing is known to be the same
			for n < len(order) && list[order[n]].Class == first.Class && list[order[n]].Drug == first.Drug {
				n++
			}
		}
		p.layMedicine(list, order[:n])
		order = order[n:]
	}
}

// layMedicine lays out the prescriptions of one medicine, by their first days.
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
// different doses: one in the morning and two at night. They are no refills of
// each other, so both count, and nothing is carried.
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

// lastOfOpen is the last day of an open prescription, stops by others apart.
func lastOfOpen(m *series.Medication, next drug.Day) drug.Day {
	last := min(m.First+AssumedDays-1, next-1)
	if m.Ended() { // on the day of its record, which is Last
		last = min(last, max(m.First, m.Last-1))
	}
	return last
}

// cut ends a prescription at the stop, and gives the days on which it would
// count without supply being carried.
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

// carry lets a refill begin when the supply at hand is used up, of which it
// drops what is more than is carried.
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
	if !m.HasEnd || m.Last < m.End { // else more is there, and the end cuts it
		m.Last += first - m.First
		if m.HasEnd {
			m.Last = min(m.Last, m.End)
		}
	}
	m.First = first
	m.Last = max(m.Last, first-1)
}

// Assumed is the days of a laid out prescription that are assumed; ok when
// there are any.
func Assumed(m *series.Medication) (_ drug.Span, ok bool) {
	s := drug.Span{First: m.First + 1, Last: m.Last}
	return s, m.Open && s.First <= s.Last
}

var planners = sync.Pool{New: func() any { return new(Planner) }}

// Lay is [Planner.Lay] in memory that is used again.
func Lay(list []series.Medication) {
	p := planners.Get().(*Planner)
	p.Lay(list)
	planners.Put(p)
}
