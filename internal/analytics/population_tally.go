package analytics

import (
	"sync"

	"math/bits"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// PopulationTally counts population health, patient by patient. It is not safe
// for concurrent use.
type PopulationTally struct {
	params *Params
	filter Filter
	period drug.Span
	year   drug.Span // up to the last day
	bornBy [ageBands - 1]drug.Day

	patients, active     int
	byAverage, byCurrent int
	severity             [len(pain.Severities)]int
	last                 [3]int // last score: within 90 days, longer ago, never
	treated              [classCodes]int
	exclusive            [5]int
	unsure               [classCodes]int // may have taken a class
	unsureExposed        int             // undetermined in the treatment mix, with an opioid
	undetermined         int             // may match the filter
	assumed              int             // assumed to take a medicine
	opioid               opioidTally
	everybody, present   strata
	measures             [measures]rates

	own Gist // for patients without one
	// scores and drugs are reused for each patient.
	scores scored
	drugs  drugs

	aligned alignedTally
	more    [moreMeasures]rates
	others  strata // rest of the standard population

	printed sync.Once
	figures *Population // set by printed
}

// ageBands is the number of age bands, by age at the end of the period.
const ageBands = 5

var (
	ageFrom      = [ageBands - 1]int{18, 30, 45, 65}
	ageBandNames = []string{"<18", "18-29", "30-44", "45-64", "65+"}
)

// groups are the groups of a patient.
type groups struct {
	gender Gender
	age    int
}

// rates counts patients with some property, of those for whom it is known;
// open counts the others.
type rates struct{ n, yes, open strata }

func (r *rates) add(who *groups, yes bool) {
	r.n.add(who)
	if yes {
		r.yes.add(who)
	}
}

// The measures by which groups are compared.
const (
	severePain = iota
	exposure
	longTerm
	atLeast50
	gap
	measures
)

// NewPopulationTally returns an empty tally.
func NewPopulationTally(p *Params) *PopulationTally {
	year := drug.Span{First: p.AsOf - yearDays + 1, Last: p.AsOf}
	t := &PopulationTally{params: p, filter: p.Filter(), period: p.Period(), year: year, bornBy: bandsBy(p.AsOf)}
	t.aligned.begin(p)
	return t
}

// bandsBy returns the latest birth dates of patients who are in a band or a
// later one on a day.
func bandsBy(on drug.Day) (days [ageBands - 1]drug.Day) {
	for i, age := range ageFrom {
		days[i] = bornBy(on, age)
	}
	return days
}

// Add counts a patient, if the filter matches.
func (t *PopulationTally) Add(p *Patient) {
	gist := p.gist(&t.own)
	if passes, maybe := t.filter.passes(p, gist); !passes {
		if maybe {
			t.undetermined++
		}
		t.PassBy(p)
		return
	}
	who := t.groupsOf(p)
	t.patients++
	t.everybody.add(&who)
	scores := &t.scores
	scores.lookAt(gist, t.period.Last+1)
	t.addGap(scores.last, &who)
	d := &t.drugs
	d.lookAt(gist, t.period)
	if scores.last < t.period.First && d.taken == 0 && !t.assessed(gist) {
		if t.aligned.answered(gist.Marks) {
			t.aligned.addImpact(p, gist.Marks, scores)
		}
		return
	}
	t.active++
	t.present.add(&who)
	t.addSeverity(scores, &who)
	t.addTreatment(d)
	if d.assumed {
		t.assumed++
	}
	t.addOpioids(p, gist, d, &who)
	t.aligned.addImpact(p, gist.Marks, scores)
	if d.anyOpioid() {
		t.aligned.addOpioids(p, gist, d)
	}
}

// assessed reports whether there is an assessment or a procedure in the period.
func (t *PopulationTally) assessed(g *Gist) bool {
	for i := range g.Answers {
		if day := g.Answers[i].day; day >= t.period.First && day <= t.period.Last {
			return true
		}
	}
	for i := range g.Interventions {
		if day := g.Interventions[i].day; day >= t.period.First && day <= t.period.Last {
			return true
		}
	}
	return false
}

// gapDays is the number of days without a score that make a gap.
const gapDays = 90

var lastScores = []string{"within_90_days", "over_90_days", "never"}

func (t *PopulationTally) addGap(last drug.Day, who *groups) {
	group := 0
	switch {
	case last == neverScored:
		group = 2
	case t.params.AsOf-last > gapDays:
		group = 1
	}
	t.last[group]++
	t.measures[gap].add(who, group > 0)
}

var severities = func() (names []string) {
	for _, s := range pain.Severities {
		names = append(names, string(s))
	}
	return names
}()

// isSevere reports whether a score is in the highest band.
func isSevere(score float64) bool { return score >= pain.DefaultScheme.Severe }

// addSeverity counts the latest score in the period.
func (t *PopulationTally) addSeverity(scores *scored, who *groups) {
	score, aspect, ok := scores.latest(t.period.First)
	if !ok {
		return
	}
	if aspect == series.Average {
		t.byAverage++
	} else {
		t.byCurrent++
	}
	t.severity[pain.DefaultScheme.Rank(score)]++
	t.measures[severePain].add(who, isSevere(score))
}

// classSet is a set of medication classes.
type classSet uint32

func setOf(classes ...drug.Class) (set classSet) {
	for _, c := range classes {
		set |= 1 << series.ClassOf(c)
	}
	return set
}

func (s classSet) has(c series.Class) bool { return s>>(c%classCodes)&1 != 0 }

// nonOpioids are the other classes that treat pain, which excludes
// benzodiazepines and antagonists.
var (
	nonOpioids = setOf(drug.Gabapentinoid, drug.NSAID, drug.Antidepressant, drug.MuscleRelaxant, drug.Anticonvulsant, drug.Topical, drug.OtherAnalgesic)
	opioids    = setOf(drug.Opioid)
	allClasses = setOf(drug.Stated()...)
	// mayBeOpioids are opioids and unclassified medicines.
	mayBeOpioids = setOf(drug.Opioid, drug.Unclassified)
)

var mixes = []string{"opioid_only", "non_opioid_only", "both", "none", "undetermined"}

// addTreatment counts the classes taken. An unclassified medicine may belong
// to any other class, so only patients who certainly have both kinds are in a
// group of the mix.
func (t *PopulationTally) addTreatment(d *drugs) {
	for rest := d.taken; rest != 0; rest &= rest - 1 {
		t.treated[bits.TrailingZeros32(uint32(rest))%classCodes]++
	}
	if d.open {
		for rest := allClasses &^ d.taken; rest != 0; rest &= rest - 1 {
			t.unsure[bits.TrailingZeros32(uint32(rest))%classCodes]++
		}
	}
	switch opioid, other := d.taken&opioids != 0, d.taken&nonOpioids != 0; {
	case opioid && other:
		t.exclusive[2]++
	case d.open || d.maybe:
		t.exclusive[4]++
		if opioid {
			t.unsureExposed++
		}
	case opioid:
		t.exclusive[0]++
	case other:
		t.exclusive[1]++
	default:
		t.exclusive[3]++
	}
}

// Close sorts the counts, so that merging does not have to. A tally must be
// closed before it is merged.
func (t *PopulationTally) Close() {
	t.own, t.scores, t.drugs, t.aligned.usage = Gist{}, scored{}, drugs{}, usage{} // it may be kept for long
	t.opioid.close()
}

// Merge adds the counts of another tally with the same parameters, which must
// be closed.
func (t *PopulationTally) Merge(o *PopulationTally) {
	t.patients += o.patients
	t.active += o.active
	t.byAverage += o.byAverage
	t.byCurrent += o.byCurrent
	addAll(t.severity[:], o.severity[:])
	addAll(t.last[:], o.last[:])
	addAll(t.treated[:], o.treated[:])
	addAll(t.exclusive[:], o.exclusive[:])
	addAll(t.unsure[:], o.unsure[:])
	t.unsureExposed += o.unsureExposed
	t.undetermined += o.undetermined
	t.assumed += o.assumed
	t.opioid.merge(&o.opioid)
	t.aligned.merge(&o.aligned)
	t.everybody.merge(&o.everybody)
	t.present.merge(&o.present)
	for i := range t.measures {
		t.measures[i].merge(&o.measures[i])
	}
	for i := range t.more {
		t.more[i].merge(&o.more[i])
	}
	t.others.merge(&o.others)
}

func (r *rates) merge(o *rates) {
	r.n.merge(&o.n)
	r.yes.merge(&o.yes)
	r.open.merge(&o.open)
}

func addAll(to, from []int) {
	for i := range to {
		to[i] += from[i]
	}
}
