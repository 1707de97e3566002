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
// stopped, and on which day.
func isNotice(m *series.Medication) bool {
	return m.Ended() && !m.Supplied && (m.Open && m.First == m.Last || m.HasEnd && m.First == m.End)
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
// states none. A notice is about what was being taken until then, if there is
// such: one dose is stopped, and on the same day another begins.
func (p *Planner) matchRecordedAgain(list []series.Medication, order []int) {
	for from := 0; from < len(order); {
		n := sameFirst(list, order[from:])
		for _, i := range order[from : from+n] {
			if n > 1 && list[i].Ended() && !(isNotice(&list[i]) && p.anyRunning(list, order[:from], &list[i])) {
				p.takePlaceOf(list, order[from:from+n], i)
			}
		}
		from += n
	}
}

// anyRunning reports whether one of some prescriptions, which may be of the same
// product, is taken up to the day before a notice, by its record.
func (p *Planner) anyRunning(list []series.Medication, before []int, notice *series.Medication) bool {
	return slices.ContainsFunc(before, func(i int) bool {
		m := &list[i]
		last := m.Last
		if m.Open {
			last = m.First + AssumedDays - 1
		}
		return !m.Ended() && !p.plans[i].dropped && alike(m.Product, notice.Product) && last >= notice.First-1
	})
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

// dropNotices finds the notices of prescriptions that are there: they count on
// no day. Of another one the day is all that is known.
func (p *Planner) dropNotices(list []series.Medication, order []int) {
	p.begun = p.begun[:0]
	for len(order) > 0 {
		n := sameFirst(list, order)
		for _, i := range order[:n] {
			m := &list[i]
			if isNotice(m) && slices.ContainsFunc(p.begun, func(product uint32) bool { return alike(product, m.Product) }) {
				p.plans[i].dropped = true
			}
		}
		for _, i := range order[:n] {
			if m := &list[i]; !m.Ended() && !slices.Contains(p.begun, m.Product) {
				p.begun = append(p.begun, m.Product)
			}
		}
		order = order[n:]
	}
}

// sameFirst is how many begin on the day of the first.
func sameFirst(list []series.Medication, order []int) (n int) {
	for n < len(order) && list[order[n]].First == list[order[0]].First {
		n++
	}
	return n
}

// productStop is the earliest day, of records looked at, on which a product was
// stopped.
type productStop struct {
	product uint32
	day     drug.Day
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
			plan.next, plan.stop = next, min(plan.stop, p.stopOf(list[i].Product))
		}
		for _, i := range order[from:to] {
			m := &list[i]
			if day, ok := stopDay(m); ok {
				p.addStop(m.Product, day)
			}
			begins = begins || !p.plans[i].dropped
		}
		if begins {
			next = list[order[from]].First
		}
		to = from
	}
}

func (p *Planner) addStop(product uint32, day drug.Day) {
	for i := range p.stops {
		if s := &p.stops[i]; s.product == product {
			s.day = min(s.day, day)
			return
		}
	}
	p.stops = append(p.stops, productStop{product, day})
}

// stopOf is the last day of a product by the stops that were added.
func (p *Planner) stopOf(product uint32) drug.Day {
	day := never
	for _, s := range p.stops {
		if alike(s.product, product) {
			day = min(day, s.day)
		}
	}
	return day
}

// alike reports whether two products may be the same: they are, or the strength
// of one is not known.
func alike(a, b uint32) bool { return a == b || a == 0 || b == 0 }
