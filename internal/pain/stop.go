package pain

import "time"

// stopsWithoutDay reports whether a medicine was stopped or paused, and the
// value does not say when.
func (v *Medication) stopsWithoutDay() bool {
	return (v.Status == "stopped" || v.Status == "on-hold") && v.EndDate == (Date{})
}

// noteStop keeps the day on which a supply was recorded as stopped, where
// nothing else says when that was: it cannot have been taken later. A record of
// its own day, or of a later one than the start, says it by itself.
func (r *Record) noteStop(now time.Time) {
	v, ok := r.stoppedMedication(now)
	if _, supplied := v.DaysSupply.Get(); ok && supplied {
		r.setStop(&v, DateOf(now))
	}
}

// noteStopOf does the same of a correction. What was being taken until then
// counts up to that day, also without a supply; what had been stopped before
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

// stoppedMedication is the medicine of a record that is written after its own
// day, if it was stopped on a day that it does not tell.
func (r *Record) stoppedMedication(now time.Time) (_ Medication, ok bool) {
	if r.Type != TypeMedications || r.Value == (Value{}) || !DateOf(r.RecordedAt).Before(DateOf(now)) {
		return Medication{}, false
	}
	v, err := medications.decode(r.Value)
	return v, err == nil && v.stopsWithoutDay()
}

func (r *Record) setStop(v *Medication, on Date) {
	v.Derived.StopRecordedOn = on
	r.Value = Value{string(appendMembers(nil, medications.members, v))}
}
