package analytics

import (
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// comparison is patients before and after, and their responses.
type comparison struct {
	paired
	answers [answerKinds]int
}

func (c *comparison) add(before, after int64, fell answer) {
	c.paired.addFixed(before, after)
	c.answers[fell%answerKinds]++
}

func (c *comparison) merge(o *comparison) {
	c.paired.merge(&o.paired)
	addAll(c.answers[:], o.answers[:])
}

// r30 and r50 return the numbers of responders, and zero that of patients with
// no pain before, for whom there is no percentage.
func (c *comparison) r30() int  { return c.answers[by30] + c.answers[by50] }
func (c *comparison) r50() int  { return c.answers[by50] }
func (c *comparison) zero() int { return c.answers[fromZero] }

// Intervention is a procedure with the pain recorded before and after.
type Intervention struct {
	pre, post int64 // in fixed point
	day       drug.Day
	of        series.ProcedureType
	known     bool // both are known
}

func (g *Gist) takeInterventions(list []series.Procedure) {
	for i := range list {
		p := &list[i]
		g.Interventions = append(g.Interventions, Intervention{fixed(p.Pre.Number), fixed(p.Post.Number), dayOf(p.At), p.Type % procedureCodes, p.Pre.Known && p.Post.Known})
	}
}

// addRecorded counts, for each type, a patient's first procedure in the period
// with both scores.
func (t *OutcomesTally) addRecorded(interventions []Intervention) {
	var recorded uint32
	for i := range interventions {
		p := &interventions[i]
		if p.day < t.period.First || p.day > t.period.Last || !p.known {
			continue
		}
		if bit := uint32(1) << p.of; recorded&bit == 0 {
			recorded |= bit
			t.recorded[p.of].addFixed(p.pre, p.post)
		}
	}
}

// addOnsets counts the first onset of each treatment in the period, unless a
// medication class was already being taken.
func (t *OutcomesTally) addOnsets(onsets []Onset, scored bool) {
	period, dueBy, window := t.period, t.window.dueBy(t.period.Last), t.windowAt%followUps
	for i := range onsets {
		o := &onsets[i]
		if o.day < period.First || o.day > period.Last || o.day-drug.Day(o.since) >= period.First {
			continue
		}
		to := &t.treatments[o.treatment%treatments]
		to.patients++
		switch after := o.after[window]; {
		case o.day > dueBy:
			to.notDue++
		case o.before < 0 || !scored:
			to.noBaseline++
		case after == noScore:
			to.missing++
		default:
			to.add(o.before, fixedOf[after], o.answers.at(window))
		}
	}
}

// treatmentTally counts patients before and after a treatment.
type treatmentTally struct {
	patients, notDue, noBaseline, missing int
	comparison
}

// procedures and classes return the tallies of each kind of treatment, by
// code.
func (t *OutcomesTally) procedures() []treatmentTally { return t.treatments[:procedureCodes] }
func (t *OutcomesTally) classes() []treatmentTally {
	return t.treatments[procedureCodes : procedureCodes+classCodes]
}

func (t *treatmentTally) merge(o *treatmentTally) {
	t.patients += o.patients
	t.notDue += o.notDue
	t.noBaseline += o.noBaseline
	t.missing += o.missing
	t.comparison.merge(&o.comparison)
}
