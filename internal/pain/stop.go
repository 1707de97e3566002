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
	if v := r.stoppedMedication(now); v != nil && v.supplied() {
		r.setStop(v, DateOf(now))
	}
}

// noteStopOf does the same for a correction. A medicine taken until then
// counts up to that day, even without a supply; one that was stopped before
// keeps its day.
func (r *Record) noteStopOf(old *Record, now time.Time) {
	v := r.stoppedMedication(now)
	if v == nil {
		return
	}
	before, err := medications.decode(old.Value)
	switch {
	case err == nil && !before.stopsWithoutDay():
		r.setStop(v, DateOf(now))
	case err == nil && before.Derived.StopRecordedOn != (Date{}):
		r.setStop(v, before.Derived.StopRecordedOn)
	}
}

// RestoreStop gives a new record, which was a record of this service before, the
// day on which its stop was recorded then; the zero Date if it had none. A day
// that cannot be right, before the record or after now, changes nothing.
func (r *Record) RestoreStop(on Date, now time.Time) {
	v := r.stoppedMedication(now)
	if v == nil || on != (Date{}) && (!DateOf(r.RecordedAt).Before(on) || DateOf(now).Before(on)) {
		return
	}
	r.setStop(v, on)
}

// stoppedMedication returns the medicine of a record written after its own
// day, if it was stopped on an unknown day, and nil otherwise.
func (r *Record) stoppedMedication(now time.Time) *Medication {
	if r.Type != TypeMedications || r.Value == (Value{}) || !DateOf(r.RecordedAt).Before(DateOf(now)) {
		return nil
	}
	if !strings.Contains(r.Value.json, `"stopped"`) && !strings.Contains(r.Value.json, `"on-hold"`) {
		return nil // avoids decoding most values
	}
	v, err := r.Medication()
	if err != nil || !v.stopsWithoutDay() {
		return nil
	}
	return v
}

func (v *Medication) supplied() bool {
	_, supplied := v.DaysSupply.Get()
	return supplied
}

func (r *Record) setStop(v *Medication, on Date) {
	stopped := *v
	stopped.Derived.StopRecordedOn = on
	r.Value = Value{string(appendMembers(nil, medications.members, &stopped))}
	r.made = made{r.Value, &stopped}
}
