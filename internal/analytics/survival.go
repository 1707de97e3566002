package analytics

import "math"

// kaplanMeier makes the curve of those who responded and of those last heard
// of on each day. Who is last heard of on the day of an event is still at
// risk on it. Each step has the events of its day and who left since the step
// before; those who leave after the last event are left over.
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

// survivalInterval is the interval of a share that has not had the event, on
// the scale of log(-log), so that it stays between 0 and 1. greenwood is the sum
// of Greenwood's formula. There is none when nobody is left.
func survivalInterval(survival, greenwood float64) *Bounds {
	if survival <= 0 || survival >= 1 {
		return nil
	}
	log := math.Log(survival)
	width := math.Exp(z * math.Sqrt(greenwood) / -log)
	return &Bounds{math.Exp(log * width), math.Exp(log / width)}
}

// coarse puts steps together until each has at least min events, and none or
// at least min who left; the same must hold for what is left over at the end.
// Survival is that after the last of them, and at risk is who was there when
// the steps before had ended, so that nothing finer can be worked out.
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
