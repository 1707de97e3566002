package series

import (
	"cmp"
	"math"
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
)

// BaselineDays is the number of days, up to and including the index date, that
// a baseline covers.
const BaselineDays = 14

const millisecondsPerDay = 24 * 60 * 60 * 1000

// Outcome reports whether scores of this kind can be the primary outcome:
// average or current pain on a scale that can be converted to 0-10.
func (k Kind) Outcome() bool {
	return (k.Aspect == Average || k.Aspect == Current) && int(k.Scale) < len(perPoint) && perPoint[k.Scale] != 0
}

// Chooser selects the kind of score that is a patient's primary outcome. It
// reuses its memory and is not safe for concurrent use.
type Chooser struct{ candidates []candidate }

type candidate struct {
	Kind
	first  int64 // time of the first score in the period
	count  int   // number of scores at baseline
	tenths int   // sum of these scores
}

// Choose returns the primary outcome and the index date. scores are in order,
// and those from index from lie in the period. Average pain takes precedence
// over current pain if it was scored in the period. The index date is the day
// of the first score of that aspect in the period. Among the kinds of that
// aspect scored in the period, Choose takes the one with the most scores at
// baseline, which is the 14 days up to and including the index date. Ties are
// resolved by the worst mean, then by scale, site and side. It is not ok if no
// score of the period can be the primary outcome.
func (c *Chooser) Choose(scores []Score, from int) (kind Kind, index drug.Day, ok bool) {
	if c.gather(scores[from:]); len(c.candidates) == 0 {
		return Kind{}, 0, false
	}
	first := c.candidates[0].first
	for _, o := range c.candidates[1:] {
		first = min(first, o.first)
	}
	index = dayOf(first)
	begin, end := (int64(index)-BaselineDays+1)*millisecondsPerDay, (int64(index)+1)*millisecondsPerDay
	for from > 0 && scores[from-1].At >= begin {
		from--
	}
	for ; from < len(scores) && scores[from].At < end; from++ {
		if s := &scores[from]; s.At >= begin {
			c.count(s)
		}
	}
	return slices.MaxFunc(c.candidates, candidate.compare).Kind, index, true
}

// gather finds the kinds of the preferred aspect and the time of the first
// score of each.
func (c *Chooser) gather(scores []Score) {
	c.candidates = c.candidates[:0]
	for i := range scores {
		s := &scores[i]
		if i > 0 && s.Kind == scores[i-1].Kind || !s.Outcome() {
			continue
		}
		if len(c.candidates) > 0 {
			if s.Aspect < c.candidates[0].Aspect {
				continue
			}
			if s.Aspect > c.candidates[0].Aspect { // average has the higher number
				c.candidates = c.candidates[:0]
			}
		}
		if c.find(s.Kind) == nil {
			c.candidates = append(c.candidates, candidate{Kind: s.Kind, first: s.At})
		}
	}
}

func (c *Chooser) find(kind Kind) *candidate {
	for i := range c.candidates {
		if c.candidates[i].Kind == kind {
			return &c.candidates[i]
		}
	}
	return nil
}

func (c *Chooser) count(s *Score) {
	if of := c.find(s.Kind); of != nil {
		score, _ := s.Normalized()
		of.count++
		of.tenths += int(math.Round(10 * score)) // a whole number on every scale
	}
}

// compare returns a positive number if c is preferred over o.
func (c candidate) compare(o candidate) int {
	return cmp.Or(cmp.Compare(c.count, o.count), cmp.Compare(c.tenths, o.tenths),
		cmp.Compare(o.Scale, c.Scale), cmp.Compare(o.Site, c.Site), cmp.Compare(o.Side, c.Side))
}

// dayOf returns the UTC day of a time.
func dayOf(ms int64) drug.Day {
	day := ms / millisecondsPerDay
	if ms%millisecondsPerDay < 0 {
		day--
	}
	return drug.Day(day)
}
