package patients

import (
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/alert"
	"anodyne.example/anodyne/internal/store/engine"
)

// wrongStandings describes, by patient, alert standings that do not match the
// records. It skips patients that the next sweep will judge anyway.
func (o Org) wrongStandings(tx engine.Tx, first, last int64, want map[int64]seriesByYear, now time.Time) (map[int64]string, error) {
	wrong := map[int64]string{}
	for no, years := range want {
		if years.concernAlerts() {
			wrong[no] = "the alert state that its prescriptions require is missing"
		}
	}
	doubtful := map[int64]alert.Standing{}
	if err := tx.Query(`SELECT day, level, overlap, next_day, patient_no FROM alert_state WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3`, func(r engine.Row) error {
		standing, no := standingOf(r), r.Int(4)
		delete(wrong, no)
		watched := want[no].watched()
		switch {
		case standing.Due(pain.DateOf(now.UTC()).DayNumber()):
		case !standing.Fits(&watched):
			wrong[no] = "the stored alert state does not match the records"
		case !standing.Reached(&watched):
			doubtful[no] = standing
		}
		return nil
	}, int64(o.org), first, last); err != nil {
		return nil, err
	}
	for no, standing := range doubtful {
		reached, err := o.everReached(tx, no, standing)
		if err != nil {
			return nil, err
		}
		if !reached {
			wrong[no] = "an alert is stored that no record explains"
		}
	}
	return wrong, nil
}

// everReached reports whether the patient's prescriptions, including those
// superseded or entered in error, ever justified the standing. It returns true
// if one of them cannot be read.
func (o Org) everReached(tx engine.Tx, patientNo int64, standing alert.Standing) (bool, error) {
	ever, unreadable := seriesByYear{}, false
	if err := tx.Query(`SELECT recorded_at, value FROM clinical_record WHERE org_no = $1 AND patient_no = $2 AND data_type = $3`, func(r engine.Row) error {
		unreadable = unreadable || ever.addStored(pain.TypeMedications, r.Int(0), r.Text(1)) != nil
		return nil
	}, int64(o.org), patientNo, int64(pain.TypeMedications)); err != nil {
		return false, err
	}
	watched := ever.watched()
	return unreadable || standing.Reached(&watched), nil
}

// repairStanding judges a patient whose standing or series did not match the
// records, and raises the alerts that were missed because of that.
func (o Org) repairStanding(tx engine.Tx, patientNo int64, want seriesByYear, mended bool, now time.Time) (repaired bool, err error) {
	wrong, err := o.wrongStandings(tx, patientNo, patientNo, map[int64]seriesByYear{patientNo: want}, now)
	if err != nil {
		return false, err
	}
	_, repaired = wrong[patientNo]
	if !repaired && !(mended && want.concernAlerts()) {
		return false, nil
	}
	var standing alert.Standing
	if err := tx.Many(o.selectStanding(byNumber(patientNo), &standing)); err != nil {
		return false, err
	}
	if reached, err := o.everReached(tx, patientNo, standing); err != nil {
		return false, err
	} else if !reached {
		standing.Level, standing.Overlap = 0, false
		tx.Last(o.keepStanding(patientNo, standing)) // judging may not change it
	}
	watched := want.watched()
	return repaired, o.judge(tx, patientNo, standing, &watched, &watched, now)
}
