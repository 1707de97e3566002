// Package alert says when what a patient is prescribed calls for a system
// alert: the opioids of a day reach 50 or 90 MME, or an opioid and a
// benzodiazepine cover the same day. An alert is a prompt for review.
//
// It is pure. internal/store keeps how each patient stands, and asks in the
// transaction of a write and when a prescription begins.
package alert

import (
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/pain/drug"
)

// Thresholds are the daily MME that are alerted, in order.
var Thresholds = []int{50, 90}

// Slack is how many days the clock may have gone back without a day being
// judged again. A patient who was judged on a day still further ahead was
// judged by a clock that was wrong.
const Slack drug.Day = 7

// Standing is what has been alerted of a patient and holds: every day since
// was at least so.
type Standing struct {
	Day     drug.Day // judged last
	Level   int      // 0 or one of Thresholds
	Overlap bool
	// Next is the next day on which a watched prescription begins, and so the
	// next one that can call for an alert without a write; Never when none
	// does.
	Next drug.Day
}

// Due reports whether a day has to be judged without a write.
func (s Standing) Due(today drug.Day) bool { return s.Next <= today || s.Day > today+Slack }

// Judge says how a patient stands on a day, and what is to be alerted.
// Before is what was prescribed when the patient was judged last, and now what
// is; without a write they are the same.
//
// A dose is that of a day. So a supply that runs out lets go of a level only
// once a day has ended without it: one that is renewed on the day after its
// last raises nothing. A write that lowers the dose lets go at once.
func Judge(old Standing, before, now *Watched, today drug.Day) (Standing, []event.Alert) {
	day := today
	if old.Day > today && old.Day <= today+Slack {
		day = old.Day
	}
	held := reading{old.Level, old.Overlap}
	for d := old.Day; d < day && held != (reading{}); d = before.changes(d) {
		held = held.least(before.on(d))
	}
	is := now.on(day)
	was := is
	if before != now {
		was = before.on(day)
	}
	stands := Standing{Day: day, Level: held.level, Overlap: held.overlap, Next: now.starts(day)}
	var alerts []event.Alert
	if is.level > held.level {
		alerts = append(alerts, highDose(is.level))
	}
	if is.level > held.level || is.level < was.level {
		stands.Level = is.level
	}
	if is.overlap && !held.overlap {
		alerts = append(alerts, event.Alert{Kind: event.OpioidBenzodiazepineOverlap, Severity: event.Critical})
	}
	if is.overlap || was.overlap {
		stands.Overlap = is.overlap
	}
	return stands, alerts
}

// highDose is the alert of the highest threshold that was crossed: one that
// jumps both is told once.
func highDose(threshold int) event.Alert {
	severity := event.Warning
	if threshold == Thresholds[len(Thresholds)-1] {
		severity = event.Critical
	}
	return event.Alert{Kind: event.HighDoseOpioid, Severity: severity, Threshold: threshold}
}
