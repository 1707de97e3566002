package patients

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/store/engine"
)

// seriesByYear is what records are worth to their patient-years.
type seriesByYear map[int]*series.Series

// addition is new records of one patient, and what they are worth.
type addition struct {
	years   seriesByYear
	records []*pain.Record // that stand, by time and identifier
}

// additionOf reads the active ones of some records for their patient-years. It
// is done before the transaction where it can be: on SQLite all writers wait for
// one another there.
func additionOf(records []pain.Record) (addition, error) {
	a := addition{years: seriesByYear{}}
	for i := range records {
		if records[i].Status.Active() && series.Takes(records[i].Type) {
			a.records = append(a.records, &records[i])
		}
	}
	slices.SortFunc(a.records, func(a, b *pain.Record) int {
		return cmp.Or(a.RecordedAt.Compare(b.RecordedAt), bytes.Compare(a.ID.Bytes(), b.ID.Bytes()))
	})
	for _, rec := range a.records {
		if err := a.years.add(rec.Type, rec.RecordedAt, rec.Value); err != nil {
			return addition{}, err
		}
	}
	return a, nil
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
func (o Org) selectSeries(patientNo int64, first, last int, into seriesByYear) engine.Stmt {
	return engine.Stmt{SQL: `SELECT year, bytes FROM patient_series WHERE org_no = $1 AND patient_no = $2 AND year BETWEEN $3 AND $4`,
		Args: []any{int64(o.org), patientNo, first, last}, Each: func(r engine.Row) error {
			var s series.Series
			into[int(r.Int(0))] = nil
			if s.Decode(r.Raw(1)) == nil {
				into[int(r.Int(0))] = &s
			}
			return nil
		}}
}

// mendSeries makes those of some years that are not there from the records.
func (o Org) mendSeries(tx engine.Tx, patientNo int64, stored seriesByYear, years iter.Seq[int]) error {
	for year := range years {
		if stored[year] == nil {
			stored.year(year) // which may have no record
			if err := o.recordedSeries(tx, patientNo, year, year, stored, replaced{}); err != nil {
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
func (o Org) appendSeries(tx engine.Tx, patientNo int64, a addition, now time.Time) error {
	added := a.years
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
		if err := o.join(tx, patientNo, s, added[year], a.records); err != nil {
			return err
		}
		o.keepSeries(tx, patientNo, year, s)
	}
	if w == nil {
		return nil
	}
	return o.endWatch(tx, patientNo, stored, w, now)
}

// join adds what is new to a year, in order: of records of the same time the
// identifier decides, which a series does not have. Where a new record has the
// time of another that is there, both are read again. What is added stays as it
// is: the transaction may run again.
func (o Org) join(tx engine.Tx, patientNo int64, year, added *series.Series, records []*pain.Record) error {
	ties := year.Ties(added)
	if len(ties) == 0 {
		year.Join(added)
		return nil
	}
	var rest series.Series
	rest.Join(added)
	year.Without(ties)
	rest.Without(ties)
	year.Join(&rest)
	for at := range ties {
		if err := o.joinTie(tx, patientNo, year, at, records); err != nil {
			return err
		}
	}
	return nil
}

// joinTie adds all that is stored of one time, and all that is new.
func (o Org) joinTie(tx engine.Tx, patientNo int64, year *series.Series, at int64, records []*pain.Record) error {
	var all []*pain.Record
	for _, rec := range records {
		if rec.RecordedAt.UnixMilli() == at {
			all = append(all, rec)
		}
	}
	if err := tx.Query(`SELECT id, data_type, value FROM clinical_record WHERE org_no = $1 AND patient_no = $2 AND recorded_at = $3`+ofSeries, func(r engine.Row) error {
		recordID, err := id.FromBytes[id.RecordKind](r.Raw(0))
		all = append(all, &pain.Record{ID: recordID, Type: pain.DataType(r.Int(1)), RecordedAt: engine.FromMillis(at), Value: pain.StoredValue(r.Text(2))})
		return err
	}, int64(o.org), patientNo, at); err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b *pain.Record) int { return bytes.Compare(a.ID.Bytes(), b.ID.Bytes()) })
	var tied series.Series
	for _, rec := range all {
		if !ordered(rec.Type) {
			continue // its days are not a time
		}
		if err := tied.Add(rec.Type, rec.RecordedAt, rec.Value); err != nil {
			return err
		}
	}
	year.Join(&tied)
	return nil
}

// ordered reports whether records of a type have an order within their time, and
// were taken out of a series that is joined with others of that time.
func ordered(t pain.DataType) bool {
	return series.Takes(t) && t != pain.TypeMedications && t != pain.TypeLabs
}

// correctSeries makes the patient-years of a correction again from the
// records, the old one left out and the new one put in, and judges what
// follows for the patient's alerts.
func (o Org) correctSeries(tx engine.Tx, patientNo int64, c *pain.Correction, now time.Time) error {
	if !series.Takes(c.Old.Type) {
		return nil
	}
	var news []pain.Record
	if c.Replaced {
		news = append(news, c.New)
	}
	added, err := additionOf(news)
	if err != nil {
		return err
	}
	old := seriesByYear{}
	unreadable := old.add(c.Old.Type, c.Old.RecordedAt, c.Old.Value) != nil
	concern := unreadable || old.concernAlerts() || added.years.concernAlerts()
	years := seriesByYear{}
	years.year(series.YearOf(c.Old.RecordedAt))
	for year := range added.years {
		years.year(year)
	}
	for year, s := range years {
		var with *pain.Record
		if added.years[year] != nil {
			with = &c.New
		}
		if err := o.recordedSeries(tx, patientNo, year, year, years, replaced{c.Old.ID.Bytes(), with}); err != nil {
			return err
		}
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

// replaced is a correction that is not yet stored: the identifier of a record
// that no longer counts, and one that does. Either may be missing.
type replaced struct {
	except []byte
	with   *pain.Record
}

// recordedSeries adds what the active records of some years are worth.
func (o Org) recordedSeries(tx engine.Tx, patientNo int64, first, last int, into seriesByYear, r replaced) error {
	with := r.with
	addWith := func() error {
		rec := with
		with = nil
		return into.add(rec.Type, rec.RecordedAt, rec.Value)
	}
	if err := tx.Query(`SELECT id, recorded_at, data_type, value FROM clinical_record WHERE org_no = $1 AND patient_no = $2
		AND recorded_at >= $3 AND recorded_at < $4`+ofSeries+` ORDER BY recorded_at, id`, func(row engine.Row) error {
		if r.except != nil && string(row.Raw(0)) == string(r.except) {
			return nil
		}
		if with != nil && cmp.Or(cmp.Compare(with.RecordedAt.UnixMilli(), row.Int(1)), bytes.Compare(with.ID.Bytes(), row.Raw(0))) < 0 {
			if err := addWith(); err != nil {
				return err
			}
		}
		return into.add(pain.DataType(row.Int(2)), engine.FromMillis(row.Int(1)), pain.StoredValue(row.Text(3)))
	}, int64(o.org), patientNo, yearStart(first), yearStart(last+1)); err != nil {
		return err
	}
	if with != nil {
		return addWith()
	}
	return nil
}

// ofSeries are the conditions on records that a series is made of: of its types,
// and active.
var ofSeries = func() string {
	types := make([]string, len(series.Types))
	for i, t := range series.Types {
		types[i] = strconv.Itoa(int(t))
	}
	return ` AND data_type IN (` + strings.Join(types, ", ") + `) AND status <= ` + strconv.Itoa(int(lastActive))
}()

func yearStart(year int) int64 {
	return time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
}

// keepSeries writes a patient-year at the end of the transaction, or removes
// it when nothing is left.
func (o Org) keepSeries(tx engine.Tx, patientNo int64, year int, s *series.Series) {
	if s.Empty() {
		tx.Last(engine.Stmt{SQL: `DELETE FROM patient_series WHERE org_no = $1 AND patient_no = $2 AND year = $3`, Args: []any{int64(o.org), patientNo, year}})
		return
	}
	s.Sort()
	tx.Last(engine.Stmt{SQL: `INSERT INTO patient_series (org_no, patient_no, year, bytes) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_no, patient_no, year) DO UPDATE SET bytes = excluded.bytes`,
		Args: []any{int64(o.org), patientNo, year, s.Encode(nil)}})
}
