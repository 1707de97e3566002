package store

import (
	"iter"
	"maps"
	"slices"
	"time"

	"anodyne/internal/pain"
	"anodyne/internal/pain/series"
)

// seriesByYear is what records are worth to their patient-years.
type seriesByYear map[int]*series.Series

// seriesOf reads the active ones of some records for their patient-years. It is
// done before the transaction: on SQLite all writers wait for one another there.
func seriesOf(records []pain.Record) (seriesByYear, error) {
	years := seriesByYear{}
	return years, years.addAll(records)
}

// addAll adds the records that stand.
func (y seriesByYear) addAll(records []pain.Record) error {
	for i := range records {
		if !records[i].Status.Active() {
			continue
		}
		if err := y.add(records[i].Type, records[i].RecordedAt, records[i].Value); err != nil {
			return err
		}
	}
	return nil
}

func (y seriesByYear) add(t pain.DataType, at time.Time, v pain.Value) error {
	if !series.Takes(t) {
		return nil
	}
	return y.year(series.YearOf(at)).Add(t, at, v)
}

// year gives the series of a year, made when missing.
func (y seriesByYear) year(year int) *series.Series {
	if y[year] == nil {
		y[year] = &series.Series{}
	}
	return y[year]
}

// selectSeries gives the statement that reads a patient's series of some
// years. One that cannot be read is there and nil.
func (o Org) selectSeries(patientNo int64, first, last int, into seriesByYear) Stmt {
	return Stmt{SQL: `SELECT year, bytes FROM patient_series WHERE org_no = $1 AND patient_no = $2 AND year BETWEEN $3 AND $4`,
		Args: []any{int64(o.org), patientNo, first, last}, Each: func(r Row) error {
			var s series.Series
			into[int(r.Int(0))] = nil
			if s.Decode(r.Raw(1)) == nil {
				into[int(r.Int(0))] = &s
			}
			return nil
		}}
}

// mendSeries makes those of some years that are not there from the records.
func (o Org) mendSeries(tx Tx, patientNo int64, stored seriesByYear, years iter.Seq[int]) error {
	for year := range years {
		if stored[year] == nil {
			stored.year(year) // which may have no record
			if err := o.recordedSeries(tx, patientNo, year, year, stored, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendSeries adds new records to a patient's series, and judges what follows
// for the patient's alerts. Records never change, so what is stored and what is
// new make the year, in whatever order they came. A year that is not stored or
// cannot be read is made from the records.
func (o Org) appendSeries(tx Tx, patientNo int64, added seriesByYear, now time.Time) error {
	if len(added) == 0 {
		return nil
	}
	years := slices.Sorted(maps.Keys(added))
	stored := seriesByYear{}
	var w *watch // nil when what is added does not concern alerts
	var err error
	if added.concernAlerts() {
		w, err = o.startWatch(tx, patientNo, stored)
	} else {
		s := o.selectSeries(patientNo, years[0], years[len(years)-1], stored)
		err = tx.Query(s.SQL, s.Each, s.Args...)
	}
	if err != nil {
		return err
	}
	if err := o.mendSeries(tx, patientNo, stored, slices.Values(years)); err != nil {
		return err
	}
	for _, year := range years {
		s := stored[year]
		s.Join(added[year]) // added itself stays as it is: the transaction may run again
		o.keepSeries(tx, patientNo, year, s)
	}
	if w == nil {
		return nil
	}
	return o.endWatch(tx, patientNo, stored, w, now)
}

// correctSeries makes the patient-years of a correction again from the
// records, the old one left out and the new one put in, and judges what
// follows for the patient's alerts.
func (o Org) correctSeries(tx Tx, patientNo int64, c *pain.Correction, now time.Time) error {
	if !series.Takes(c.Old.Type) {
		return nil
	}
	years := seriesByYear{}
	years.year(series.YearOf(c.Old.RecordedAt))
	if c.Replaced {
		if err := years.add(c.New.Type, c.New.RecordedAt, c.New.Value); err != nil {
			return err
		}
	}
	old := seriesByYear{}
	unreadable := old.add(c.Old.Type, c.Old.RecordedAt, c.Old.Value) != nil
	concern := unreadable || old.concernAlerts() || years.concernAlerts()
	for year := range years {
		if err := o.recordedSeries(tx, patientNo, year, year, years, c.Old.ID.Bytes()); err != nil {
			return err
		}
	}
	for year, s := range years {
		o.keepSeries(tx, patientNo, year, s)
	}
	if !concern {
		return nil
	}
	stored := seriesByYear{}
	w, err := o.startWatch(tx, patientNo, stored)
	if err != nil {
		return err
	}
	maps.Copy(stored, years)
	return o.endWatch(tx, patientNo, stored, w, now)
}

// recordedSeries adds what the active records of some years are worth; except,
// if set, is the identifier of one that does not count.
func (o Org) recordedSeries(tx Tx, patientNo int64, first, last int, into seriesByYear, except []byte) error {
	return tx.Query(`SELECT id, recorded_at, data_type, value FROM clinical_record WHERE org_no = $1 AND patient_no = $2
		AND recorded_at >= $3 AND recorded_at < $4 AND data_type <= $5 AND status <= $6`, func(r Row) error {
		if except != nil && string(r.Raw(0)) == string(except) {
			return nil
		}
		return into.add(pain.DataType(r.Int(2)), fromMillis(r.Int(1)), pain.StoredValue(r.Text(3)))
	}, int64(o.org), patientNo, yearStart(first), yearStart(last+1), lastSeriesType, int64(lastActive))
}

// lastSeriesType bounds the types that a series is made of; they have the
// lowest numbers.
var lastSeriesType = int64(slices.Max(series.Types))

func yearStart(year int) int64 {
	return time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
}

// keepSeries writes a patient-year at the end of the transaction, or removes
// it when nothing is left.
func (o Org) keepSeries(tx Tx, patientNo int64, year int, s *series.Series) {
	if s.Empty() {
		tx.Last(Stmt{SQL: `DELETE FROM patient_series WHERE org_no = $1 AND patient_no = $2 AND year = $3`, Args: []any{int64(o.org), patientNo, year}})
		return
	}
	s.Sort()
	tx.Last(Stmt{SQL: `INSERT INTO patient_series (org_no, patient_no, year, bytes) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_no, patient_no, year) DO UPDATE SET bytes = excluded.bytes`,
		Args: []any{int64(o.org), patientNo, year, s.Encode(nil)}})
}
