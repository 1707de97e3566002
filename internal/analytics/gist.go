package analytics

import (
	"math"
	"sync"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// Gist is a patient's series in the form used by queries, with everything that
// does not depend on a query: the primary outcome, its sums, and pain before
// and after each treatment. It is computed once, when a patient is loaded,
// instead of for every query.
type Gist struct {
	Primary Primary
	// Track has the scores of the primary outcome, unless they depend on the
	// period, and Others has all the rest.
	Track         Track
	Others        []series.Score
	Answers       []Answer
	Interventions []Intervention
	// Medications are grouped by class, and sorted by first day within each.
	// Sources are those of opioids, followed by those of medicines that may be
	// opioids.
	Medications []Medication
	Sources     []Source
	// Shelf locates some classes in Medications; shelf is its memory unless it
	// is stored elsewhere.
	Shelf *Shelf
	shelf Shelf
	// Doses are the daily MME of opioids, and Covered the days with an opioid
	// of known or unknown dose, by the timeline. Overlapped are the doses
	// without supply carried forward; it is empty if they are the same.
	Doses, Overlapped []drug.Dose
	Covered           []drug.Span
	Onsets            []Onset
	// Marks are drug screens and answers about the impact of pain, sorted by
	// day.
	Marks []Mark
}

// gist returns the patient's gist, and computes it if it is missing.
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

// Primary is what is known, regardless of the period, about the kind of scores
// that is a patient's primary outcome.
type Primary struct {
	kind  series.Kind
	known known
}

type known uint8

const (
	never   known = iota // no score can be the primary outcome
	alone                // it is this kind, if that has a score in the period
	leading              // the same; if it has none, another kind may be
	mixed                // depends on the period
)

// Onset is a day on which a treatment began. The patient may have begun it
// before.
type Onset struct {
	before    int64            // pain in fixed point; negative if there is none
	after     [followUps]uint8 // pain in tenths at each follow-up, or noScore
	day       drug.Day         // first day
	clock     int32            // millisecond of the day; 0 if unknown
	since     uint16           // days since the previous onset, at most farBack
	answers   answers          // reduction of pain at each follow-up
	treatment treatment        // the treatment
}

// treatment is a procedure type or, from procedureCodes on, a medication
// class.
type treatment uint8

// noScore stands for a missing score, in tenths.
const noScore = math.MaxUint8

// farBack is more days than a period can have.
const farBack = math.MaxUint16

// treatments is an upper limit of their number.
const treatments = 64

// answer is whether pain fell by 30 % or 50 %.
type answer uint8

const (
	noAnswer answer = iota
	by30
	by50
	fromZero // no percentage is possible
	answerKinds
)

// answers packs the answers at all follow-ups.
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

// GistOf sets the primary outcome and appends to the lists of a gist, which
// may already hold those of other patients.
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

// settled reports whether the kind is independent of the period.
func (p Primary) settled() bool { return p.known == alone || p.known == leading }

// skimmer computes gists.
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

// begun appends the onsets of a patient: each procedure, once a day, and each
// start of a medication class after a washout.
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

// washout is the number of days without a class before its start counts as an
// onset.
const washout = 90

func newOnset(of treatment, day, before drug.Day) Onset {
	return Onset{before: -1, treatment: of, day: day, since: uint16(min(farBack, int64(day)-int64(before)))}
}

// compare sets the pain before and after each onset.
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

// compared returns onsets with the pain before and after according to scores
// of another kind, of which there must be some. The result is valid until the
// next call.
func (r *skimmer) compared(scores []series.Score, kind series.Kind, onsets []Onset) []Onset {
	r.onsets = append(r.onsets[:0], onsets...)
	if len(r.onsets) > 0 {
		r.diary.write(scores, kind)
		r.diary.compare(r.onsets)
	}
	return r.onsets
}

// primary determines what is known about the primary outcome.
func (r *skimmer) primary(scores []series.Score) Primary {
	if r.kinds.gather(scores); len(r.kinds) == 0 {
		return Primary{}
	}
	p := Primary{r.kinds[0], alone}
	for _, kind := range r.kinds[1:] {
		switch {
		case kind.Aspect == p.kind.Aspect:
			p.known = mixed
		case kind.Aspect > p.kind.Aspect: // average takes precedence over current pain
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
