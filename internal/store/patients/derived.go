package patients

import (
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain/alert"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/store/engine"
)

// patientRef is how a statement refers to a patient: by number, or by identifier
// if the number is read in the same round trip. sql is an expression for the
// number; arg is the statement's second argument, after the organisation.
type patientRef struct {
	sql string
	arg any
}

func byNumber(patientNo int64) patientRef { return patientRef{"$2", patientNo} }

func byID(patientID id.Patient) patientRef {
	return patientRef{"(SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)", patientID.Bytes()}
}

// derived is what is stored of a patient besides the records, and changes when
// records are added.
type derived struct {
	counts map[int64][]byte // by period
	// series has nil for years that cannot be read.
	series   seriesByYear
	standing alert.Standing
}

// selectDerived returns the statements that read what adding records needs: the
// counts and series of the affected years or, if they concern alerts, the series
// of all years and the patient's standing.
func (o Org) selectDerived(who patientRef, counted recordCounts, a *addition, into *derived) []engine.Stmt {
	*into = derived{counts: map[int64][]byte{}, series: seriesByYear{}}
	from, to := counted.periods()
	if len(a.years) == 0 {
		return []engine.Stmt{o.selectCounts(who, from, to, into.counts)}
	}
	first, last := a.years.span()
	// All periods of these years, for [derived.contributed].
	from, to = min(from, periodAt(yearStart(first))), max(to, periodAt(yearStart(last+1)-1))
	stmts := []engine.Stmt{o.selectCounts(who, from, to, into.counts)}
	if !a.years.concernAlerts() {
		return append(stmts, o.selectSeries(who, first, last, into.series))
	}
	return append(stmts, o.selectSeries(who, firstYear, lastYear, into.series), o.selectStanding(who, &into.standing))
}

// contributed reports whether, according to the counts, the patient has records
// that contribute to the series of a year.
func (d *derived) contributed(year int) (found bool, err error) {
	begin, end := yearStart(year), yearStart(year+1)
	for period := periodAt(begin); period <= periodAt(end-1); period++ {
		if err := eachCount(d.counts[period], func(s slot, _ int64) {
			at := s.day(period).start()
			found = found || at >= begin && at < end && s.stands() && series.Takes(s.dataType())
		}); err != nil {
			return false, err
		}
	}
	return found, nil
}
