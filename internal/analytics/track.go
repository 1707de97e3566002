package analytics

import (
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Track holds comparable scores in order, with a line for every lineSpan of
// them.
type Track struct {
	Points []Point
	Lines  []Line
}

// take sets the track to the scores of a kind.
func (t *Track) take(scores []series.Score, kind series.Kind) {
	t.Points = t.Points[:0]
	for i := range scores {
		if s := &scores[i]; s.Kind == kind {
			t.Points = append(t.Points, pointOf(s))
		}
	}
	t.Lines = linesOf(t.Points, t.Lines[:0])
}

// stretch is the part of a patient's primary outcome in the period. It is
// reused for the next patient.
type stretch struct {
	*Track
	first, end int      // indexes of the points in the period
	index      drug.Day // index date
	own        Track    // for patients whose outcome depends on the period
	chooser    series.Chooser
}

// follow finds the primary outcome of a patient in a period: its kind and the
// index date. It is not ok if there is none.
func (s *stretch) follow(g *Gist, period drug.Span) (kind series.Kind, ok bool) {
	if g.Primary.settled() {
		s.Track = &g.Track
		if s.within(period) {
			s.index = s.Points[s.first].day()
			return g.Primary.kind, true
		}
	}
	if g.Primary.known == never || g.Primary.known == alone {
		return series.Kind{}, false
	}
	others := g.Others[:since(g.Others, startOf(period.Last+1))]
	if kind, s.index, ok = s.chooser.Choose(others, since(others, startOf(period.First))); !ok {
		return series.Kind{}, false
	}
	s.own.take(g.Others, kind)
	s.Track = &s.own
	return kind, s.within(period)
}

// within finds the points of a period. It is not ok if there are none.
func (s *stretch) within(period drug.Span) (ok bool) {
	s.first, s.end = until(s.Points, period.First), until(s.Points, period.Last+1)
	return s.first < s.end
}

// since returns the index of the first score at a time or later. Most periods
// begin before all scores of a patient or end after them. The search avoids
// branches that depend on the times, because they are unpredictable.
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

// start returns the mean of the scores in the 14 days up to and including the
// index date, and the index of the first score after it. There is at least one
// score, though perhaps outside the period.
func (s *stretch) start() (base float64, next int) {
	from, after := firstOn(s.index-baselineDays+1), firstOn(s.index+1)
	sum, begin := 0, s.first
	for begin > 0 && s.Points[begin-1] >= from {
		begin--
		sum += int(s.Points[begin].tenths())
	}
	for next = s.first; next < s.end && s.Points[next] < after; next++ {
		sum += int(s.Points[next].tenths())
	}
	return float64(sum) / float64(10*(next-begin)), next
}
