package timeline

import (
	"math"
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
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
		return !m.Ended() && !p.plans[i].dropped && alike(kindOf(m), kindOf(notice)) && last >= notice.First-1
	})
}

// takePlaceOf puts a record that has ended in the place of the first of the same
// day that goes on and is the same prescription.
func (p *Planner) takePlaceOf(list []series.Medication, sameDay []int, ended int) {
	again := &list[ended]
	for _, i := range sameDay {
		m := &list[i]
		if m.Ended() || p.plans[i].dropped || !alike(kindOf(m), kindOf(again)) || again.Supplied && !m.Open {
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
			if isNotice(m) && slices.ContainsFunc(p.begun, func(k kind) bool { return alike(k, kindOf(m)) }) {
				p.plans[i].dropped = true
			}
		}
		for _, i := range order[:n] {
			if m := &list[i]; !m.Ended() && !slices.Contains(p.begun, kindOf(m)) {
				p.begun = append(p.begun, kindOf(m))
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

// kind is what is known of the product of a medicine.
type kind struct {
	product uint32
	release drug.Release
}

func kindOf(m *series.Medication) kind { return kind{m.Product, m.Release} }

// kindDay is the earliest day, of records looked at, on which a kind was stopped
// or began.
type kindDay struct {
	kind
	day drug.Day
}

// lookAhead finds out what later records mean for each prescription of a
// medicine.
func (p *Planner) lookAhead(list []series.Medication, order []int) {
	p.stops, p.starts = p.stops[:0], p.starts[:0]
	for to := len(order); to > 0; {
		from := to - 1
		for from > 0 && list[order[from-1]].First == list[order[to-1]].First {
			from--
		}
		for _, i := range order[from:to] {
			plan, k := &p.plans[i], kindOf(&list[i])
			plan.next, plan.stop = earliest(p.starts, k, replaces), min(plan.stop, earliest(p.stops, k, alike))
		}
		for _, i := range order[from:to] {
			m := &list[i]
			if day, ok := stopDay(m); ok {
				p.stops = withDay(p.stops, kindOf(m), day)
			}
			if !p.plans[i].dropped {
				p.starts = withDay(p.starts, kindOf(m), m.First)
			}
		}
		to = from
	}
}

// withDay enters a day of a kind.
func withDay(list []kindDay, k kind, day drug.Day) []kindDay {
	for i := range list {
		if d := &list[i]; d.kind == k {
			d.day = min(d.day, day)
			return list
		}
	}
	return append(list, kindDay{k, day})
}

// earliest is the first day of those kinds that stand in some relation to one.
func earliest(list []kindDay, k kind, related func(a, b kind) bool) drug.Day {
	day := never
	for _, d := range list {
		if related(d.kind, k) {
			day = min(day, d.day)
		}
	}
	return day
}

// alike reports whether two products may be the same: they are, or the strength
// of one is not known, and they may be released in the same way.
func alike(a, b kind) bool {
	return a.product == b.product && a.product != 0 || (a.product == 0 || b.product == 0) && a.release.MayBe(b.release)
}

// replaces reports whether one product may be taken in the place of another: it
// is the same, or is not known to be released in another way.
func replaces(a, b kind) bool {
	return a.product == b.product && a.product != 0 || a.release.MayBe(b.release)
}
