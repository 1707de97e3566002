package timeline

import (
	"math"
	"slices"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// never is the day that does not come.
const never = drug.Day(math.MaxInt32)

// Records say in three ways that a medicine was stopped: the prescription is
// corrected and gets an end; it is recorded again, from the same day, as
// stopped; or a new record says only that it was stopped, and when.

// isNotice reports whether a record says no more than that the medicine was
// stopped: it has no days of its own.
func isNotice(m *series.Medication) bool {
	return m.Ended() && !m.Supplied && (m.Open && m.First == m.Last || m.HasEnd && m.First == m.End)
}

// noticed is the first day that something must reach to be what a notice is
// about. If there is nothing, the medicine counts on the day of the notice.
func noticed(m *series.Medication) drug.Day {
	if m.Open {
		return m.First - 1
	}
	return m.First
}

// stopDay is the last day, by a record, of what began before it; not ok when it
// stops nothing. One that was completed ends itself.
func stopDay(m *series.Medication) (_ drug.Day, ok bool) {
	if !m.Ended() || m.Status.String() == "completed" && !isNotice(m) {
		return 0, false
	}
	if m.Open {
		return m.Last - 1, true
	}
	return m.End, m.HasEnd
}

// matchRecordedAgain finds prescriptions that were recorded again as ended, from
// the same day on: the later word counts, with the dose of the first where it
// states none.
func (p *Planner) matchRecordedAgain(list []series.Medication, order []int) {
	for len(order) > 0 {
		n := 1
		for n < len(order) && list[order[n]].First == list[order[0]].First {
			n++
		}
		for _, i := range order[:n] {
			if n > 1 && list[i].Ended() {
				p.takePlaceOf(list, order[:n], i)
			}
		}
		order = order[n:]
	}
}

// takePlaceOf puts a record that has ended in the place of the first of the same
// day that goes on and is the same prescription.
func (p *Planner) takePlaceOf(list []series.Medication, sameDay []int, ended int) {
	again := &list[ended]
	for _, i := range sameDay {
		m := &list[i]
		if m.Ended() || p.plans[i].dropped || !alike(m.Product, again.Product) || again.Supplied && !m.Open {
			continue
		}
		missing := drug.Reason(again.Reason.String()) == drug.MissingDose
		if !missing && (m.MME != again.MME || m.Reason != again.Reason) {
			continue
		}
		again.MME, again.Reason = m.MME, m.Reason
		if !m.Open {
			p.plans[ended].stop = min(p.plans[ended].stop, m.Last)
		}
		p.plans[i].dropped = true
		return
	}
}

// lookAhead finds out what later records mean for each prescription of a
// medicine.
func (p *Planner) lookAhead(list []series.Medication, order []int) {
	p.stops = p.stops[:0]
	next := never
	for to := len(order); to > 0; {
		from := to - 1
		for from > 0 && list[order[from-1]].First == list[order[to-1]].First {
			from--
		}
		begins := false
		for _, i := range order[from:to] {
			plan := &p.plans[i]
			plan.next, plan.stop = next, min(plan.stop, p.stops.earliest(list[i].Product))
		}
		for _, i := range order[from:to] {
			m := &list[i]
			if day, ok := stopDay(m); ok {
				p.stops.lower(m.Product, day)
			}
			begins = begins || !isNotice(m) && !p.plans[i].dropped
		}
		if begins {
			next = list[order[from]].First
		}
		to = from
	}
}

// alike reports whether two products may be the same: they are, or the strength
// of one is not known.
func alike(a, b uint32) bool { return a == b || a == 0 || b == 0 }

// byProduct is a day for each product of a medicine.
type byProduct []productDay

type productDay struct {
	product uint32
	day     drug.Day
}

// of is the entry of a product, made with a day when there is none.
func (b *byProduct) of(product uint32, day drug.Day) *drug.Day {
	i := slices.IndexFunc(*b, func(e productDay) bool { return e.product == product })
	if i < 0 {
		i = len(*b)
		*b = append(*b, productDay{product, day})
	}
	return &(*b)[i].day
}

// lower keeps the earliest day, and raise the latest.
func (b *byProduct) lower(product uint32, day drug.Day) {
	at := b.of(product, day)
	*at = min(*at, day)
}

func (b *byProduct) raise(product uint32, day drug.Day) {
	at := b.of(product, day)
	*at = max(*at, day)
}

// earliest is the first of the days of what may be the product, and latest the
// last.
func (b byProduct) earliest(product uint32) drug.Day {
	day := never
	for _, e := range b {
		if alike(e.product, product) {
			day = min(day, e.day)
		}
	}
	return day
}

func (b byProduct) latest(product uint32) drug.Day {
	day := drug.Day(math.MinInt32)
	for _, e := range b {
		if alike(e.product, product) {
			day = max(day, e.day)
		}
	}
	return day
}
