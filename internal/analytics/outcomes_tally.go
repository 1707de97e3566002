package analytics

import (
	"math/bits"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// OutcomesTally counts outcomes, patient after patient. It is for one
// goroutine at a time.
type OutcomesTally struct {
	params       *Params
	filter       Filter
	window       window
	from, before int64
	calendar     calendar
	track        track

	patients, byAverage, byCurrent int
	zeroBaseline                   int // of all with an index date
	notDue, missing                int
	missingAboveZero               int // missing, with a baseline above 0
	baseline                       sum
	course                         course
	followed                       comparison
	worsened, improved2, low       int
	percent                        sum
	instruments                    [instrumentCodes]instrumentTally
	impressions, impressed         int
	procedures                     [procedureCodes]treatmentTally
	classes                        [classCodes]treatmentTally
}

// How many numbers there are for words, with 0 for none.
const (
	instrumentCodes = 32
	procedureCodes  = 32
	classCodes      = 16
)

// NewOutcomesTally begins a tally.
func NewOutcomesTally(p *Params) *OutcomesTally {
	t := &OutcomesTally{params: p, filter: p.Filter(), window: p.window(), from: startOf(p.Start), before: startOf(p.AsOf + 1), calendar: newCalendar(p)}
	t.course.begin(len(t.calendar.buckets), p.Period())
	return t
}

// Add counts a patient, if the filter asks for one like that.
func (t *OutcomesTally) Add(p *Patient) {
	if !t.filter.passes(p) {
		return
	}
	t.patients++
	known := t.track.follow(p.Series.Scores, t.from, t.before)
	if known {
		t.addPain()
	}
	t.addInstruments(p.Series.Assessments)
	t.addProcedures(p.Series.Procedures)
	t.addClasses(p.Series.Medications)
}

// addPain counts what became of the primary outcome.
func (t *OutcomesTally) addPain() {
	if t.track.aspect == series.Average {
		t.byAverage++
	} else {
		t.byCurrent++
	}
	points, diary := t.track.points[t.track.first:], &t.track.diary
	index := dayOf(points[0].at)
	base, _ := diary.baseline(index)
	t.baseline.add(base)
	if base == 0 {
		t.zeroBaseline++
	}
	t.course.add(points, &t.calendar)
	t.course.addResponse(points, index, base)
	if !t.window.due(index, t.params.AsOf) {
		t.notDue++
		return
	}
	score, ok := diary.followUp(t.window, index)
	if !ok {
		t.missing++
		if base > 0 {
			t.missingAboveZero++
		}
		return
	}
	t.addFollowUp(base, score)
}

func (t *OutcomesTally) addFollowUp(base, score float64) {
	t.followed.add(base, score)
	if base < lowBaseline {
		t.low++
	}
	if base-score >= 2-tolerance {
		t.improved2++
	}
	if base > 0 {
		percent := 100 * (score - base) / base
		t.percent.add(percent)
		if percent >= 30-tolerance {
			t.worsened++
		}
	}
}

// lowBaseline is below where percentages mislead.
const lowBaseline = 4

// comparison is patients before and after, and how many responded.
type comparison struct {
	paired
	zero     int // whose pain before was 0: there is no percentage
	r30, r50 int
}

func (c *comparison) add(before, after float64) {
	c.paired.add(before, after)
	if before == 0 {
		c.zero++
		return
	}
	switch fell := fall(before, after); {
	case fell >= 50-tolerance:
		c.r50++
		fallthrough
	case fell >= 30-tolerance:
		c.r30++
	}
}

func (c *comparison) merge(o *comparison) {
	c.paired.merge(&o.paired)
	c.zero += o.zero
	c.r30 += o.r30
	c.r50 += o.r50
}

// n is the number of patients compared.
func (c *comparison) n() int { return c.change.n }

// addProcedures counts, for each type, a patient's first one in the period.
func (t *OutcomesTally) addProcedures(procedures []series.Procedure) {
	var seen, recorded uint32
	for i := range procedures {
		p := &procedures[i]
		if p.At < t.from || p.At >= t.before {
			continue
		}
		bit := uint32(1) << (p.Type % procedureCodes)
		to := &t.procedures[p.Type%procedureCodes]
		if seen&bit == 0 {
			seen |= bit
			t.treat(to, dayOf(p.At))
		}
		if recorded&bit == 0 && p.Pre.Known && p.Post.Known {
			recorded |= bit
			to.recorded.add(p.Pre.Number, p.Post.Number)
		}
	}
}

// addClasses counts the classes of medicines that a patient began to take in
// the period.
func (t *OutcomesTally) addClasses(medications []series.Medication) {
	var first [classCodes]drug.Day
	var began uint32
	for i := range medications {
		m := &medications[i]
		if m.First < t.params.Start || m.First > t.params.AsOf {
			continue
		}
		class := m.Class % classCodes
		if bit := uint32(1) << class; began&bit == 0 || m.First < first[class] {
			began |= bit
			first[class] = m.First
		}
	}
	if began == 0 {
		return
	}
	for i := range medications {
		m := &medications[i]
		if class := m.Class % classCodes; m.First < first[class] && began&(1<<class) != 0 && m.Possible(drug.Always.Last).Last >= first[class]-washout {
			began &^= 1 << class // it is no beginning
		}
	}
	for ; began != 0; began &= began - 1 {
		class := bits.TrailingZeros32(began) % classCodes
		t.treat(&t.classes[class], first[class])
	}
}

// washout is for how many days before a class must not have been taken for
// the treatment to begin.
const washout = 90

// treatmentTally counts patients before and after a treatment.
type treatmentTally struct {
	patients, notDue, noBaseline, missing int
	comparison
	recorded paired
}

// treat counts a patient whose treatment began on a day.
func (t *OutcomesTally) treat(to *treatmentTally, day drug.Day) {
	to.patients++
	if !t.window.due(day, t.params.AsOf) {
		to.notDue++
		return
	}
	before, ok := t.track.diary.baseline(day)
	if !ok {
		to.noBaseline++
		return
	}
	after, ok := t.track.diary.followUp(t.window, day)
	if !ok {
		to.missing++
		return
	}
	to.add(before, after)
}

func (t *treatmentTally) merge(o *treatmentTally) {
	t.patients += o.patients
	t.notDue += o.notDue
	t.noBaseline += o.noBaseline
	t.missing += o.missing
	t.comparison.merge(&o.comparison)
	t.recorded.merge(&o.recorded)
}

// Merge adds what another tally of the same parameters counted.
func (t *OutcomesTally) Merge(o *OutcomesTally) {
	for _, c := range []struct{ to, from *int }{
		{&t.patients, &o.patients}, {&t.byAverage, &o.byAverage}, {&t.byCurrent, &o.byCurrent}, {&t.zeroBaseline, &o.zeroBaseline},
		{&t.notDue, &o.notDue}, {&t.missing, &o.missing}, {&t.missingAboveZero, &o.missingAboveZero},
		{&t.worsened, &o.worsened}, {&t.improved2, &o.improved2}, {&t.low, &o.low}, {&t.impressions, &o.impressions}, {&t.impressed, &o.impressed},
	} {
		*c.to += *c.from
	}
	t.baseline.merge(&o.baseline)
	t.course.merge(&o.course)
	t.followed.merge(&o.followed)
	t.percent.merge(&o.percent)
	for i := range t.instruments {
		t.instruments[i].merge(&o.instruments[i])
	}
	for i := range t.procedures {
		t.procedures[i].merge(&o.procedures[i])
	}
	for i := range t.classes {
		t.classes[i].merge(&o.classes[i])
	}
}
