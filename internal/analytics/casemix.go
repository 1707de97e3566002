package analytics

import (
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// adjustCaseMix requests outcomes adjusted for case mix.
const adjustCaseMix = "case_mix"

// The case mix, with few levels for each covariate, so that patients with the
// same covariates are counted together. So memory does not grow with the
// number of patients, tallies can be merged in any order, and a model is
// fitted to a limited number of rows.
const (
	painLevels       = 11 // baseline pain in whole points
	depressionLevels = 5  // PHQ-9 bands at baseline
	mixCells         = painLevels * ageBands * int(genders) * depressionLevels * 2
)

// mix is the case mix of one patient.
type mix struct {
	pain, age, gender, depression int
	opioid                        bool
}

func (m *mix) index() int {
	at := ((m.pain*ageBands+m.age)*int(genders)+m.gender)*depressionLevels + m.depression
	if m.opioid {
		return 2*at + 1
	}
	return 2 * at
}

// mixAt returns the mix with an index.
func mixAt(i int) (m mix) {
	m.opioid, i = i%2 == 1, i/2
	m.depression, i = i%depressionLevels, i/depressionLevels
	m.gender, i = i%int(genders), i/int(genders)
	m.age, m.pain = i%ageBands, i/ageBands
	return m
}

// mixCell counts patients with follow-up and the same case mix.
type mixCell struct {
	n, above, yes int32 // all, those with a baseline above 0, and those of these who responded
	change        int64 // sum, in fixed point
}

// mixTally counts patients by their case mix.
type mixTally struct {
	cells   []mixCell
	squares wide // of changes
	// left out, by the first reason that applies
	noDepression, noOpioid int
}

func newMixTally() *mixTally { return &mixTally{cells: make([]mixCell, mixCells)} }

func (t *mixTally) merge(o *mixTally) {
	for i := range t.cells {
		to, from := &t.cells[i], &o.cells[i]
		to.n += from.n
		to.above += from.above
		to.yes += from.yes
		to.change += from.change
	}
	t.squares.add(o.squares)
	t.noDepression += o.noDepression
	t.noOpioid += o.noOpioid
}

// n, above and yes return the totals of all cells; total returns the sum of
// changes.
func (t *mixTally) n() (n int)     { return t.count(func(c *mixCell) int32 { return c.n }) }
func (t *mixTally) above() (n int) { return t.count(func(c *mixCell) int32 { return c.above }) }
func (t *mixTally) yes() (n int)   { return t.count(func(c *mixCell) int32 { return c.yes }) }

func (t *mixTally) count(of func(*mixCell) int32) (n int) {
	for i := range t.cells {
		n += int(of(&t.cells[i]))
	}
	return n
}

// change returns the sums for a mean.
func (t *mixTally) change() *sum {
	total := int64(0)
	for i := range t.cells {
		total += t.cells[i].change
	}
	return &sum{t.n(), wideOf(total), t.squares}
}

// caseMix counts a patient with follow-up.
func (t *OutcomesTally) caseMix(to *mixTally, p *Patient, g *Gist, index drug.Day, base, score float64) {
	if to == nil {
		return
	}
	phq, ok := baselineScore(g.Answers, phq9, index)
	if !ok {
		to.noDepression++
		return
	}
	m := mix{pain: min(painLevels-1, int(base+0.5+tolerance)), gender: int(min(p.Gender, UnknownGender)), depression: depressionLevel(phq)}
	if m.opioid, ok = opioidOn(g.Medications, index); !ok {
		to.noOpioid++
		return
	}
	for m.age < len(t.bornBy) && p.Born <= t.bornBy[m.age] {
		m.age++
	}
	c := &to.cells[m.index()]
	change := fixed(score) - fixed(base)
	c.n++
	c.change += change
	to.squares.add(product(change, change))
	if base > 0 {
		c.above++
		if responded(base, score, 30) {
			c.yes++
		}
	}
}

// addOther counts the case mix of a patient who does not match the filters.
func (t *OutcomesTally) addOther(p *Patient, g *Gist) {
	if t.others == nil {
		return
	}
	if _, known := t.stretch.follow(g, t.period); !known {
		return
	}
	base, _ := t.stretch.start()
	index := t.stretch.index
	points := t.stretch.Points[:t.stretch.end]
	if nearest, ok := t.window.nearest(points, index); ok && t.window.due(index, t.params.AsOf) {
		t.caseMix(t.others, p, g, index, base, scoreOf[points[nearest].tenths()])
	}
}

// PassBy does nothing; it is for patients outside [Params.Scope].
func (t *OutcomesTally) PassBy(*Patient) {}

var phq9 = series.InstrumentOf("phq_9")

// depressionFrom are the lower limits of the PHQ-9 bands.
var depressionFrom = [depressionLevels - 1]float64{5, 10, 15, 20}

func depressionLevel(score float64) (level int) {
	for level < len(depressionFrom) && score >= depressionFrom[level]-tolerance {
		level++
	}
	return level
}

// baselineScore returns a score on an instrument at an index date: the mean of
// the 14 days up to and including it, or else the latest of the 30 days before
// it.
func baselineScore(answers []Answer, of series.Instrument, index drug.Day) (_ float64, ok bool) {
	sum, n := 0.0, 0
	latest := -1
	for i := range answers {
		a := &answers[i]
		if a.day > index {
			break
		}
		switch {
		case !a.of(of):
		case a.day > index-baselineDays:
			sum += a.score
			n++
		case a.day >= index-reach:
			latest = i
		}
	}
	switch {
	case n > 0:
		return sum / float64(n), true
	case latest >= 0:
		return answers[latest].score, true
	}
	return 0, false
}

// opioidOn reports whether an opioid is taken on a day. It is not ok if the
// records leave this open.
func opioidOn(medications []Medication, day drug.Day) (yes, ok bool) {
	on := drug.Span{First: day, Last: day}
	if anyTaken(ofClass(medications, opioid), on) {
		return true, true
	}
	return false, !anyTaken(unclassified(medications), on)
}
