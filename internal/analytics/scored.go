package analytics

import (
	"math"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// scored holds a patient's scores up to the end of the period.
type scored struct {
	last    drug.Day // last day with a score, or neverScored
	primary Primary
	points  []Point // of the primary outcome
	others  []series.Score
}

// neverScored is before all days.
const neverScored = math.MinInt32

// lookAt loads the scores before a day.
func (s *scored) lookAt(g *Gist, day drug.Day) {
	s.last, s.primary = neverScored, g.Primary
	s.points, s.others = g.Track.Points[:until(g.Track.Points, day)], g.Others[:since(g.Others, startOf(day))]
	if n := len(s.points); n > 0 {
		s.last = s.points[n-1].day()
	}
	if n := len(s.others); n > 0 {
		s.last = max(s.last, dayOf(s.others[n-1].At))
	}
}

// latest returns the latest score of average pain since a day, or else of
// current pain. If the primary outcome does not depend on the period, it
// includes all scores of average pain, or there are none.
func (s *scored) latest(from drug.Day) (score float64, of series.Aspect, ok bool) {
	if n := len(s.points); n > 0 && s.points[n-1].day() >= from {
		return scoreOf[s.points[n-1].tenths()], s.primary.kind.Aspect, true
	}
	latest := -1
	for i := len(s.others) - 1; i >= 0 && s.others[i].At >= startOf(from); i-- {
		if kind := s.others[i].Kind; kind.Outcome() {
			if kind.Aspect == series.Average {
				latest = i
				break
			}
			latest = max(latest, i)
		}
	}
	if latest < 0 {
		return 0, 0, false
	}
	score, ok = s.others[latest].Normalized()
	return score, s.others[latest].Aspect, ok
}
