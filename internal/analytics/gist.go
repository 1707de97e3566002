package analytics

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// Gist is what measures want of a patient's series and no question changes:
// which scores are the primary outcome, their sums, and how pain was before and
// after each treatment. It is worked out once, when a patient is taken up; every
// question about everybody would work it out again.
type Gist struct {
	Primary Primary
	// Track has the scores of the primary outcome, unless the period decides
	// which they are, and Others all the rest.
	Track  Track
	Others []series.Score
	Onsets []Onset
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
	before    int64             // pain, in fixed point; less than 0 when there is none
	after     [followUps]uint8  // pain in tenths at each follow-up, or noScore
	answer    [followUps]answer // how far it fell
	day       drug.Day          // the first
	since     uint16            // days since the treatment was begun last, at most farBack
	treatment treatment         // which one
}

// treatment is a type of procedure or, from procedureCodes on, a class of
// medicines.
type treatment uint8

// noScore is no score, in tenths.
const noScore = math.MaxUint8

// farBack is more days than a period may have.
const farBack = math.MaxUint16

// answer is whether pain fell by 30 % or 50 %.
type answer uint8

const (
	noAnswer answer = iota
	by30
	by50
)

func answerOf(before, after float64) answer {
	switch fell := fall(before, after); {
	case before == 0:
		return noAnswer
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
	onset, point := len(g.Onsets), len(g.Track.Points)
	g.Onsets = r.begun(whole, g.Onsets)
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
	points := g.Track.Points[point:]
	g.Track.Lines = linesOf(points, g.Track.Lines)
	r.diary.write(points)
	r.diary.compare(g.Onsets[onset:])
}

// settled reports whether the kind does not depend on the period.
func (p Primary) settled() bool { return p.known == alone || p.known == leading }

// skimmer works out gists.
type skimmer struct {
	diary   diary
	groups  groupList
	courses []begunCourse
	onsets  []Onset
}

var skimmers = sync.Pool{New: func() any { return new(skimmer) }}

// begunCourse is a medicine from its first day to the last that it may cover.
type begunCourse struct {
	order int64 // by class, then by the first day
	class series.Class
	drug.Span
}

// begun appends what a patient began: of procedures each, once a day, and of a
// class of medicines each day on which one begins after a washout.
func (r *skimmer) begun(s *series.Series, onsets []Onset) []Onset {
	var done [procedureCodes]drug.Day
	for i := range done {
		done[i] = math.MinInt32
	}
	for i := range s.Procedures {
		p := &s.Procedures[i]
		day, code := dayOf(p.At), p.Type%procedureCodes
		if day != done[code] {
			onsets = append(onsets, newOnset(treatment(code), day, done[code]))
			done[code] = day
		}
	}
	r.courses = r.courses[:0]
	for i := range s.Medications {
		m := &s.Medications[i]
		class := m.Class % classCodes
		r.courses = append(r.courses, begunCourse{int64(class)<<32 + int64(m.First), class, drug.Span{First: m.First, Last: m.Possible(drug.Always.Last).Last}})
	}
	slices.SortFunc(r.courses, func(a, b begunCourse) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.First, b.First))
	})
	for i := 0; i < len(r.courses); {
		class := r.courses[i].class
		before, covered := drug.Day(math.MinInt32), drug.Day(math.MinInt32)
		for i < len(r.courses) && r.courses[i].class == class {
			day, last := r.courses[i].First, r.courses[i].Last
			for i++; i < len(r.courses) && r.courses[i].class == class && r.courses[i].First == day; i++ {
				last = max(last, r.courses[i].Last)
			}
			if covered < day-washout {
				onsets = append(onsets, newOnset(procedureCodes+treatment(class), day, before))
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
		before, ok := d.baseline(o.day)
		if !ok {
			o.before = -1
			continue
		}
		o.before = fixed(before)
		for k, w := range windows {
			o.after[k], o.answer[k] = noScore, noAnswer
			if after, ok := d.followUp(w, o.day); ok {
				o.after[k], o.answer[k] = after, answerOf(before, scoreOf[after])
			}
		}
	}
}

// compared gives onsets with the pain before and after by other scores. They are
// good until it is called again.
func (r *skimmer) compared(points []Point, onsets []Onset) []Onset {
	r.onsets = append(r.onsets[:0], onsets...)
	if len(r.onsets) > 0 {
		r.diary.write(points)
		r.diary.compare(r.onsets)
	}
	return r.onsets
}

// primary finds out what is known of the primary outcome.
func (r *skimmer) primary(scores []series.Score) Primary {
	r.groups.gather(scores)
	if len(r.groups) == 0 {
		return Primary{}
	}
	best := r.groups.best()
	p := Primary{best.Kind, alone}
	for i := range r.groups {
		switch g := &r.groups[i]; {
		case g.Kind == best.Kind:
		case g.Aspect == best.Aspect:
			return Primary{known: mixed}
		default: // current pain, while there is average
			p.known = leading
		}
	}
	return p
}
