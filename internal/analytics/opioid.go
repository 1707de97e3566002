package analytics

import (
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// opioidTally counts opioid exposure.
type opioidTally struct {
	exposed, outOfScope int
	maybe               int // further patients who may have had one
	longTerm, longTermN int
	// Of those with fully known doses: the averages, the peaks of those for
	// whom carrying supply forward makes no difference, and the peaks of the
	// others with and without carrying.
	averages, peaks, carried, uncarried doses
	surely90Overlapped                  int
	incomplete                          int
	assumed                             int // with a dose that depends on assumed days
	surely50, surely90                  int // of those incomplete: known part reaches 50 but not 90, and 90
	at50, at50N                         int
	at90, at90N                         int
	out50, out90                        int
	benzo, gabapentinoid                overlapTally
	naloxone                            overlapTally
	outBenzo, outOpen                   int

	possible []drug.Span // reused for each patient
}

// overlapTally counts patients who took two classes on one day, or had
// naloxone, of those for whom it is known.
type overlapTally struct{ yes, n int }

func (o *opioidTally) merge(other *opioidTally) {
	for _, c := range []struct{ to, from *int }{
		{&o.exposed, &other.exposed}, {&o.outOfScope, &other.outOfScope}, {&o.longTerm, &other.longTerm}, {&o.longTermN, &other.longTermN},
		{&o.incomplete, &other.incomplete}, {&o.at50, &other.at50}, {&o.at50N, &other.at50N}, {&o.at90, &other.at90}, {&o.at90N, &other.at90N},
		{&o.out50, &other.out50}, {&o.out90, &other.out90}, {&o.benzo.yes, &other.benzo.yes}, {&o.benzo.n, &other.benzo.n},
		{&o.gabapentinoid.yes, &other.gabapentinoid.yes}, {&o.gabapentinoid.n, &other.gabapentinoid.n},
		{&o.naloxone.yes, &other.naloxone.yes}, {&o.naloxone.n, &other.naloxone.n}, {&o.outBenzo, &other.outBenzo}, {&o.outOpen, &other.outOpen},
		{&o.maybe, &other.maybe}, {&o.surely50, &other.surely50}, {&o.surely90, &other.surely90},
		{&o.surely90Overlapped, &other.surely90Overlapped}, {&o.assumed, &other.assumed},
	} {
		*c.to += *c.from
	}
	from := other.doses()
	for i, to := range o.doses() {
		to.merge(from[i])
	}
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

// longTermDays out of the last yearDays make long-term use.
const longTermDays, yearDays = 90, 365

// drugs is what a patient takes, as far as relevant for opioids.
type drugs struct {
	taken                                    classSet
	opioids, benzodiazepines, gabapentinoids []Medication
	// unknown are the unclassified medicines: each may be an opioid of any
	// dose, of another class, or naloxone. open is set if one was taken in the
	// period.
	unknown []Medication
	open    bool
	// maybe is set if it is unknown whether an opioid was taken in the period.
	maybe    bool
	naloxone bool          // at any time
	dose     drug.Exposure // in the period, for patients who certainly took an opioid then
	assumed  bool          // one of them is assumed on a day of the period
	coverage
}

// anyOpioid reports whether there is, at any time, an opioid or a medicine
// that may be one.
func (d *drugs) anyOpioid() bool { return len(d.opioids)+len(d.unknown) > 0 }

// lookAt determines what a patient takes.
func (d *drugs) lookAt(g *Gist, period drug.Span) {
	list := g.Medications
	taken := classSet(0)
	for i := range list {
		taken |= list[i].classIn(period)
	}
	d.taken, d.dose = taken, drug.Exposure{}
	s := g.Shelf
	d.opioids, d.benzodiazepines, d.gabapentinoids, d.unknown = s.opioids.of(list), s.benzodiazepines.of(list), s.gabapentinoids.of(list), s.unknown.of(list)
	d.open = d.taken.has(series.Unclassified)
	d.maybe = d.open && d.taken&opioids == 0
	d.naloxone = s.naloxone
	d.assumed = s.open && slices.ContainsFunc(list, func(m Medication) bool { return m.assumed(period) })
}

// outside reports whether the opioid guideline excludes a patient.
func (t *PopulationTally) outside(p *Patient) bool {
	_, exempt := p.Exempt.On(t.params.AsOf)
	return exempt
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
	decided := t.addDose(g, d, outOfScope, who)
	overlap, known := o.addOverlap(&o.benzo, d, d.benzodiazepines, t.period)
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
	o.addOverlap(&o.gabapentinoid, d, d.gabapentinoids, t.period)
	switch {
	case d.naloxone && hasNaloxone(g.Medications, t.year):
		o.naloxone.yes++
		o.naloxone.n++
	case !anyTaken(d.unknown, t.year):
		o.naloxone.n++
	}
}

// addLongTerm counts patients with an opioid on 90 of the last 365 days. It
// skips patients for whom unclassified medicines leave this open.
func (t *PopulationTally) addLongTerm(covered []drug.Span, d *drugs, who *groups) {
	o := &t.opioid
	d.coverage.lookAt(covered, t.period, t.year)
	certain := d.yearDays >= longTermDays
	if !certain && o.possibleDays(d, t.year) >= longTermDays {
		t.measures[longTerm].open.add(who)
		return
	}
	o.longTermN++
	if certain {
		o.longTerm++
	}
	t.measures[longTerm].add(who, certain)
}

// possibleDays returns the number of days in a window on which an opioid may
// have been taken, or 0 if all medicines are classified and their days are
// known.
func (o *opioidTally) possibleDays(d *drugs, window drug.Span) int {
	if len(d.unknown) == 0 {
		return 0
	}
	o.possible = o.possible[:0]
	for _, list := range [...][]Medication{d.opioids, d.unknown} {
		for i := range list {
			if span, ok := list[i].Within(window); ok {
				o.possible = append(o.possible, span)
			}
		}
	}
	return drug.CoveredDays(o.possible)
}

// addDose counts the MME of a patient with an opioid. Below a threshold it is
// undecided if something is or may be missing from the dose, or if no opioid
// counts.
func (t *PopulationTally) addDose(g *Gist, d *drugs, outOfScope bool, who *groups) (decided bool) {
	o := &t.opioid
	e := &d.dose
	e.Add(g.Doses, t.period)
	e.Incomplete = d.open
	if g.Shelf.lacking {
		e.Incomplete = e.Incomplete || slices.ContainsFunc(d.opioids, func(m Medication) bool { return missesDose[m.reason%reasonCodes] && m.taken(t.period) })
	}
	if g.Shelf.open && slices.ContainsFunc(d.opioids, func(m Medication) bool { return m.assumed(t.period) }) {
		o.assumed++
	}
	overlapped := max(e.Peak, peakIn(g.Overlapped, t.period))
	average, dosed := e.Average()
	decided = dosed && !e.Incomplete
	high50, high90 := dosed && drug.AtLeast(e.Peak, 50), dosed && drug.AtLeast(e.Peak, 90)
	switch {
	case decided:
		o.addPeak(e.Peak, overlapped)
		o.averages.add(average)
	case high90:
		o.surely90++
	case high50:
		o.surely50++
	}
	if !decided && dosed && drug.AtLeast(overlapped, 90) {
		o.surely90Overlapped++
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

func (o *opioidTally) addPeak(peak, overlapped float64) {
	if peak == overlapped {
		o.peaks.add(peak)
		return
	}
	o.carried.add(peak)
	o.uncarried.add(overlapped)
}

// doses returns the lists of doses.
func (o *opioidTally) doses() [4]*doses {
	return [...]*doses{&o.averages, &o.peaks, &o.carried, &o.uncarried}
}

// close sorts the doses, and drops what is reused for each patient.
func (o *opioidTally) close() {
	for _, d := range o.doses() {
		d.close()
	}
	o.possible = nil
}

// peakIn returns the highest dose in a window.
func peakIn(doses []drug.Dose, window drug.Span) float64 {
	var peak drug.Exposure
	peak.Add(doses, window)
	return peak.Peak
}

// reasonCodes is the number of reason codes, and missesDose holds for each
// whether a total without such an opioid is too low.
const reasonCodes = 16

var missesDose = func() (list [reasonCodes]bool) {
	for code := range list {
		list[code] = drug.Reason(series.Reason(code).String()).Incomplete()
	}
	return list
}()

func countHigh(high, outOfScope bool, yes, n, out *int) {
	*n++
	if high {
		*yes++
		if outOfScope {
			*out++
		}
	}
}

// addOverlap counts whether opioids and others were taken on the same day.
// Unclassified medicines may leave this open.
func (o *opioidTally) addOverlap(to *overlapTally, d *drugs, others []Medication, period drug.Span) (yes, known bool) {
	if len(others) > 0 && d.taken.has(others[0].class) && shared(d.opioids, others, period) {
		to.yes++
		to.n++
		return true, true
	}
	if d.open && d.mayShare(others, period) {
		return false, false
	}
	to.n++
	return false, true
}

// mayShare reports whether an opioid and another medicine may have been taken
// on the same day because one or both are unclassified.
func (d *drugs) mayShare(others []Medication, period drug.Span) bool {
	if shared(d.unknown, d.opioids, period) || shared(d.unknown, others, period) {
		return true
	}
	for i := range d.unknown {
		if shared(d.unknown[i:i+1], d.unknown[i+1:], period) {
			return true
		}
	}
	return false
}

// shared reports whether medicines of both lists were taken on the same day of
// the period.
func shared(these, those []Medication, period drug.Span) bool {
	for i := range those {
		other, ok := those[i].Within(period)
		if ok && anyTaken(these, other) {
			return true
		}
	}
	return false
}

// hasNaloxone reports whether naloxone was given or covered in a window.
// Assumed days do not count, nor does naloxone in a combination with an
// opioid.
func hasNaloxone(medications []Medication, window drug.Span) bool {
	for i := range medications {
		m := &medications[i]
		if !m.naloxone {
			continue
		}
		span := m.Span
		if m.open || span.Last < span.First {
			span = drug.Span{First: m.start, Last: m.start}
		}
		if _, ok := span.Within(window); ok {
			return true
		}
	}
	return false
}
