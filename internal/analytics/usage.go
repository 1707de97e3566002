package analytics

import (
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// usage is one patient's use of opioids, as far as known. The days of
// unclassified medicines, and days that are uncertain, are doubts.
type usage struct {
	period drug.Span
	gist   *Gist
	*drugs
	// doubts are the days of unclassified medicines, on which an opioid may
	// have been taken, in the period and in the lookback of an episode before
	// it.
	doubts   []drug.Span
	doubtful bool // one of them is in the period
	// filled is set if opioids begin on enough days of the period.
	filled  bool
	records int
	// counted and uncounted are set if the period has opioids with MME, or
	// opioids that must not be counted; lacking is set if the MME of one are
	// unknown.
	counted, uncounted, lacking bool

	spans, others []drug.Span
}

// look loads a patient.
func (u *usage) look(g *Gist, d *drugs, period drug.Span) {
	u.period, u.gist, u.drugs = period, g, d
	u.doubts, u.doubtful = u.doubts[:0], false
	for i := range u.unknown {
		u.doubt(&u.unknown[i])
	}
	u.lookAtOpioids()
}

func (u *usage) lookAtOpioids() {
	u.filled, u.records, u.counted, u.uncounted, u.lacking = false, 0, false, false, false
	first := drug.Day(0)
	for i := range u.opioids {
		m := &u.opioids[i]
		if u.begin(m) {
			if u.records == 0 {
				first = m.start
			}
			u.filled = u.filled || m.start != first // two days are enough; see fills
			u.records++
		} else if !m.taken(u.period) {
			continue
		}
		switch {
		case m.reason == 0:
			u.counted = true
		case uncounted[m.reason]:
			u.uncounted = true
		default:
			// An opioid whose supply is carried past the period has no dose in
			// it.
			u.counted, u.lacking = true, u.lacking || m.taken(u.period)
		}
	}
}

// begin reports whether a prescription that counts was made in the period.
func (u *usage) begin(m *Medication) bool {
	return m.First <= m.Last && m.start >= u.period.First && m.start <= u.period.Last
}

func (u *usage) doubt(m *Medication) {
	window := drug.Span{First: u.period.First - cleanDays, Last: u.period.Last}
	span, ok := m.Within(window)
	if !ok {
		return
	}
	u.doubts = append(u.doubts, span)
	u.doubtful = u.doubtful || span.Last >= u.period.First
}

// daysIn returns the number of days in a window covered by spans, which must
// not overlap.
func daysIn(spans []drug.Span, window drug.Span) (days int) {
	for _, s := range spans {
		if span, ok := s.Within(window); ok {
			days += span.Days()
		}
	}
	return days
}

// possibleDays returns the number of days in a window on which an opioid may
// have been taken.
func (u *usage) possibleDays(window drug.Span) int {
	u.spans = cutTo(u.spans[:0], window, u.gist.Covered, u.doubts)
	return drug.CoveredDays(u.spans)
}

// cutTo appends the parts of spans in a window.
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

// fills reports whether the medicines were prescribed on enough days of the
// period, which are two; it does not compile with any other number.
func (u *usage) fills(lists ...[]Medication) bool {
	first, any := drug.Day(0), false
	for _, list := range lists {
		for i := range list {
			switch m := &list[i]; {
			case !u.begin(m):
			case any && m.start != first:
				return true
			default:
				first, any = m.start, true
			}
		}
	}
	return false
}

var _ [leastFills - 2][2 - leastFills]struct{}

// treated returns whether there are, or may be, enough fills and days.
func (u *usage) treated() (sure, may bool) {
	if u.filled && u.days >= leastDays {
		return true, true
	}
	return false, u.doubtful && u.fills(u.opioids, u.unknown) && u.possibleDays(u.period) >= leastDays
}

// long returns whether there are, or may be, enough days for long-term use.
func (u *usage) long() (sure, may bool) {
	if u.days >= monitoredDays {
		return true, true
	}
	return false, u.doubtful && u.possibleDays(u.period) >= monitoredDays
}

// uncounted are the reasons for which an opioid is in no MME total without
// making it incomplete.
var uncounted = func() (set [256]bool) {
	for code := range set {
		reason := drug.Reason(series.Reason(code).String())
		set[code] = reason != "" && !reason.Incomplete()
	}
	return set
}()

// onlyOUD returns whether all opioids of the period, of which there must be
// some, are certainly, or as far as known, those that are not counted.
func (u *usage) onlyOUD() (sure, may bool) {
	some := u.uncounted && !u.counted
	return some && !u.doubtful, some
}

// highDose returns whether the average dose is high: over the days with a
// dose, and over all days of the treatment period.
func (u *usage) highDose() (dosed, overPeriod verdict) {
	high := func(days int) bool { return days > 0 && drug.AtLeast(u.dose.TotalMME/float64(days), highMME) }
	dosed, overPeriod = verdictOf(high(u.dose.CoveredDays)), verdictOf(high(int(u.last-u.first)+1))
	if !u.doubtful && !u.lacking {
		return dosed, overPeriod
	}
	// Unknown doses may add any amount, or days with almost none.
	if dosed == no || !high(u.dosedDays()) {
		dosed = undecided
	}
	if overPeriod == no || !high(u.longest()) {
		overPeriod = undecided
	}
	return dosed, overPeriod
}

// longest returns the maximum number of days of the treatment period.
func (u *usage) longest() int {
	first, last := u.first, u.last
	for _, s := range u.doubts {
		if span, ok := s.Within(u.period); ok {
			first, last = min(first, span.First), max(last, span.Last)
		}
	}
	return int(last-first) + 1
}

// lacksDose reports whether the dose of an opioid in the period is unknown.
func (u *usage) lacksDose(m *Medication) bool {
	_, ok := m.Within(u.period)
	return ok && m.reason != 0 && !uncounted[m.reason]
}

// dosedDays returns the number of days of the period that have or may have a
// dose.
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

// sources returns whether the opioids that begin in the period are from many
// prescribers, and from many pharmacies.
func (u *usage) sources() (prescribers, pharmacies verdict) {
	if u.records+len(u.unknown) < manySources {
		return no, no
	}
	var prescriber, pharmacy sourceCount
	look := func(list []Medication, sources []Source) {
		for i := range list {
			if u.begin(&list[i]) {
				prescriber.add(sources[i].prescriber)
				pharmacy.add(sources[i].pharmacy)
			}
		}
	}
	look(u.opioids, u.gist.Sources)
	prescribers, pharmacies = prescriber.verdict(), pharmacy.verdict()
	if len(u.unknown) == 0 || prescribers != no && pharmacies != no {
		return prescribers, pharmacies
	}
	look(u.unknown, u.gist.Sources[len(u.opioids):])
	if prescribers == no {
		prescribers = prescriber.open()
	}
	if pharmacies == no {
		pharmacies = pharmacy.open()
	}
	return prescribers, pharmacies
}

// sourceCount counts the sources of prescriptions, up to the threshold.
type sourceCount struct {
	known    [manySources]uint32
	n, blank int
}

func (c *sourceCount) add(source uint32) {
	switch {
	case source == 0:
		c.blank++
	case c.n < manySources && !slices.Contains(c.known[:c.n], source):
		c.known[c.n] = source
		c.n++
	}
}

// verdict returns whether there are many. It is unrecorded if sources that are
// not recorded decide it.
func (c *sourceCount) verdict() verdict {
	switch {
	case c.n >= manySources:
		return yes
	case c.n+c.blank >= manySources:
		return unrecorded
	}
	return no
}

// open returns undecided if there may be many when unclassified medicines are
// included.
func (c *sourceCount) open() verdict {
	if c.n+c.blank >= manySources {
		return undecided
	}
	return no
}

// concurrent returns whether there are enough fills of benzodiazepines and
// enough days with both.
func (u *usage) concurrent() verdict {
	benzos := u.benzodiazepines
	filled := u.fills(benzos)
	if !filled && !(u.doubtful && u.fills(benzos, u.unknown)) {
		return no
	}
	u.others = u.others[:0]
	for i := range benzos {
		if span, ok := benzos[i].Within(u.period); ok {
			u.others = append(u.others, span)
		}
	}
	u.others = drug.Join(u.others)
	if filled && sharedDays(u.gist.Covered, u.others) >= overlapDays {
		return yes
	}
	if !u.doubtful {
		return no
	}
	// An unclassified medicine may be either.
	u.spans = append(cutTo(u.spans[:0], u.period, u.gist.Covered, u.doubts), u.others...)
	if coveredTwice(u.spans) >= overlapDays {
		return undecided
	}
	return no
}

// sharedDays returns the number of days in both of two lists, each sorted and
// without overlaps.
func sharedDays(a, b []drug.Span) (days int) {
	for len(a) > 0 && len(b) > 0 {
		if span, ok := a[0].Within(b[0]); ok {
			days += span.Days()
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return days
}

// coveredTwice returns the number of days covered by two or more spans. It
// reorders them.
func coveredTwice(spans []drug.Span) (days int) {
	slices.SortFunc(spans, func(a, b drug.Span) int { return int(a.First) - int(b.First) })
	if len(spans) == 0 {
		return 0
	}
	last, counted := spans[0].Last, drug.Day(neverScored) // last day covered, and last day counted
	for _, s := range spans[1:] {
		if both := (drug.Span{First: max(s.First, counted+1), Last: min(s.Last, last)}); both.First <= both.Last {
			days += both.Days()
			counted = both.Last
		}
		last = max(last, s.Last)
	}
	return days
}

// episode returns the first day of a new episode, and whether there certainly
// is or may be one.
func (u *usage) episode() (index drug.Day, sure, may bool) {
	first, found := u.fresh, u.fresh <= u.period.Last
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
		m := &u.unknown[i]
		if day := m.First; day <= m.Last && day >= u.period.First && day <= u.period.Last && u.clean(day) {
			return 0, false, true
		}
	}
	return 0, false, false
}

// clean reports whether no opioid covers the lookback before a day.
func (u *usage) clean(day drug.Day) bool {
	before := drug.Span{First: day - cleanDays, Last: day - 1}
	for _, s := range u.gist.Covered {
		if _, ok := s.Within(before); ok {
			return false
		}
	}
	return true
}

// covers returns whether at least this many of the days from first are
// covered.
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
