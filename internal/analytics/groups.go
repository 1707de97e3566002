package analytics

import (
	"cmp"
	"math"

	"anodyne/internal/pain/series"
)

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
