package analytics

import (
	"sync"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// OutcomesTally counts outcomes, patient by patient. It is not safe for
// concurrent use.
type OutcomesTally struct {
	params   *Params
	filter   Filter
	window   window
	windowAt int
	period   drug.Span
	calendar calendar

	// Reused for each patient.
	stretch   stretch
	own       Gist // for patients without one
	elsewhere skimmer

	patients, byAverage, byCurrent int
	zeroBaseline                   int // of all patients with an index date
	notDue, missing                int
	missingAboveZero               int // missing, with a baseline above 0
	baseline                       sum
	course                         course
	followed                       comparison
	worsened, improved2, low       int
	percent                        sum
	instruments                    [instrumentCodes]instrumentTally
	impressions, impressed         int
	treatments                     [treatments]treatmentTally
	recorded                       [procedureCodes]paired
	undetermined                   int             // may match the filter
	unsure                         int             // may or may not have begun a class
	places                         [placeCodes]int // location of the pain

	// The case mix of those who match the filters, and of the others; nil if
	// not requested.
	mix, others *mixTally
	bornBy      [ageBands - 1]drug.Day

	printed sync.Once
	figures *Outcomes // set by printed
}

// The numbers of codes, including 0 for none.
const (
	instrumentCodes = 32
	procedureCodes  = 32
	classCodes      = 16
)

// NewOutcomesTally returns an empty tally.
func NewOutcomesTally(p *Params) *OutcomesTally {
	t := &OutcomesTally{params: p, filter: p.Filter(), period: p.Period(), calendar: newCalendar(p)}
	t.windowAt = windowAt(p.FollowUp)
	t.window = windows[t.windowAt]
	t.course.begin(len(t.calendar.buckets), t.period)
	if p.Adjust != nil {
		t.mix, t.others, t.bornBy = newMixTally(), newMixTally(), bandsBy(p.AsOf)
	}
	return t
}

// Add counts a patient, if the filter matches.
func (t *OutcomesTally) Add(p *Patient) {
	gist := p.gist(&t.own)
	if passes, maybe := t.filter.passes(p, gist); !passes {
		if maybe {
			t.undetermined++
		}
		t.addOther(p, gist)
		return
	}
	t.patients++
	if anyTaken(unclassified(gist.Medications), drug.Span{First: t.period.First - washout, Last: t.period.Last}) {
		t.unsure++
	}
	onsets := gist.Onsets
	kind, known := t.stretch.follow(gist, t.period)
	if known {
		t.addPain(p, gist, kind)
		if t.stretch.Track != &gist.Track {
			onsets = t.elsewhere.compared(gist.Others, kind, onsets)
		}
	}
	t.addOnsets(onsets, known)
	t.addRecorded(gist.Interventions)
	t.addInstruments(gist.Answers)
}

// addPain counts the primary outcome.
func (t *OutcomesTally) addPain(p *Patient, gist *Gist, kind series.Kind) {
	t.places[placeOf(kind)]++
	if kind.Aspect == series.Average {
		t.byAverage++
	} else {
		t.byCurrent++
	}
	s := &t.stretch
	index := s.index
	base, next := s.start()
	t.baseline.add(base)
	if base == 0 {
		t.zeroBaseline++
	}
	points := s.Points[:s.end]
	t.course.add(s.Track, s.first, s.end, &t.calendar)
	t.course.addResponse(s.Track, index, base, next, s.end)
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
	t.caseMix(t.mix, p, gist, index, base, scoreOf[points[nearest].tenths()])
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

// lowBaseline is the baseline below which percentages mislead.
const lowBaseline = 4

// Close ends adding.
func (t *OutcomesTally) Close() {
	t.stretch, t.own, t.elsewhere = stretch{}, Gist{}, skimmer{} // it may be kept for long
}

// Merge adds the counts of another tally with the same parameters.
func (t *OutcomesTally) Merge(o *OutcomesTally) {
	for _, c := range []struct{ to, from *int }{
		{&t.patients, &o.patients}, {&t.byAverage, &o.byAverage}, {&t.byCurrent, &o.byCurrent}, {&t.zeroBaseline, &o.zeroBaseline},
		{&t.notDue, &o.notDue}, {&t.missing, &o.missing}, {&t.missingAboveZero, &o.missingAboveZero},
		{&t.worsened, &o.worsened}, {&t.improved2, &o.improved2}, {&t.low, &o.low}, {&t.impressions, &o.impressions}, {&t.impressed, &o.impressed},
		{&t.undetermined, &o.undetermined}, {&t.unsure, &o.unsure},
	} {
		*c.to += *c.from
	}
	addAll(t.places[:], o.places[:])
	t.baseline.merge(&o.baseline)
	t.course.merge(&o.course)
	t.followed.merge(&o.followed)
	t.percent.merge(&o.percent)
	for i := range t.instruments {
		t.instruments[i].merge(&o.instruments[i])
	}
	for i := range t.treatments {
		t.treatments[i].merge(&o.treatments[i])
	}
	for i := range t.recorded {
		t.recorded[i].merge(&o.recorded[i])
	}
	if t.mix != nil {
		t.mix.merge(o.mix)
		t.others.merge(o.others)
	}
}
