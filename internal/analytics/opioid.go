package analytics

import (
	"slices"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// opioidTally counts opioid exposure.
type opioidTally struct {
	exposed, outOfScope  int
	longTerm, longTermN  int
	peaks, averages      doses // of those with a known dose
	incomplete           int
	at50, at50N          int
	at90, at90N          int
	out50, out90         int
	benzo, gabapentinoid overlapTally
	naloxone, outBenzo   int

	possible []drug.Span // used again for each patient
}

// overlapTally counts who took two classes on one day, of those of whom that
// is known.
type overlapTally struct{ yes, n int }

func (o *opioidTally) merge(other *opioidTally) {
	for _, c := range []struct{ to, from *int }{
		{&o.exposed, &other.exposed}, {&o.outOfScope, &other.outOfScope}, {&o.longTerm, &other.longTerm}, {&o.longTermN, &other.longTermN},
		{&o.incomplete, &other.incomplete}, {&o.at50, &other.at50}, {&o.at50N, &other.at50N}, {&o.at90, &other.at90}, {&o.at90N, &other.at90N},
		{&o.out50, &other.out50}, {&o.out90, &other.out90}, {&o.benzo.yes, &other.benzo.yes}, {&o.benzo.n, &other.benzo.n},
		{&o.gabapentinoid.yes, &other.gabapentinoid.yes}, {&o.gabapentinoid.n, &other.gabapentinoid.n},
		{&o.naloxone, &other.naloxone}, {&o.outBenzo, &other.outBenzo},
	} {
		*c.to += *c.from
	}
	o.peaks.merge(&other.peaks)
	o.averages.merge(&other.averages)
}

var (
	opioid         = series.ClassOf(drug.Opioid)
	benzodiazepine = series.ClassOf(drug.Benzodiazepine)
	gabapentinoid  = series.ClassOf(drug.Gabapentinoid)
	naloxone       = func() series.Ingredient {
		for i := series.Ingredient(1); i != 0; i++ {
			if i.String() == drug.Naloxone {
				return i
			}
		}
		return 0
	}()
)

// longTermDays of the 365 up to the last day make long-term use.
const longTermDays, yearDays = 90, 365

// addOpioids counts an active patient.
func (t *PopulationTally) addOpioids(p *Patient, g *Gist, classes classSet, who *groups) {
	list := ofClass(g.Medications, opioid)
	exposed := classes&opioids != 0
	t.measures[exposure].add(who, exposed)
	t.addLongTerm(g.Covered, list, who)
	if !exposed {
		return
	}
	o := &t.opioid
	o.exposed++
	outOfScope := p.Outside && p.OutsideFrom <= t.params.AsOf
	if outOfScope {
		o.outOfScope++
	}
	t.addDose(g.Doses, list, outOfScope, who)
	if o.addOverlap(&o.benzo, list, ofClass(g.Medications, benzodiazepine), t.period) && outOfScope {
		o.outBenzo++
	}
	o.addOverlap(&o.gabapentinoid, list, ofClass(g.Medications, gabapentinoid), t.period)
	if hasNaloxone(g.Medications, drug.Span{First: t.params.AsOf - yearDays + 1, Last: t.params.AsOf}) {
		o.naloxone++
	}
}

// addLongTerm counts who had an opioid on 90 days of the last 365; not those
// of whom open prescriptions leave it unknown.
func (t *PopulationTally) addLongTerm(covered []drug.Span, list []series.Medication, who *groups) {
	o := &t.opioid
	year := drug.Span{First: t.params.AsOf - yearDays + 1, Last: t.params.AsOf}
	days := 0
	for _, s := range covered {
		if span, ok := s.Within(year); ok {
			days += span.Days()
		}
	}
	certain := days >= longTermDays
	if !certain && o.possibleDays(list, year) >= longTermDays {
		return
	}
	o.longTermN++
	if certain {
		o.longTerm++
	}
	t.measures[longTerm].add(who, certain)
}

// possibleDays is on how many days of a window a medicine may have been taken;
// 0 when none is open, and they are known.
func (o *opioidTally) possibleDays(list []series.Medication, window drug.Span) int {
	if !slices.ContainsFunc(list, func(m series.Medication) bool { return m.Open }) {
		return 0
	}
	o.possible = o.possible[:0]
	for i := range list {
		if span, ok := list[i].Possible(window.Last).Within(window); ok {
			o.possible = append(o.possible, span)
		}
	}
	return drug.CoveredDays(o.possible)
}

// addDose counts the MME of a patient with an opioid. Below a threshold it is
// not known when an opioid is missing from the dose, or none is counted.
func (t *PopulationTally) addDose(doses []drug.Dose, list []series.Medication, outOfScope bool, who *groups) {
	o := &t.opioid
	var e drug.Exposure
	e.Add(doses, t.period)
	for i := range list {
		c := list[i].Course(t.period.Last)
		if _, ok := c.Within(t.period); ok && c.Reason.Incomplete() {
			e.Incomplete = true
			break
		}
	}
	if e.Incomplete {
		o.incomplete++
	}
	average, dosed := e.Average()
	if dosed {
		o.peaks.add(e.Peak)
		o.averages.add(average)
	}
	decided := dosed && !e.Incomplete
	if high := dosed && drug.AtLeast(e.Peak, 50); high || decided {
		t.measures[atLeast50].add(who, high)
		countHigh(high, outOfScope, &o.at50, &o.at50N, &o.out50)
	}
	if high := dosed && drug.AtLeast(e.Peak, 90); high || decided {
		countHigh(high, outOfScope, &o.at90, &o.at90N, &o.out90)
	}
}

func countHigh(high, outOfScope bool, yes, n, out *int) {
	*n++
	if high {
		*yes++
		if outOfScope {
			*out++
		}
	}
}

// addOverlap counts whether opioids and others were taken on the same day: days
// that both cover, or both go on at the end. Those whose days are not known leave
// it open.
func (o *opioidTally) addOverlap(to *overlapTally, opioids, others []series.Medication, period drug.Span) (yes bool) {
	certain, possible := shared(opioids, others, period)
	if certain || possible && current(opioids, period.Last) && current(others, period.Last) {
		to.yes++
		to.n++
		return true
	}
	if !possible {
		to.n++
	}
	return false
}

// shared reports whether medicines of two lists cover a day of the period
// together, and whether they may: open ones may cover all their days.
func shared(these, those []series.Medication, period drug.Span) (certain, possible bool) {
	for i := range those {
		b := &those[i]
		other, ok := b.Possible(period.Last).Within(period)
		if !ok {
			continue
		}
		for k := range these {
			a := &these[k]
			if _, ok := a.Possible(period.Last).Within(other); !ok {
				continue
			}
			if !a.Open && !b.Open {
				return true, true
			}
			possible = true
		}
	}
	return false, possible
}

// current reports whether one of some medicines is taken on a day: it covers it,
// or it is open and goes on.
func current(list []series.Medication, day drug.Day) bool {
	for i := range list {
		m := &list[i]
		if m.First <= day && (m.Open && !m.Ended() || !m.Open && day <= m.Last) {
			return true
		}
	}
	return false
}

// hasNaloxone reports whether naloxone was given or covered in a window.
// Naloxone within an opioid is not meant.
func hasNaloxone(medications []series.Medication, window drug.Span) bool {
	for i := range medications {
		m := &medications[i]
		if m.Ingredient != naloxone {
			continue
		}
		span := m.Span
		if m.Open {
			span.Last = span.First
		}
		if _, ok := span.Within(window); ok {
			return true
		}
	}
	return false
}
