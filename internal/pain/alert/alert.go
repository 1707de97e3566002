// Package alert decides when a patient's prescriptions trigger a system alert:
// when the opioids of a day reach 50 or 90 MME, or an opioid and a
// benzodiazepine cover the same day. An alert is a prompt for review.
//
// The package has no I/O. internal/store keeps the state of each patient, and
// evaluates it in the transaction of a write and when a prescription begins.
package alert

import (
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/pain/drug"
)

// Thresholds are the daily MME that trigger an alert, in ascending order.
var Thresholds = []int{50, 90}

// Slack is how many days the clock may be set back without re-evaluating a
// patient. If the last evaluation is further in the future, the clock was
// wrong then.
const Slack drug.Day = 7

// Standing is the alert state of a patient: the alerts that were raised and
// still apply. They have applied on every day since.
type Standing struct {
	Day     drug.Day // last day evaluated
	Level   int      // 0 or one of Thresholds
	Overlap bool
	// Next is the next day on which a watched prescription begins, which is the
	// next day that can trigger an alert without a write. It is Never if there
	// is none.
	Next drug.Day
}

// Due reports whether the patient must be evaluated without a write.
func (s Standing) Due(today drug.Day) bool { return s.Next <= today || s.Day > today+Slack }

// Judge evaluates a patient on a day and returns the new state and the alerts
// to raise. before are the prescriptions at the last evaluation, and now the
// current ones; without a write they are the same.
//
// Doses are daily doses. So when a supply runs out, its level is only reset
// once a day has ended without it: a supply that is renewed on the day after
// its last raises no alert. A write that lowers the dose resets the level at
// once.
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

// highDose returns the alert for the highest threshold crossed. Crossing both
// at once raises one alert.
func highDose(threshold int) event.Alert {
	severity := event.Warning
	if threshold == Thresholds[len(Thresholds)-1] {
		severity = event.Critical
	}
	return event.Alert{Kind: event.HighDoseOpioid, Severity: severity, Threshold: threshold}
}
