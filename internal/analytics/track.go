package analytics

import (
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Track is scores that may be compared with each other, in order, and the lines
// of lineSpan of them at a time.
type Track struct {
	Points []Point
	Lines  []Line
}

// take makes the track that of the scores of a kind.
func (t *Track) take(scores []series.Score, kind series.Kind) {
	t.Points = t.Points[:0]
	for i := range scores {
		if s := &scores[i]; s.Kind == kind {
			t.Points = append(t.Points, pointOf(s))
		}
	}
	t.Lines = linesOf(t.Points, t.Lines[:0])
}

// stretch is the part of a patient's primary outcome that lies in the period. It
// is used again for the next patient.
type stretch struct {
	*Track
	first, end int      // of the points in the period
	index      drug.Day // the index date
	own        Track    // of a patient for whom the period decides
	chooser    series.Chooser
}

// follow finds the primary outcome of a patient in a period, its kind and the index
// date; not ok when there is none.
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

// within finds the points of a period; not ok when there are none.
func (s *stretch) within(period drug.Span) (ok bool) {
	s.first, s.end = until(s.Points, period.First), until(s.Points, period.Last+1)
	return s.first < s.end
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

// start is the mean of the scores in the 14 days up to and including the index
// date, and where those of the days after it begin. There is one at least, though
// perhaps not in the period.
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
