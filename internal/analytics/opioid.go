package analytics

import (
	"slices"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// opioidTally counts opioid exposure.
type opioidTally struct {
	exposed, outOfScope  int
	maybe                int // more who may have had one
	longTerm, longTermN  int
	peaks, averages      doses // of those whose dose is all known
	incomplete           int
	surely50, surely90   int // of those incomplete, whose known part reaches 50 but not 90, and 90
	at50, at50N          int
	at90, at90N          int
	out50, out90         int
	benzo, gabapentinoid overlapTally
	naloxone             overlapTally
	outBenzo, outOpen    int

	possible []drug.Span // used again for each patient
}

// overlapTally counts who took two classes on one day, or had naloxone, of those
// of whom that is known.
type overlapTally struct{ yes, n int }

func (o *opioidTally) merge(other *opioidTally) {
	for _, c := range []struct{ to, from *int }{
		{&o.exposed, &other.exposed}, {&o.outOfScope, &other.outOfScope}, {&o.longTerm, &other.longTerm}, {&o.longTermN, &other.longTermN},
		{&o.incomplete, &other.incomplete}, {&o.at50, &other.at50}, {&o.at50N, &other.at50N}, {&o.at90, &other.at90}, {&o.at90N, &other.at90N},
		{&o.out50, &other.out50}, {&o.out90, &other.out90}, {&o.benzo.yes, &other.benzo.yes}, {&o.benzo.n, &other.benzo.n},
		{&o.gabapentinoid.yes, &other.gabapentinoid.yes}, {&o.gabapentinoid.n, &other.gabapentinoid.n},
		{&o.naloxone.yes, &other.naloxone.yes}, {&o.naloxone.n, &other.naloxone.n}, {&o.outBenzo, &other.outBenzo}, {&o.outOpen, &other.outOpen},
		{&o.maybe, &other.maybe}, {&o.surely50, &other.surely50}, {&o.surely90, &other.surely90},
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

// unclassified is the medicines that are not understood, which come last.
func unclassified(list []series.Medication) []series.Medication {
	from := len(list)
	for from > 0 && list[from-1].Class == series.Unclassified {
		from--
	}
	return list[from:]
}

// mayCover reports whether one of some medicines may cover a day of a window.
func mayCover(list []series.Medication, window drug.Span) bool {
	for i := range list {
		if _, ok := list[i].Possible(window.Last).Within(window); ok {
			return true
		}
	}
	return false
}

// drugs is what a patient takes, as far as it matters for opioids.
type drugs struct {
	taken   classSet
	opioids []series.Medication
	// unknown are those that are not understood: each may be an opioid of any
	// dose, of another class, or naloxone. Open says that one may have been
	// taken in the period.
	unknown []series.Medication
	open    bool
	// maybe says that nobody knows whether an opioid was taken in the period.
	maybe bool
}

// lookAt finds the opioids among medicines, and what may be one.
func (t *PopulationTally) lookAt(d *drugs, medications []series.Medication) {
	d.opioids, d.unknown = ofClass(medications, opioid), unclassified(medications)
	d.open = mayCover(d.unknown, t.period)
	d.maybe = d.taken&opioids == 0 && (d.open || mayCover(d.opioids, t.period))
}

// outside reports whether the opioid guideline leaves a patient out.
func (t *PopulationTally) outside(p *Patient) bool {
	return p.Outside && p.OutsideFrom <= t.params.AsOf
}

// addOpioids counts an active patient.
func (t *PopulationTally) addOpioids(p *Patient, g *Gist, d *drugs, who *groups) {
	o := &t.opioid
	exposed := d.taken&opioids != 0
	t.addLongTerm(g.Covered, d, who)
	if d.maybe {
		o.maybe++
		t.measures[exposure].open.add(who)
		t.measures[atLeast50].open.add(who)
		if t.outside(p) {
			o.outOpen++
		}
		return
	}
	t.measures[exposure].add(who, exposed)
	if !exposed {
		return
	}
	o.exposed++
	outOfScope := t.outside(p)
	decided := t.addDose(g.Doses, d, outOfScope, who)
	overlap, known := o.addOverlap(&o.benzo, d, ofClass(g.Medications, benzodiazepine), t.period)
	if known {
		t.more[benzoOverlap].add(who, overlap)
	}
	if outOfScope {
		o.outOfScope++
		if overlap {
			o.outBenzo++
		}
		if !decided || !known {
			o.outOpen++
		}
	}
	o.addOverlap(&o.gabapentinoid, d, ofClass(g.Medications, gabapentinoid), t.period)
	year := drug.Span{First: t.params.AsOf - yearDays + 1, Last: t.params.AsOf}
	switch {
	case hasNaloxone(g.Medications, year):
		o.naloxone.yes++
		o.naloxone.n++
	case !mayCover(d.unknown, year):
		o.naloxone.n++
	}
}

// addLongTerm counts who had an opioid on 90 days of the last 365; not those
// of whom open prescriptions, or what is not understood, leave it unknown.
func (t *PopulationTally) addLongTerm(covered []drug.Span, d *drugs, who *groups) {
	o := &t.opioid
	year := drug.Span{First: t.params.AsOf - yearDays + 1, Last: t.params.AsOf}
	days := 0
	for _, s := range covered {
		if span, ok := s.Within(year); ok {
			days += span.Days()
		}
	}
	certain := days >= longTermDays
	if !certain && o.possibleDays(d, year) >= longTermDays {
		t.measures[longTerm].open.add(who)
		return
	}
	o.longTermN++
	if certain {
		o.longTerm++
	}
	t.measures[longTerm].add(who, certain)
}

// possibleDays is on how many days of a window an opioid may have been taken;
// 0 when none is open and all medicines are understood, and they are known.
func (o *opioidTally) possibleDays(d *drugs, window drug.Span) int {
	if len(d.unknown) == 0 && !slices.ContainsFunc(d.opioids, func(m series.Medication) bool { return m.Open }) {
		return 0
	}
	o.possible = o.possible[:0]
	for _, list := range [...][]series.Medication{d.opioids, d.unknown} {
		for i := range list {
			if span, ok := list[i].Possible(window.Last).Within(window); ok {
				o.possible = append(o.possible, span)
			}
		}
	}
	return drug.CoveredDays(o.possible)
}

// addDose counts the MME of a patient with an opioid. Below a threshold it is
// not known when something is, or may be, missing from the dose, or none is
// counted.
func (t *PopulationTally) addDose(doses []drug.Dose, d *drugs, outOfScope bool, who *groups) (decided bool) {
	o := &t.opioid
	var e drug.Exposure
	e.Add(doses, t.period)
	e.Incomplete = d.open
	for i := range d.opioids {
		if e.Incomplete {
			break
		}
		c := d.opioids[i].Course(t.period.Last)
		if _, ok := c.Within(t.period); ok && c.Reason.Incomplete() {
			e.Incomplete = true
		}
	}
	average, dosed := e.Average()
	decided = dosed && !e.Incomplete
	high50, high90 := dosed && drug.AtLeast(e.Peak, 50), dosed && drug.AtLeast(e.Peak, 90)
	switch {
	case decided:
		o.peaks.add(e.Peak)
		o.averages.add(average)
	case high90:
		o.surely90++
	case high50:
		o.surely50++
	}
	if e.Incomplete {
		o.incomplete++
	}
	if high50 || decided {
		t.measures[atLeast50].add(who, high50)
		countHigh(high50, outOfScope, &o.at50, &o.at50N, &o.out50)
	} else {
		t.measures[atLeast50].open.add(who)
	}
	if high90 || decided {
		t.more[atLeast90].add(who, high90)
		countHigh(high90, outOfScope, &o.at90, &o.at90N, &o.out90)
	}
	return decided
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
// that both cover, or both go on at the end. Those whose days are not known, and
// what is not understood, leave it open.
func (o *opioidTally) addOverlap(to *overlapTally, d *drugs, others []series.Medication, period drug.Span) (yes, known bool) {
	certain, possible := shared(d.opioids, others, period)
	if certain || possible && current(d.opioids, period.Last) && current(others, period.Last) {
		to.yes++
		to.n++
		return true, true
	}
	if possible || d.open && d.mayShare(others, period) {
		return false, false
	}
	to.n++
	return false, true
}

// mayShare reports whether an opioid and another medicine may have been taken
// on the same day because one or both of them is not understood.
func (d *drugs) mayShare(others []series.Medication, period drug.Span) bool {
	if _, may := shared(d.unknown, d.opioids, period); may {
		return true
	}
	if _, may := shared(d.unknown, others, period); may {
		return true
	}
	for i := range d.unknown {
		if _, may := shared(d.unknown[i:i+1], d.unknown[i+1:], period); may {
			return true
		}
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
