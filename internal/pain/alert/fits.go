package alert

import "math"

// Fits reports whether a patient with these prescriptions can stand so: the
// next start is the right one, and all that the day judged last calls for was
// alerted. More than that may stand, of a supply that has just run out.
func (s Standing) Fits(now *Watched) bool {
	is := now.on(s.Day)
	return s.Next == now.starts(s.Day) && s.Level >= is.level && (s.Overlap || !is.overlap)
}

// Reached reports whether what stands was ever so: on some day of all the
// prescriptions that there have been, those taken back included.
func (s Standing) Reached(ever *Watched) bool {
	var most reading
	for d := ever.changes(math.MinInt32); d != Never; d = ever.changes(d) {
		is := ever.on(d)
		most = reading{max(most.level, is.level), most.overlap || is.overlap}
	}
	return s.Level <= most.level && (most.overlap || !s.Overlap)
}
