package analytics

import (
	"math"
	"sync"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// Gist is a patient's series in the form that questions are answered from, with
// what no question changes: which scores are the primary outcome, their sums, and
// how pain was before and after each treatment. It is made once, when a patient
// is taken up; every question about everybody would work it out again.
type Gist struct {
	Primary Primary
	// Track has the scores of the primary outcome, unless the period decides
	// which they are, and Others all the rest.
	Track         Track
	Others        []series.Score
	Answers       []Answer
	Interventions []Intervention
	// Medications of a class lie together, each in order of their first days.
	// Sources are those of opioids, and then of what may be one.
	Medications []Medication
	Sources     []Source
	// Shelf is where in Medications some classes are; shelf is its room, unless
	// somebody else has it.
	Shelf *Shelf
	shelf Shelf
	// Doses are the opioids' MME by day, and Covered the days with an opioid,
	// known or not, by the timeline. Overlapped are the doses without supply
	// being carried forward; empty when they are the same.
	Doses, Overlapped []drug.Dose
	Covered           []drug.Span
	Onsets            []Onset
	// Marks are drug screens and answers about the impact of pain, by day.
	Marks []Mark
}

// gist is what is known of a patient, or what is found out now.
func (p *Patient) gist(room *Gist) *Gist {
	if p.Gist != nil {
		return p.Gist
	}
	room.reset()
	GistOf(p.Series, room)
	return room
}

// reset empties the gist and keeps its memory.
func (g *Gist) reset() {
	g.Track.Points, g.Track.Lines, g.Others, g.Onsets = g.Track.Points[:0], g.Track.Lines[:0], g.Others[:0], g.Onsets[:0]
	g.Answers, g.Interventions, g.Medications = g.Answers[:0], g.Interventions[:0], g.Medications[:0]
	g.Doses, g.Overlapped, g.Covered = g.Doses[:0], g.Overlapped[:0], g.Covered[:0]
	g.Sources, g.Marks = g.Sources[:0], g.Marks[:0]
}

// Primary is what is known, whatever the period, of the kind of scores that is
// a patient's primary outcome.
type Primary struct {
	kind  series.Kind
	known known
}

type known uint8

const (
	never   known = iota // no score can be the primary outcome
	alone                // it is the kind, if it has a score in the period
	leading              // so it is; if it has none, others may
	mixed                // the period decides
)

// Onset is a day on which a treatment began, for a patient who may have begun
// it before.
type Onset struct {
	before    int64            // pain, in fixed point; less than 0 when there is none
	after     [followUps]uint8 // pain in tenths at each follow-up, or noScore
	day       drug.Day         // the first
	clock     int32            // the millisecond of the day; 0 when that is not known
	since     uint16           // days since the treatment was begun last, at most farBack
	answers   answers          // how far pain fell by each follow-up
	treatment treatment        // which one
}

// treatment is a type of procedure or, from procedureCodes on, a class of
// medicines.
type treatment uint8

// noScore is no score, in tenths.
const noScore = math.MaxUint8

// farBack is more days than a period may have.
const farBack = math.MaxUint16

// treatments is room for all of them.
const treatments = 64

// answer is whether pain fell by 30 % or 50 %.
type answer uint8

const (
	noAnswer answer = iota
	by30
	by50
	fromZero // there is no percentage
	answerKinds
)

// answers are those at each follow-up, so many bits each.
type answers uint8

const answerBits = 2

func (a answers) at(window int) answer {
	return answer(a >> (answerBits * window) & (1<<answerBits - 1))
}

func answerOf(before, after float64) answer {
	switch fell := fall(before, after); {
	case before == 0:
		return fromZero
	case fell >= 50-tolerance:
		return by50
	case fell >= 30-tolerance:
		return by30
	}
	return noAnswer
}

// GistOf sets the primary outcome, and appends to the lists of a gist, which may
// have those of other patients before.
func GistOf(whole *series.Series, g *Gist) {
	r := skimmers.Get().(*skimmer)
	defer skimmers.Put(r)
	g.takeAnswers(whole.Assessments)
	g.takeInterventions(whole.Procedures)
	g.takeMarks(whole)
	medications := r.takeMedications(g, whole.Medications)
	onset, point := len(g.Onsets), len(g.Track.Points)
	g.Onsets = begun(whole.Procedures, medications, g.Onsets)
	g.Primary = r.primary(whole.Scores)
	if !g.Primary.settled() {
		g.Others = append(g.Others, whole.Scores...)
		return
	}
	for i := range whole.Scores {
		if s := &whole.Scores[i]; s.Kind == g.Primary.kind {
			g.Track.Points = append(g.Track.Points, pointOf(s))
		} else {
			g.Others = append(g.Others, *s)
		}
	}
	g.Track.Lines = linesOf(g.Track.Points[point:], g.Track.Lines)
	if len(g.Onsets) > onset {
		r.diary.write(whole.Scores, g.Primary.kind)
		r.diary.compare(g.Onsets[onset:])
	}
}

// settled reports whether the kind does not depend on the period.
func (p Primary) settled() bool { return p.known == alone || p.known == leading }

// skimmer works out gists.
type skimmer struct {
	diary   diary
	kinds   kindList
	onsets  []Onset
	laid    []series.Medication
	planner timeline.Planner
	meter   drug.Meter
	courses []drug.Course
	spans   []drug.Span
}

var skimmers = sync.Pool{New: func() any { return new(skimmer) }}

// begun appends what a patient began: of procedures each, once a day, and of a
// class of medicines each day on which one begins after a washout.
func begun(procedures []series.Procedure, medications []Medication, onsets []Onset) []Onset {
	var done [procedureCodes]drug.Day
	for i := range done {
		done[i] = math.MinInt32
	}
	for i := range procedures {
		p := &procedures[i]
		day, code := dayOf(p.At), p.Type%procedureCodes
		if day != done[code] {
			o := newOnset(treatment(code), day, done[code])
			o.clock = int32(p.At - startOf(day))
			onsets = append(onsets, o)
			done[code] = day
		}
	}
	for i := 0; i < len(medications); {
		class := medications[i].class
		before, covered := drug.Day(math.MinInt32), drug.Day(math.MinInt32)
		for i < len(medications) && medications[i].class == class {
			day, last := medications[i].First, drug.Day(math.MinInt32)
			for ; i < len(medications) && medications[i].class == class && medications[i].First == day; i++ {
				last = max(last, medications[i].Last)
			}
			if last < day { // none of them counts
				continue
			}
			if covered < day-washout {
				onsets = append(onsets, newOnset(procedureCodes+treatment(class%classCodes), day, before))
			}
			before, covered = day, max(covered, last)
		}
	}
	return onsets
}

// washout is for how many days before a class must not have been taken for
// the treatment to begin.
const washout = 90

func newOnset(of treatment, day, before drug.Day) Onset {
	return Onset{before: -1, treatment: of, day: day, since: uint16(min(farBack, int64(day)-int64(before)))}
}

// compare fills in the pain before and after.
func (d *diary) compare(onsets []Onset) {
	for i := range onsets {
		o := &onsets[i]
		before, ok := d.baseline(o.day, o.clock)
		if !ok {
			o.before = -1
			continue
		}
		o.before, o.answers = fixed(before), 0
		for k, w := range windows {
			o.after[k] = noScore
			if after, ok := d.followUp(w, o.day); ok {
				o.after[k] = after
				o.answers |= answers(answerOf(before, scoreOf[after])) << (answerBits * k)
			}
		}
	}
}

// compared gives onsets with the pain before and after by scores of another kind,
// of which there are some. They are good until it is called again.
func (r *skimmer) compared(scores []series.Score, kind series.Kind, onsets []Onset) []Onset {
	r.onsets = append(r.onsets[:0], onsets...)
	if len(r.onsets) > 0 {
		r.diary.write(scores, kind)
		r.diary.compare(r.onsets)
	}
	return r.onsets
}

// primary finds out what is known of the primary outcome.
func (r *skimmer) primary(scores []series.Score) Primary {
	if r.kinds.gather(scores); len(r.kinds) == 0 {
		return Primary{}
	}
	p := Primary{r.kinds[0], alone}
	for _, kind := range r.kinds[1:] {
		switch {
		case kind.Aspect == p.kind.Aspect:
			p.known = mixed
		case kind.Aspect > p.kind.Aspect: // average pain, after current
			p = Primary{kind, leading}
		case p.known == alone:
			p.known = leading
		}
	}
	if p.known == mixed {
		p.kind = series.Kind{}
	}
	return p
}
