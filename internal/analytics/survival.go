package analytics

import "math"

// kaplanMeier returns the survival curve from the numbers of events and
// censored patients on each day. A patient censored on the day of an event is
// still at risk on it. Each step has the events of its day and the patients
// censored since the previous step; those censored after the last event are in
// no step.
func kaplanMeier(events, censored []int32) (curve []SurvivalPoint, median *int) {
	atRisk, steps := 0, 0
	for day := range events {
		atRisk += int(events[day] + censored[day])
		if events[day] > 0 {
			steps++
		}
	}
	curve = make([]SurvivalPoint, 0, steps)
	survival, greenwood := 1.0, 0.0
	left := 0
	for day := range events {
		if d := int(events[day]); d > 0 {
			survival *= 1 - float64(d)/float64(atRisk)
			greenwood += float64(d) / (float64(atRisk) * float64(atRisk-d))
			curve = append(curve, SurvivalPoint{Day: day, AtRisk: atRisk, Events: d, Censored: left, Survival: survival, CI95: survivalInterval(survival, greenwood)})
			if median == nil && survival <= 0.5+tolerance {
				median = &day
			}
			atRisk -= d
			left = 0
		}
		atRisk -= int(censored[day])
		left += int(censored[day])
	}
	return curve, median
}

// survivalInterval returns the interval of a survival probability on the
// log(-log) scale, so that it stays between 0 and 1. greenwood is the sum of
// Greenwood's formula. It is nil if no patient is left.
func survivalInterval(survival, greenwood float64) *Bounds {
	if survival <= 0 || survival >= 1 {
		return nil
	}
	log := math.Log(survival)
	width := math.Exp(z * math.Sqrt(greenwood) / -log)
	return &Bounds{math.Exp(log * width), math.Exp(log / width)}
}

// coarse merges steps until each has at least min events, and either no or at
// least min censored patients; the same must hold for the rest at the end.
// Survival is that after the last merged step, and at risk counts the patients
// left after the previous merged steps, so that nothing finer can be derived.
func coarse(curve []SurvivalPoint, n, leftOver, min int) []SurvivalPoint {
	ok := func(n int) bool { return n == 0 || n >= min }
	var steps []SurvivalPoint
	pending := SurvivalPoint{AtRisk: n}
	for _, p := range curve {
		pending.Day, pending.Survival = p.Day, p.Survival
		pending.Events += p.Events
		pending.Censored += p.Censored
		if pending.Events >= min && ok(pending.Censored) {
			steps = append(steps, pending)
			pending = SurvivalPoint{AtRisk: pending.AtRisk - pending.Events - pending.Censored}
		}
	}
	for rest := pending; len(steps) > 0 && !(ok(rest.Events) && ok(rest.Censored+leftOver)); {
		last := len(steps) - 1
		rest.Events += steps[last].Events
		rest.Censored += steps[last].Censored
		steps = steps[:last]
	}
	return steps
}
