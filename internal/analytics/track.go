package analytics

import (
	"cmp"
	"math"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// point is a score on 0 to 10.
type point struct {
	at    int64
	score float64
}

// track is one patient's scores of the primary outcome. It is used again for
// the next patient.
type track struct {
	points []point // from the days on that a baseline may reach back to
	first  int     // of those in the period
	diary  diary   // of the same
	aspect series.Aspect
	groups []group
}

// group is scores in the period that may be compared with each other.
type group struct {
	series.Kind
	count int
	last  int64
}

// better reports whether the group is rather the primary outcome than another:
// the rule of a patient's summary. Average is the higher number.
func (g *group) better(than *group) bool {
	return cmp.Or(cmp.Compare(g.Aspect, than.Aspect), cmp.Compare(g.count, than.count), cmp.Compare(g.last, than.last),
		cmp.Compare(than.Scale, g.Scale), cmp.Compare(than.Site, g.Site)) > 0
}

// normalized has for each scale the scores on 0 to 10; NaN where there are
// none.
var normalized = func() (table [8][256]float64) {
	for scale := range table {
		for value := range table[scale] {
			s := series.Score{Kind: series.Kind{Scale: series.Scale(scale)}, Value: uint8(value)}
			if f, ok := s.Normalized(); ok {
				table[scale][value] = f
			} else {
				table[scale][value] = math.NaN()
			}
		}
	}
	return table
}()

// primaryKind reports whether scores of a kind can be the primary outcome.
func primaryKind(k series.Kind) bool {
	return (k.Aspect == series.Average || k.Aspect == series.Current) && int(k.Scale) < len(normalized) && normalized[k.Scale][0] == 0
}

// A baseline is made of scores of so many days, or, when there are none, lies
// within reach.
const baselineDays, reach = 14, 30

// follow takes up a patient's scores; not ok when none in the period can be
// the primary outcome.
func (t *track) follow(scores []series.Score, from, before int64) (ok bool) {
	t.points = t.points[:0]
	t.diary.forget()
	scores = scores[:since(scores, before)]
	scores = scores[since(scores, from-reach*millisecondsPerDay):]
	begin := 0
	for begin < len(scores) && scores[begin].At < from {
		begin++
	}
	kind, ok := t.choose(scores[begin:])
	if !ok {
		return false
	}
	t.aspect = kind.Aspect
	t.points = t.diary.write(scores, kind, t.points)
	for t.first = 0; t.points[t.first].at < from; t.first++ {
	}
	return true
}

// choose finds the kind of scores that is the primary outcome.
func (t *track) choose(scores []series.Score) (_ series.Kind, ok bool) {
	t.groups = t.groups[:0]
	for i := 0; i < len(scores); { // a run of one kind at a time
		first, kind := i, scores[i].Kind
		for i++; i < len(scores) && scores[i].Kind == kind; i++ {
		}
		if primaryKind(kind) {
			g := t.group(kind)
			g.count += i - first
			g.last = scores[i-1].At
		}
	}
	if len(t.groups) == 0 {
		return series.Kind{}, false
	}
	best := &t.groups[0]
	for i := range t.groups[1:] {
		if g := &t.groups[i+1]; g.better(best) {
			best = g
		}
	}
	return best.Kind, true
}

func (t *track) group(kind series.Kind) *group {
	for i := range t.groups {
		if t.groups[i].Kind == kind {
			return &t.groups[i]
		}
	}
	t.groups = append(t.groups, group{Kind: kind})
	return &t.groups[len(t.groups)-1]
}

// since is the index of the first score at a time or later; most periods begin
// before all scores of a patient, or end after them. The search has no branch
// that depends on the times, which nobody could foretell.
func since(scores []series.Score, ms int64) int {
	if len(scores) == 0 || scores[0].At >= ms {
		return 0
	}
	if scores[len(scores)-1].At < ms {
		return len(scores)
	}
	low, n := 0, len(scores)
	for n > 1 {
		half := n / 2
		if scores[low+half-1].At < ms {
			low += half
		}
		n -= half
	}
	if scores[low].At < ms {
		low++
	}
	return low
}

// baseline is the mean of the scores in the 14 days up to and including a day,
// else the nearest in the 30 days before it.
func baseline(points []point, day drug.Day) (_ float64, ok bool) {
	from, before := startOf(day-baselineDays+1), startOf(day+1)
	end := firstFrom(points, before)
	var sum float64
	n := 0
	for i := end - 1; i >= 0 && points[i].at >= from; i-- {
		sum += points[i].score
		n++
	}
	if n > 0 {
		return sum / float64(n), true
	}
	if end > 0 && points[end-1].at >= startOf(day-reach) {
		return points[end-1].score, true
	}
	return 0, false
}

// firstFrom is the index of the first point at a time or later; see since.
func firstFrom(points []point, ms int64) int {
	if len(points) == 0 {
		return 0
	}
	low, n := 0, len(points)
	for n > 1 {
		half := n / 2
		if points[low+half-1].at < ms {
			low += half
		}
		n -= half
	}
	if points[low].at < ms {
		low++
	}
	return low
}

// window is the days after an index date in which a follow-up counts.
type window struct{ target, tolerance drug.Day }

func (p *Params) window() window { return window{drug.Day(p.FollowUp), tolerances[p.FollowUp]} }

// due reports whether the window of an index date has ended.
func (w window) due(index, asOf drug.Day) bool { return index+w.target+w.tolerance <= asOf }

// follow is the score nearest to the target day; of two as near the earlier.
func (w window) follow(points []point, index drug.Day) (_ float64, ok bool) {
	target := index + w.target
	after := firstFrom(points, startOf(target))
	nearest := w.tolerance + 1
	var score float64
	if after < len(points) {
		if off := dayOf(points[after].at) - target; off <= w.tolerance {
			nearest, score = off, points[after].score
		}
	}
	if after > 0 {
		day := dayOf(points[after-1].at)
		if off := target - day; off <= min(nearest, w.tolerance) {
			first := after - 1
			for start := startOf(day); first > 0 && points[first-1].at >= start; {
				first--
			}
			nearest, score = off, points[first].score
		}
	}
	return score, nearest <= w.tolerance
}
