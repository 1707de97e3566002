package alert

import (
	"math"
	"slices"

	"anodyne.example/anodyne/internal/pain/timeline"
)

// Fits reports whether the state is valid for these prescriptions: Next is
// correct, and everything that the last evaluated day triggers was alerted. It
// may include more, from a supply that has just run out.
func (s Standing) Fits(now *Watched) bool {
	is := now.on(s.Day)
	return s.Next == now.starts(s.Day) && s.Level >= is.level && (s.Overlap || !is.overlap)
}

// Reached reports whether the state can have been true on any day, given all
// prescriptions there have ever been, including withdrawn ones. Each counts on
// all days that it could have covered, because a stop, replacement or refill
// recorded later may have removed days.
func (s Standing) Reached(ever *Watched) bool {
	widest := ever.widest()
	var most reading
	for d := widest.changes(math.MinInt32); d != Never; d = widest.changes(d) {
		is := widest.on(d)
		most = reading{max(most.level, is.level), most.overlap || is.overlap}
	}
	return s.Level <= most.level && (most.overlap || !s.Overlap)
}

// widest returns the prescriptions with all days on which they may ever have
// counted.
func (w *Watched) widest() *Watched {
	list := slices.Clone(w.recorded)
	for i := range list {
		switch m := &list[i]; {
		case m.Open:
			m.Last = m.First + timeline.AssumedDays - 1
		case m.Supplied && m.Product != 0:
			m.Last += timeline.MostCarried
		}
	}
	wide := &Watched{}
	wide.take(list)
	return wide
}
