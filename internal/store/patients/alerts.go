package patients

import (
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/alert"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/store/engine"
)

// watch is a patient's state before a write, as far as alerts need it.
type watch struct {
	standing alert.Standing
	before   alert.Watched
}

// concernAlerts reports whether added records can affect alerts. Most writes
// cannot, and have no further cost.
func (y seriesByYear) concernAlerts() bool {
	for _, s := range y {
		if alert.Concerns(s.Medications) {
			return true
		}
	}
	return false
}

// watched returns the prescriptions of all years that alerts depend on.
func (y seriesByYear) watched() (w alert.Watched) {
	for _, s := range y {
		w.Add(s.Medications)
	}
	return w
}

// startWatch reads all years of a patient's series and the patient's standing.
// It rebuilds series that cannot be read from the records.
func (o Org) startWatch(tx engine.Tx, patientNo int64, stored seriesByYear) (*watch, error) {
	w := &watch{}
	who := byNumber(patientNo)
	if err := tx.Many(o.selectSeries(who, firstYear, lastYear, stored), o.selectStanding(who, &w.standing)); err != nil {
		return nil, err
	}
	if err := o.mendSeries(tx, patientNo, stored); err != nil {
		return nil, err
	}
	w.before = stored.watched()
	return w, nil
}

// endWatch judges the patient after the write.
func (o Org) endWatch(tx engine.Tx, patientNo int64, stored seriesByYear, w *watch, now time.Time) error {
	after := stored.watched()
	return o.judge(tx, patientNo, w.standing, &w.before, &after, now)
}

// judge stores a patient's standing, unless it is the old one, and raises alerts
// in the same transaction. Judgements of one patient are serialized: on
// PostgreSQL the patient's row is locked, so that no alert is raised twice.
func (o Org) judge(tx engine.Tx, patientNo int64, old alert.Standing, before, now *alert.Watched, at time.Time) error {
	return o.judgeAs(tx, patientNo, id.Patient{}, old, before, now, at)
}

// judgeAs is judge for a patient whose identifier may be known. A zero
// identifier is looked up if an alert needs it.
func (o Org) judgeAs(tx engine.Tx, patientNo int64, patient id.Patient, old alert.Standing, before, now *alert.Watched, at time.Time) error {
	standing, alerts := alert.Judge(old, before, now, pain.DateOf(at.UTC()).DayNumber())
	if standing != old {
		tx.Last(o.keepStanding(patientNo, standing))
	}
	if len(alerts) == 0 {
		return nil
	}
	if patient.IsZero() {
		if err := tx.Query(`SELECT id FROM patient WHERE org_no = $1 AND patient_no = $2`, func(r engine.Row) (err error) {
			patient, err = id.FromBytes[id.PatientKind](r.Raw(0))
			return err
		}, int64(o.org), patientNo); err != nil {
			return err
		}
	}
	for _, a := range alerts {
		a.Patient = &patient
		tx.Last(o.journal.Raise(o.org, a, patient.String(), at)...)
	}
	return nil
}

// selectStanding returns the statement that reads a patient's standing. A
// patient who never had a watched prescription has no row.
func (o Org) selectStanding(who patientRef, into *alert.Standing) engine.Stmt {
	return engine.Stmt{SQL: `SELECT day, level, overlap, next_day FROM alert_state WHERE org_no = $1 AND patient_no = ` + who.sql,
		Args: []any{int64(o.org), who.arg}, Each: func(r engine.Row) error {
			*into = standingOf(r)
			return nil
		}}
}

// standingOf reads the columns day, level, overlap and next_day.
func standingOf(r engine.Row) alert.Standing {
	s := alert.Standing{Day: drug.Day(r.Int(0)), Level: int(r.Int(1)), Overlap: r.Int(2) != 0, Next: alert.Never}
	if !r.IsNull(3) {
		s.Next = drug.Day(r.Int(3))
	}
	return s
}

func (o Org) keepStanding(patientNo int64, s alert.Standing) engine.Stmt {
	var overlap int64
	if s.Overlap {
		overlap = 1
	}
	var next any
	if s.Next != alert.Never {
		next = int64(s.Next)
	}
	return engine.Stmt{SQL: `INSERT INTO alert_state (org_no, patient_no, day, level, overlap, next_day) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_no, patient_no) DO UPDATE SET day = excluded.day, level = excluded.level, overlap = excluded.overlap, next_day = excluded.next_day`,
		Args: []any{int64(o.org), patientNo, int64(s.Day), s.Level, overlap, next}}
}
