package analytics

import (
	"cmp"
	"math"
	"slices"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// track is one patient's scores of the primary outcome. It is used again for
// the next patient.
type track struct {
	at     []int64 // from the days on that a baseline may reach back to
	tenths []uint8 // the scores
	first  int     // of those in the period
	groups groupList
}

// group is scores that may be compared with each other.
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

// follow takes up a patient's scores of the period, and those that its first
// baseline may reach back to. It gives the kind that is the primary outcome; not
// ok when none can be.
func (t *track) follow(scores []series.Score, primary Primary, from, before int64) (_ series.Kind, ok bool) {
	if primary.known == never {
		return series.Kind{}, false
	}
	scores = scores[:since(scores, before)]
	scores = scores[since(scores, from-reach*millisecondsPerDay):]
	if primary.known != mixed {
		if t.take(scores, primary.kind, from) {
			return primary.kind, true
		}
		if primary.known == alone {
			return series.Kind{}, false
		}
	}
	t.groups.gather(scores[since(scores, from):])
	if len(t.groups) == 0 {
		return series.Kind{}, false
	}
	kind := t.groups.best().Kind
	return kind, t.take(scores, kind, from)
}

// take copies the scores of a kind; not ok when none is in the period.
func (t *track) take(scores []series.Score, kind series.Kind, from int64) (ok bool) {
	if len(t.at) < len(scores) {
		t.at, t.tenths = make([]int64, 2*len(scores)), make([]uint8, 2*len(scores))
	}
	values, at, tenths := &tenths[kind.Scale], t.at[:cap(t.at)], t.tenths[:cap(t.at)]
	n := 0
	for i := range scores {
		s := &scores[i]
		at[n], tenths[n] = s.At, values[s.Value]
		if s.Kind == kind {
			n++
		}
	}
	t.at, t.tenths = at[:n], tenths[:n]
	for t.first = 0; t.first < n && at[t.first] < from; t.first++ {
	}
	return t.first < n
}

// groupList is the kinds of some scores that can be the primary outcome.
type groupList []group

func (l *groupList) gather(scores []series.Score) {
	*l = (*l)[:0]
	for i := 0; i < len(scores); { // a run of one kind at a time
		first, kind := i, scores[i].Kind
		for i++; i < len(scores) && scores[i].Kind == kind; i++ {
		}
		if primaryKind(kind) {
			g := l.group(kind)
			g.count += i - first
			g.last = scores[i-1].At
		}
	}
}

// best is the group that is the primary outcome.
func (l groupList) best() *group {
	best := &l[0]
	for i := range l[1:] {
		if g := &l[i+1]; g.better(best) {
			best = g
		}
	}
	return best
}

func (l *groupList) group(kind series.Kind) *group {
	for i := range *l {
		if (*l)[i].Kind == kind {
			return &(*l)[i]
		}
	}
	*l = append(*l, group{Kind: kind})
	return &(*l)[len(*l)-1]
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

// start is the index date, the mean of the scores in the 14 days up to and
// including it, and where those of the days after it begin.
func (t *track) start() (index drug.Day, base float64, next int) {
	index = dayOf(t.at[t.first])
	from, before := startOf(index-baselineDays+1), startOf(index+1)
	sum, begin := 0, t.first
	for begin > 0 && t.at[begin-1] >= from {
		begin--
		sum += int(t.tenths[begin])
	}
	for next = t.first; next < len(t.at) && t.at[next] < before; next++ {
		sum += int(t.tenths[next])
	}
	return index, float64(sum) / float64(10*(next-begin)), next
}

// baseline is the mean of the scores in the 14 days up to and including a day,
// on which there is one.
func baseline(at []int64, scores []float64, day drug.Day) float64 {
	end := firstFrom(at, startOf(day+1))
	var sum float64
	begin := end
	for from := startOf(day - baselineDays + 1); begin > 0 && at[begin-1] >= from; {
		begin--
		sum += scores[begin]
	}
	return sum / float64(end-begin)
}

// firstFrom is the index of the first of some times at a time or later; see
// since.
func firstFrom(at []int64, ms int64) int {
	if len(at) == 0 {
		return 0
	}
	low, n := 0, len(at)
	for n > 1 {
		half := n / 2
		if at[low+half-1] < ms {
			low += half
		}
		n -= half
	}
	if at[low] < ms {
		low++
	}
	return low
}

// window is the days after an index date in which a follow-up counts.
type window struct{ target, tolerance drug.Day }

// followUps is how many windows there are.
const followUps = 4

// windows are those that can be asked for.
var windows = [followUps]window{{30, 14}, {90, 30}, {180, 45}, {365, 60}}

// windowAt is the place of the window with a target.
func windowAt(target int) int {
	return slices.IndexFunc(windows[:], func(w window) bool { return int(w.target) == target })
}

// due reports whether the window of an index date has ended.
func (w window) due(index, asOf drug.Day) bool { return index+w.target+w.tolerance <= asOf }

// nearest is where, of some times in order, the one nearest to the target day
// is; of two days as near the earlier, and of a day the first.
func (w window) nearest(at []int64, index drug.Day) (i int, ok bool) {
	target := index + w.target
	after := firstFrom(at, startOf(target))
	off := w.tolerance + 1
	if after < len(at) {
		i, off = after, dayOf(at[after])-target
	}
	if after > 0 {
		day := dayOf(at[after-1])
		if back := target - day; back <= off {
			i, off = after-1, back
			for start := startOf(day); i > 0 && at[i-1] >= start; {
				i--
			}
		}
	}
	return i, off <= w.tolerance
}
