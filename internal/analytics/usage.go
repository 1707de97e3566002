package analytics

import (
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// usage is how one patient uses opioids, as far as it is known. Where nobody
// knows what a medicine is, or on which days it was taken, its days are doubts.
type usage struct {
	period drug.Span
	gist   *Gist
	*drugs
	// doubts are the days of medicines that are not understood, on which an opioid
	// may have been taken, in the period and before it as far as an episode looks.
	doubts   []drug.Span
	doubtful bool // one lies in the period
	// filled says that opioids begin on enough days of the period, of so many
	// records.
	filled  bool
	records int
	// counted and uncounted say that the period has opioids that MME are counted
	// of, or must not be; lacking, that of one they are not known.
	counted, uncounted, lacking bool

	spans, others []drug.Span
}

// look takes up a patient.
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
			// One whose supply is carried past the period has no dose in it.
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

// fills reports whether medicines of some lists were prescribed on enough days
// of the period, which are two; with any other number this does not compile.
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

// treated is whether there are enough fills and days, surely or maybe.
func (u *usage) treated() (sure, may bool) {
	if u.filled && u.days >= leastDays {
		return true, true
	}
	return false, u.doubtful && u.fills(u.opioids, u.unknown) && u.possibleDays(u.period) >= leastDays
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
	some := u.uncounted && !u.counted
	return some && !u.doubtful, some
}

// highDose is whether the average dose is high: over the days with one, and over
// all days of the treatment period.
func (u *usage) highDose() (dosed, overPeriod verdict) {
	high := func(days int) bool { return days > 0 && drug.AtLeast(u.dose.TotalMME/float64(days), highMME) }
	dosed, overPeriod = verdictOf(high(u.dose.CoveredDays)), verdictOf(high(int(u.last-u.first)+1))
	if !u.doubtful && !u.lacking {
		return dosed, overPeriod
	}
	// What is not known may add any dose, or days with next to none.
	if dosed == no || !high(u.dosedDays()) {
		dosed = undecided
	}
	if overPeriod == no || !high(u.longest()) {
		overPeriod = undecided
	}
	return dosed, overPeriod
}

// longest is how many days the treatment period may have.
func (u *usage) longest() int {
	first, last := u.first, u.last
	for _, s := range u.doubts {
		if span, ok := s.Within(u.period); ok {
			first, last = min(first, span.First), max(last, span.Last)
		}
	}
	return int(last-first) + 1
}

// lacksDose reports whether the dose of an opioid of the period is not known.
func (u *usage) lacksDose(m *Medication) bool {
	_, ok := m.Within(u.period)
	return ok && m.reason != 0 && !uncounted[m.reason]
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

// sources is whether the opioids that begin in the period come from many
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

// sourceCount counts the sources of prescriptions, as far as it matters.
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

// verdict is whether there are many; it is unrecorded where those that are not
// recorded decide it.
func (c *sourceCount) verdict() verdict {
	switch {
	case c.n >= manySources:
		return yes
	case c.n+c.blank >= manySources:
		return unrecorded
	}
	return no
}

// open is undecided when there may be many, with those of medicines that are not
// understood.
func (c *sourceCount) open() verdict {
	if c.n+c.blank >= manySources {
		return undecided
	}
	return no
}

// concurrent is whether there are enough fills of benzodiazepines, and enough
// days with both.
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
	// Each that is not understood may be one or the other.
	u.spans = append(cutTo(u.spans[:0], u.period, u.gist.Covered, u.doubts), u.others...)
	if coveredTwice(u.spans) >= overlapDays {
		return undecided
	}
	return no
}

// sharedDays counts the days that are in both of two lists, each of which is in
// order and does not overlap itself.
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
