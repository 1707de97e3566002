package pain

import (
	"strings"
	"time"
)

// stopsWithoutDay reports whether a medicine was stopped or paused on an
// unknown day.
func (v *Medication) stopsWithoutDay() bool {
	return (v.Status == "stopped" || v.Status == "on-hold") && v.EndDate == (Date{})
}

// noteStop records the day on which a supply was reported as stopped, if
// nothing else gives that day: it cannot have been taken later. This is not
// needed for a record made on its own day, or dated after the start, because
// it gives the day itself.
func (r *Record) noteStop(now time.Time) {
	v, ok := r.stoppedMedication(now)
	if _, supplied := v.DaysSupply.Get(); ok && supplied {
		r.setStop(&v, DateOf(now))
	}
}

// noteStopOf does the same for a correction. A medicine taken until then
// counts up to that day, even without a supply; one that was stopped before
// keeps its day.
func (r *Record) noteStopOf(old *Record, now time.Time) {
	v, ok := r.stoppedMedication(now)
	if !ok {
		return
	}
	before, err := medications.decode(old.Value)
	switch {
	case err == nil && !before.stopsWithoutDay():
		r.setStop(&v, DateOf(now))
	case err == nil && before.Derived.StopRecordedOn != (Date{}):
		r.setStop(&v, before.Derived.StopRecordedOn)
	}
}

// RestoreStop gives a new record, which was a record of this service before, the
// day on which its stop was recorded then; the zero Date if it had none. A day
// that cannot be right, before the record or after now, changes nothing.
func (r *Record) RestoreStop(on Date, now time.Time) {
	v, ok := r.stoppedMedication(now)
	if !ok || on != (Date{}) && (!DateOf(r.RecordedAt).Before(on) || DateOf(now).Before(on)) {
		return
	}
	r.setStop(&v, on)
}

// stoppedMedication returns the medicine of a record written after its own
// day, if it was stopped on an unknown day.
func (r *Record) stoppedMedication(now time.Time) (_ Medication, ok bool) {
	if r.Type != TypeMedications || r.Value == (Value{}) || !DateOf(r.RecordedAt).Before(DateOf(now)) {
		return Medication{}, false
	}
	if !strings.Contains(r.Value.json, `"stopped"`) && !strings.Contains(r.Value.json, `"on-hold"`) {
		return Medication{}, false // avoids decoding most values
	}
	v, err := medications.decode(r.Value)
	return v, err == nil && v.stopsWithoutDay()
}

func (r *Record) setStop(v *Medication, on Date) {
	v.Derived.StopRecordedOn = on
	r.Value = Value{string(appendMembers(nil, medications.members, v))}
}
