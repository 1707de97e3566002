package analytics

import (
	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// OutcomesTally counts outcomes, patient after patient. It is for one
// goroutine at a time.
type OutcomesTally struct {
	params   *Params
	filter   Filter
	window   window
	windowAt int
	period   drug.Span
	calendar calendar

	// Used again for each patient.
	stretch   stretch
	own       Gist // of one who comes without
	elsewhere skimmer

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
	t := &OutcomesTally{params: p, filter: p.Filter(), period: p.Period(), calendar: newCalendar(p)}
	t.windowAt = windowAt(p.FollowUp)
	t.window = windows[t.windowAt]
	t.course.begin(len(t.calendar.buckets), t.period)
	return t
}

// Add counts a patient, if the filter asks for one like that.
func (t *OutcomesTally) Add(p *Patient) {
	gist := p.gist(&t.own)
	if !t.filter.passes(p, gist) {
		return
	}
	t.patients++
	onsets := gist.Onsets
	kind, known := t.stretch.follow(gist, t.period)
	if known {
		t.addPain(kind.Aspect)
		if t.stretch.Track != &gist.Track {
			onsets = t.elsewhere.compared(t.stretch.Points, onsets)
		}
	}
	t.addOnsets(onsets, known)
	t.addRecorded(gist.Interventions)
	t.addInstruments(gist.Answers)
}

// addPain counts what became of the primary outcome.
func (t *OutcomesTally) addPain(aspect series.Aspect) {
	if aspect == series.Average {
		t.byAverage++
	} else {
		t.byCurrent++
	}
	s := &t.stretch
	index, base, next := s.start()
	t.baseline.add(base)
	if base == 0 {
		t.zeroBaseline++
	}
	points := s.Points[:s.end]
	t.course.add(s.Track, s.first, s.end, &t.calendar)
	t.course.addResponse(points, index, base, next)
	if !t.window.due(index, t.params.AsOf) {
		t.notDue++
		return
	}
	nearest, ok := t.window.nearest(points, index)
	if !ok {
		t.missing++
		if base > 0 {
			t.missingAboveZero++
		}
		return
	}
	t.addFollowUp(base, scoreOf[points[nearest].tenths()])
}

func (t *OutcomesTally) addFollowUp(base, score float64) {
	t.followed.add(fixed(base), fixed(score), answerOf(base, score))
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

func (c *comparison) add(before, after int64, fell answer) {
	c.paired.addFixed(before, after)
	if before == 0 {
		c.zero++
	}
	c.r30 += int((fell + 1) / by50) // without a branch: nobody could foretell it
	c.r50 += int(fell / by50)
}

func (c *comparison) merge(o *comparison) {
	c.paired.merge(&o.paired)
	c.zero += o.zero
	c.r30 += o.r30
	c.r50 += o.r50
}

// Intervention is a procedure, with the pain that it was recorded with.
type Intervention struct {
	pre, post float64
	day       drug.Day
	of        series.ProcedureType
	known     bool // both
}

func (g *Gist) takeInterventions(list []series.Procedure) {
	for i := range list {
		p := &list[i]
		g.Interventions = append(g.Interventions, Intervention{p.Pre.Number, p.Post.Number, dayOf(p.At), p.Type % procedureCodes, p.Pre.Known && p.Post.Known})
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
			t.procedures[p.of].recorded.add(p.pre, p.post)
		}
	}
}

// addOnsets counts, for each treatment, the first onset in the period, unless a
// class of medicines went on then.
func (t *OutcomesTally) addOnsets(onsets []Onset, scored bool) {
	start, asOf := t.params.Start, t.params.AsOf
	for i := range onsets {
		o := &onsets[i]
		if o.day < start || o.day > asOf || o.day-drug.Day(o.since) >= start {
			continue
		}
		if o.treatment < procedureCodes {
			t.treat(&t.procedures[o.treatment], o, scored)
		} else {
			t.treat(&t.classes[(o.treatment-procedureCodes)%classCodes], o, scored)
		}
	}
}

// treatmentTally counts patients before and after a treatment.
type treatmentTally struct {
	patients, notDue, noBaseline, missing int
	comparison
	recorded paired
}

// treat counts a patient whose treatment began.
func (t *OutcomesTally) treat(to *treatmentTally, o *Onset, scored bool) {
	to.patients++
	switch after := o.after[t.windowAt]; {
	case !t.window.due(o.day, t.params.AsOf):
		to.notDue++
	case o.before < 0 || !scored:
		to.noBaseline++
	case after == noScore:
		to.missing++
	default:
		to.add(o.before, fixedOf[after], o.answer[t.windowAt])
	}
}

func (t *treatmentTally) merge(o *treatmentTally) {
	t.patients += o.patients
	t.notDue += o.notDue
	t.noBaseline += o.noBaseline
	t.missing += o.missing
	t.comparison.merge(&o.comparison)
	t.recorded.merge(&o.recorded)
}

// Close ends adding; there is nothing to put in order.
func (t *OutcomesTally) Close() {}

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
