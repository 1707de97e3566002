package analytics

import (
	"slices"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// usage is how one patient uses opioids, as far as it is known. Where nobody
// knows what a medicine is, or on which days it was taken, its days are doubts.
type usage struct {
	period  drug.Span
	gist    *Gist
	opioids []series.Medication
	unknown []series.Medication
	// doubts are the days on which an opioid may have been taken besides those
	// that are covered, in the period and before it as far as an episode looks;
	// unknowns is how many of them are of medicines that are not understood,
	// which come first.
	doubts   []drug.Span
	unknowns int
	doubtful bool // one lies in the period
	// fills are the days of the period on which an opioid begins, and days are
	// those that are covered.
	fills, days int

	spans, others []drug.Span
	begins        []drug.Day
}

// look takes up a patient.
func (u *usage) look(g *Gist, d *drugs, period drug.Span) {
	u.period, u.gist, u.opioids, u.unknown = period, g, d.opioids, d.unknown
	u.doubts, u.doubtful = u.doubts[:0], false
	for i := range u.unknown {
		u.doubt(&u.unknown[i])
	}
	u.unknowns = len(u.doubts)
	u.fills = 0
	last := drug.Day(neverScored)
	for i := range u.opioids {
		m := &u.opioids[i]
		if m.Open {
			u.doubt(m)
		}
		if m.First >= period.First && m.First <= period.Last && m.First != last {
			u.fills++
			last = m.First
		}
	}
	u.days = daysIn(g.Covered, period)
}

func (u *usage) doubt(m *series.Medication) {
	window := drug.Span{First: u.period.First - cleanDays, Last: u.period.Last}
	span, ok := m.Possible(window.Last).Within(window)
	if !ok {
		return
	}
	u.doubts = append(u.doubts, span)
	u.doubtful = u.doubtful || span.Last >= u.period.First
}

// daysIn counts the days of a window that spans cover, which do not overlap.
func daysIn(spans []drug.Span, window drug.Span) (days int) {
	for _, s := range spans {
		if span, ok := s.Within(window); ok {
			days += span.Days()
		}
	}
	return days
}

// possibleDays counts the days of a window on which an opioid may have been
// taken.
func (u *usage) possibleDays(window drug.Span) int {
	u.spans = cutTo(u.spans[:0], window, u.gist.Covered, u.doubts)
	return drug.CoveredDays(u.spans)
}

// cutTo appends what lies in a window.
func cutTo(to []drug.Span, window drug.Span, lists ...[]drug.Span) []drug.Span {
	for _, list := range lists {
		for _, s := range list {
			if span, ok := s.Within(window); ok {
				to = append(to, span)
			}
		}
	}
	return to
}

// beginnings counts the days of the period on which a medicine of some lists
// begins.
func (u *usage) beginnings(lists ...[]series.Medication) int {
	u.begins = u.begins[:0]
	for _, list := range lists {
		for i := range list {
			if first := list[i].First; first >= u.period.First && first <= u.period.Last {
				u.begins = append(u.begins, first)
			}
		}
	}
	slices.Sort(u.begins)
	u.begins = slices.Compact(u.begins)
	return len(u.begins)
}

// treated is whether there are enough fills and days, surely or maybe.
func (u *usage) treated() (sure, may bool) {
	if u.fills >= leastFills && u.days >= leastDays {
		return true, true
	}
	return false, u.doubtful && u.beginnings(u.opioids, u.unknown) >= leastFills && u.possibleDays(u.period) >= leastDays
}

// long is whether there are enough days for long-term use.
func (u *usage) long() (sure, may bool) {
	if u.days >= monitoredDays {
		return true, true
	}
	return false, u.doubtful && u.possibleDays(u.period) >= monitoredDays
}

// uncounted has the reasons for which an opioid is in no total of MME, and makes
// none incomplete.
var uncounted = func() (set [256]bool) {
	for code := range set {
		reason := drug.Reason(series.Reason(code).String())
		set[code] = reason != "" && !reason.Incomplete()
	}
	return set
}()

// onlyOUD is whether all opioids of the period, of which there are some, are
// those that are not counted: surely, or as far as is known.
func (u *usage) onlyOUD() (sure, may bool) {
	some, doubt := false, mayCover(u.unknown, u.period)
	for i := range u.opioids {
		m := &u.opioids[i]
		_, ok := m.Possible(u.period.Last).Within(u.period)
		switch {
		case !ok:
		case uncounted[m.Reason]:
			some = true
		case m.Open && m.First < u.period.First:
			doubt = true
		default:
			return false, false
		}
	}
	return some && !doubt, some
}

// highDose is whether the average dose is high: over the days with one, and over
// all days of the treatment period.
func (u *usage) highDose() (dosed, overPeriod verdict) {
	var e drug.Exposure
	e.Add(u.gist.Doses, u.period)
	incomplete := u.doubtful
	for i := 0; i < len(u.opioids) && !incomplete; i++ {
		incomplete = u.lacksDose(&u.opioids[i])
	}
	high := func(days int) bool { return days > 0 && drug.AtLeast(e.TotalMME/float64(days), highMME) }
	treatment := u.treatment(u.gist.Covered)
	dosed, overPeriod = verdictOf(high(e.CoveredDays)), verdictOf(high(treatment.Days()))
	if !incomplete {
		return dosed, overPeriod
	}
	// What is not known may add any dose, or days with next to none.
	if dosed == no || !high(u.dosedDays()) {
		dosed = undecided
	}
	if overPeriod == no || !high(u.treatment(u.gist.Covered, u.doubts).Days()) {
		overPeriod = undecided
	}
	return dosed, overPeriod
}

// lacksDose reports whether the dose of an opioid of the period is not known.
func (u *usage) lacksDose(m *series.Medication) bool {
	_, ok := m.Within(u.period)
	return ok && m.Reason != 0 && !uncounted[m.Reason]
}

// dosedDays counts the days of the period that have a dose, or may have one.
func (u *usage) dosedDays() int {
	u.spans = cutTo(u.spans[:0], u.period, u.doubts)
	for i := range u.gist.Doses {
		if span, ok := u.gist.Doses[i].Within(u.period); ok {
			u.spans = append(u.spans, span)
		}
	}
	for i := range u.opioids {
		if m := &u.opioids[i]; u.lacksDose(m) {
			span, _ := m.Within(u.period)
			u.spans = append(u.spans, span)
		}
	}
	return drug.CoveredDays(u.spans)
}

// treatment is the days of the period from the first to the last of some spans.
func (u *usage) treatment(lists ...[]drug.Span) drug.Span {
	whole := drug.Span{First: u.period.Last + 1, Last: u.period.Last}
	for _, list := range lists {
		for _, s := range list {
			if span, ok := s.Within(u.period); ok {
				if whole.First > u.period.Last {
					whole = span
				}
				whole = drug.Span{First: min(whole.First, span.First), Last: max(whole.Last, span.Last)}
			}
		}
	}
	return whole
}

func prescriberOf(m *series.Medication) uint32 { return m.Prescriber }
func pharmacyOf(m *series.Medication) uint32   { return m.Pharmacy }

// sources is whether the opioids that begin in the period come from many.
func (u *usage) sources(of func(*series.Medication) uint32) verdict {
	var known [manySources]uint32
	n, blank := 0, 0
	look := func(list []series.Medication) {
		for i := range list {
			m := &list[i]
			if m.First < u.period.First || m.First > u.period.Last {
				continue
			}
			switch source := of(m); {
			case source == 0:
				blank++
			case n < manySources && !slices.Contains(known[:n], source):
				known[n] = source
				n++
			}
		}
	}
	look(u.opioids)
	switch {
	case n >= manySources:
		return yes
	case n+blank >= manySources:
		return unrecorded
	}
	look(u.unknown)
	if n+blank >= manySources {
		return undecided
	}
	return no
}

// concurrent is whether there are enough fills of benzodiazepines, and enough
// days with both.
func (u *usage) concurrent() verdict {
	benzos := ofClass(u.gist.Medications, benzodiazepine)
	if len(benzos) == 0 && u.unknowns == 0 {
		return no
	}
	u.others = u.others[:0]
	open := false
	for i := range benzos {
		if m := &benzos[i]; m.Open {
			open = true
		} else if span, ok := m.Within(u.period); ok {
			u.others = append(u.others, span)
		}
	}
	u.spans = cutTo(u.spans[:0], u.period, u.gist.Covered)
	u.spans = append(u.spans, drug.Join(u.others)...)
	if u.beginnings(benzos) >= leastFills && coveredTwice(u.spans) >= overlapDays {
		return yes
	}
	if !open && !u.doubtful || u.beginnings(benzos, u.unknown) < leastFills {
		return no
	}
	// Each that is not understood may be one or the other.
	u.spans = drug.Join(cutTo(u.spans[:0], u.period, u.gist.Covered, u.doubts[u.unknowns:]))
	u.others = u.others[:0]
	for i := range benzos {
		if span, ok := benzos[i].Possible(u.period.Last).Within(u.period); ok {
			u.others = append(u.others, span)
		}
	}
	u.spans = append(u.spans, drug.Join(u.others)...)
	u.spans = cutTo(u.spans, u.period, u.doubts[:u.unknowns])
	if coveredTwice(u.spans) >= overlapDays {
		return undecided
	}
	return no
}

// coveredTwice counts the days that two or more of some spans cover. It puts them in
// another order.
func coveredTwice(spans []drug.Span) (days int) {
	slices.SortFunc(spans, func(a, b drug.Span) int { return int(a.First) - int(b.First) })
	if len(spans) == 0 {
		return 0
	}
	last, counted := spans[0].Last, drug.Day(neverScored) // the last day covered, and the last counted
	for _, s := range spans[1:] {
		if both := (drug.Span{First: max(s.First, counted+1), Last: min(s.Last, last)}); both.First <= both.Last {
			days += both.Days()
			counted = both.Last
		}
		last = max(last, s.Last)
	}
	return days
}

// episode is the day on which a new episode begins, and whether there surely is
// one, or may be.
func (u *usage) episode() (first drug.Day, sure, may bool) {
	found := false
	for i := range u.opioids {
		if day := u.opioids[i].First; day >= u.period.First && day <= u.period.Last && u.clean(day) {
			first, found = day, true
			break
		}
	}
	if len(u.doubts) == 0 {
		return first, found, found
	}
	if found {
		before := drug.Span{First: min(u.period.First, first-cleanDays), Last: first - 1}
		for _, s := range u.doubts {
			if _, ok := s.Within(before); ok {
				return 0, false, true
			}
		}
		return first, true, true
	}
	for i := range u.unknown {
		if day := u.unknown[i].First; day >= u.period.First && day <= u.period.Last && u.clean(day) {
			return 0, false, true
		}
	}
	return 0, false, false
}

// clean reports whether no opioid covers a day of those before a day.
func (u *usage) clean(day drug.Day) bool {
	before := drug.Span{First: day - cleanDays, Last: day - 1}
	for _, s := range u.gist.Covered {
		if _, ok := s.Within(before); ok {
			return false
		}
	}
	return true
}

// covers is whether so many of the days from one on are covered.
func (u *usage) covers(first drug.Day, of, least int) verdict {
	window := drug.Span{First: first, Last: first + drug.Day(of) - 1}
	switch {
	case daysIn(u.gist.Covered, window) >= least:
		return yes
	case len(u.doubts) > 0 && u.possibleDays(window) >= least:
		return undecided
	}
	return no
}
