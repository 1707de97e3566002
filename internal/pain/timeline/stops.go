package timeline

import (
	"math"
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// never is a day in the infinite future.
const never = drug.Day(math.MaxInt32)

// Records can express in three ways that a medicine was stopped: the
// prescription is corrected and gets an end date; it is recorded again, from
// the same day, as stopped; or a new record only says that it was stopped, and
// when.

// isNotice reports whether a record only says that the medicine was stopped,
// and on which day.
func isNotice(m *series.Medication) bool {
	return m.Ended() && !m.Supplied && (m.Open && m.First == m.Last || m.HasEnd && m.First == m.End)
}

// stopDay returns the last day, according to m, of prescriptions that began
// before it. It is not ok if m stops nothing. A completed prescription only
// ends itself.
func stopDay(m *series.Medication) (_ drug.Day, ok bool) {
	if !m.Ended() || m.Status.String() == "completed" && !isNotice(m) {
		return 0, false
	}
	if m.Open {
		return m.Last - 1, true
	}
	return m.End, m.HasEnd
}

// matchRecordedAgain finds prescriptions that were recorded again as ended,
// from the same day. The later record counts, with the dose of the first if it
// has none. A notice refers to what was taken until then, if there is such a
// prescription: one dose is stopped and another begins on the same day.
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

// anyRunning reports whether one of the prescriptions that may be of the same
// product is taken up to the day before a notice, according to its record.
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

// takePlaceOf replaces the first ongoing record of the same day and
// prescription with a record that has ended.
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

// dropNotices finds notices of known prescriptions, which count on no day. If
// the prescription is unknown, the day of the notice is all that is known.
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

// sameFirst returns how many begin on the same day as the first.
func sameFirst(list []series.Medication, order []int) (n int) {
	for n < len(order) && list[order[n]].First == list[order[0]].First {
		n++
	}
	return n
}

// kind identifies the product of a medicine, as far as known.
type kind struct {
	product uint32
	release drug.Release
}

func kindOf(m *series.Medication) kind { return kind{m.Product, m.Release} }

// kindDay is the earliest day on which a kind was stopped or began, in the
// records examined so far.
type kindDay struct {
	kind
	day drug.Day
}

// lookAhead determines the effect of later records on each prescription of a
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

// withDay adds a day of a kind.
func withDay(list []kindDay, k kind, day drug.Day) []kindDay {
	for i := range list {
		if d := &list[i]; d.kind == k {
			d.day = min(d.day, day)
			return list
		}
	}
	return append(list, kindDay{k, day})
}

// earliest returns the first day of the kinds that are related to k.
func earliest(list []kindDay, k kind, related func(a, b kind) bool) drug.Day {
	day := never
	for _, d := range list {
		if related(d.kind, k) {
			day = min(day, d.day)
		}
	}
	return day
}

// alike reports whether two products may be the same: their strengths are
// equal or one is unknown, and their release may be the same.
func alike(a, b kind) bool {
	return a.product == b.product && a.product != 0 || (a.product == 0 || b.product == 0) && a.release.MayBe(b.release)
}

// replaces reports whether product a may replace product b: it is the same, or
// not known to have a different release.
func replaces(a, b kind) bool {
	return a.product == b.product && a.product != 0 || a.release.MayBe(b.release)
}
