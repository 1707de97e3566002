package alert

import (
	"math"
	"slices"

	"anodyne.example/anodyne/internal/pain/timeline"
)

// Fits reports whether a patient with these prescriptions can stand so: the
// next start is the right one, and all that the day judged last calls for was
// alerted. More than that may stand, of a supply that has just run out.
func (s Standing) Fits(now *Watched) bool {
	is := now.on(s.Day)
	return s.Next == now.starts(s.Day) && s.Level >= is.level && (s.Overlap || !is.overlap)
}

// Reached reports whether what stands may ever have been so: on some day of all
// the prescriptions that there have been, those taken back included. Each counts
// on all days that the timeline could have given it: a stop, a replacement or a
// refill that was written later may have taken days away.
func (s Standing) Reached(ever *Watched) bool {
	widest := ever.widest()
	var most reading
	for d := widest.changes(math.MinInt32); d != Never; d = widest.changes(d) {
		is := widest.on(d)
		most = reading{max(most.level, is.level), most.overlap || is.overlap}
	}
	return s.Level <= most.level && (most.overlap || !s.Overlap)
}

// widest has each prescription on all days on which it may ever have counted.
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
