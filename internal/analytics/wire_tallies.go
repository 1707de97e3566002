package analytics

func (t *OutcomesTally) wire(w *wire) {
	w.ints(&t.patients, &t.byAverage, &t.byCurrent, &t.zeroBaseline, &t.notDue, &t.missing, &t.missingAboveZero, &t.worsened, &t.improved2, &t.low,
		&t.impressions, &t.impressed, &t.undetermined, &t.unsure)
	t.baseline.wire(w)
	t.course.wire(w)
	t.followed.wire(w)
	t.percent.wire(w)
	for i := range t.instruments {
		t.instruments[i].wire(w)
	}
	for i := range t.treatments {
		t.treatments[i].wire(w)
	}
	for i := range t.recorded {
		t.recorded[i].wire(w)
	}
	numbers(w, t.places[:])
	if t.mix != nil {
		t.mix.wire(w)
		t.others.wire(w)
	}
}

func (c *course) wire(w *wire) {
	w.length(len(c.buckets))
	for i := range c.buckets {
		c.buckets[i].wire(w)
	}
	c.slope.wire(w)
	numbers(w, c.direction[:])
	c.average.wire(w)
	numbers(w, c.events)
	numbers(w, c.censored)
}

func (b *bucketSum) wire(w *wire) {
	number(w, &b.n)
	w.signed(&b.total)
	w.float(&b.min)
	w.float(&b.max)
}

func (c *comparison) wire(w *wire) {
	c.paired.wire(w)
	numbers(w, c.answers[:])
}

func (t *instrumentTally) wire(w *wire) {
	w.ints(&t.patients, &t.notDue, &t.missing, &t.met)
	t.paired.wire(w)
}

func (t *treatmentTally) wire(w *wire) {
	w.ints(&t.patients, &t.notDue, &t.noBaseline, &t.missing)
	t.comparison.wire(w)
}

func (t *mixTally) wire(w *wire) {
	w.length(len(t.cells))
	for i := range t.cells {
		c := &t.cells[i]
		number(w, &c.n)
		number(w, &c.above)
		number(w, &c.yes)
		w.signed(&c.change)
	}
	t.squares.wire(w)
	w.ints(&t.noDepression, &t.noOpioid)
}

func (t *PopulationTally) wire(w *wire) {
	w.ints(&t.patients, &t.active, &t.byAverage, &t.byCurrent, &t.unsureExposed, &t.undetermined, &t.assumed)
	numbers(w, t.severity[:])
	numbers(w, t.last[:])
	numbers(w, t.treated[:])
	numbers(w, t.exclusive[:])
	numbers(w, t.unsure[:])
	t.opioid.wire(w)
	t.everybody.wire(w)
	t.present.wire(w)
	for i := range t.measures {
		t.measures[i].wire(w)
	}
	t.aligned.wire(w)
	for i := range t.more {
		t.more[i].wire(w)
	}
	t.others.wire(w)
}

func (o *opioidTally) wire(w *wire) {
	w.ints(&o.exposed, &o.outOfScope, &o.maybe, &o.longTerm, &o.longTermN, &o.surely90Overlapped, &o.incomplete, &o.assumed, &o.surely50, &o.surely90,
		&o.at50, &o.at50N, &o.at90, &o.at90N, &o.out50, &o.out90, &o.benzo.yes, &o.benzo.n, &o.gabapentinoid.yes, &o.gabapentinoid.n,
		&o.naloxone.yes, &o.naloxone.n, &o.outBenzo, &o.outOpen)
	for _, d := range o.doses() {
		d.wire(w)
	}
}

func (a *alignedTally) wire(w *wire) {
	numbers(w, a.considered[:])
	for i := range a.excluded {
		numbers(w, a.excluded[i][:])
	}
	for i := range a.decided {
		numbers(w, a.decided[i][:])
	}
}
