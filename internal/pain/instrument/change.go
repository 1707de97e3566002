package instrument

// Met reports whether a score fell by at least the important number of points
// and the important percentage. Lower is better on every instrument that has
// them. Scores are compared without rounding. A percentage is never met from a
// baseline of 0 or below PercentFrom.
func (c Change) Met(before, after float64) (points, percent bool) {
	const tolerance = 1e-9
	fall := before - after
	points = c.Points > 0 && fall >= c.Points-tolerance
	percent = c.Percent > 0 && before > 0 && before >= c.PercentFrom-tolerance && 100*fall/before >= c.Percent-tolerance
	return points, percent
}
