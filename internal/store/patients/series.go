package patients

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/alert"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/store/engine"
)

// seriesByYear is the contribution of records to the patient's series, by year.
type seriesByYear map[int]*series.Series

// addition is new records of one patient, and their contribution.
type addition struct {
	years   seriesByYear
	records []*pain.Record // active, ordered by time and identifier
}

// additionOf computes the contribution of the active records. Where possible it
// is called before the transaction, because on SQLite writes are serialized
// there.
func additionOf(records []pain.Record) (addition, error) {
	a := addition{years: seriesByYear{}}
	for i := range records {
		if records[i].Status.Active() && series.Takes(records[i].Type) {
			a.records = append(a.records, &records[i])
		}
	}
	slices.SortFunc(a.records, byTime)
	for _, rec := range a.records {
		if err := a.years.add(rec); err != nil {
			return addition{}, err
		}
	}
	return a, nil
}

// add adds the contribution of a record.
func (y seriesByYear) add(rec *pain.Record) error {
	if !series.Takes(rec.Type) {
		return nil
	}
	return y.year(series.YearOf(rec.RecordedAt)).Add(rec)
}

// addStored adds the contribution of a stored record.
func (y seriesByYear) addStored(t pain.DataType, recordedAt int64, value string) error {
	return y.add(&pain.Record{Type: t, RecordedAt: engine.FromMillis(recordedAt), Value: pain.StoredValue(value)})
}

// year returns the series of a year, creating it if it is missing.
func (y seriesByYear) year(year int) *series.Series {
	if y[year] == nil {
		y[year] = &series.Series{}
	}
	return y[year]
}

// span returns the first and the last year.
func (y seriesByYear) span() (first, last int) {
	first, last = lastYear, firstYear
	for year := range y {
		first, last = min(first, year), max(last, year)
	}
	return first, last
}

// selectSeries returns the statement that reads a patient's series of a range
// of years into a map, with nil for those that cannot be read.
func (o Org) selectSeries(who patientRef, first, last int, into seriesByYear) engine.Stmt {
	return engine.Stmt{SQL: `SELECT year, bytes FROM patient_series WHERE org_no = $1 AND patient_no = ` + who.sql + ` AND year BETWEEN $3 AND $4`,
		Args: []any{int64(o.org), who.arg, first, last}, Each: func(r engine.Row) error {
			var s series.Series
			into[int(r.Int(0))] = nil
			if s.Decode(r.Raw(1)) == nil {
				into[int(r.Int(0))] = &s
			}
			return nil
		}}
}

// mendSeries rebuilds the series of years that could not be read, which are nil,
// from the records.
func (o Org) mendSeries(tx engine.Tx, patientNo int64, stored seriesByYear) error {
	var reads []engine.Stmt
	for year, s := range stored {
		if s == nil {
			stored[year] = &series.Series{} // the year may have no records
			reads = append(reads, o.selectRecorded(patientNo, year, year, stored.addRow))
		}
	}
	if len(reads) == 0 {
		return nil
	}
	return tx.Many(reads...)
}

// appendSeries adds new records to a patient's series, and judges the patient's
// alerts. before was read by the statements of selectDerived. Records never
// change, so a year is the stored series plus the new records, in any order of
// arrival. A year that is missing or cannot be read is rebuilt from the records.
func (o Org) appendSeries(tx engine.Tx, patientNo int64, a *addition, before *derived, now time.Time) error {
	if len(a.years) == 0 {
		return nil
	}
	stored := before.series
	for year := range a.years {
		if _, found := stored[year]; found {
			continue
		}
		recorded, err := before.contributed(year)
		if err != nil {
			return err
		}
		if stored[year] = nil; !recorded {
			stored[year] = &series.Series{}
		}
	}
	if err := o.mendSeries(tx, patientNo, stored); err != nil {
		return err
	}
	concern := a.years.concernAlerts()
	var was, is alert.Watched
	if concern {
		was = stored.watched()
	}
	if err := o.join(tx, patientNo, stored, a); err != nil {
		return err
	}
	for _, year := range slices.Sorted(maps.Keys(a.years)) {
		o.keepSeries(tx, patientNo, year, stored[year])
	}
	if !concern {
		return nil
	}
	is = stored.watched()
	return o.judge(tx, patientNo, before.standing, &was, &is, now)
}

// beginSeries stores the series of a patient that is created in the same
// transaction, and judges the patient's alerts.
func (o Org) beginSeries(tx engine.Tx, patientNo int64, patientID id.Patient, a addition, now time.Time) error {
	for _, year := range slices.Sorted(maps.Keys(a.years)) {
		var s series.Series
		s.Join(a.years[year]) // do not modify the addition: the transaction may run again
		o.keepSeries(tx, patientNo, year, &s)
	}
	if !a.years.concernAlerts() {
		return nil
	}
	after := a.years.watched()
	return o.judgeAs(tx, patientNo, patientID, alert.Standing{}, &alert.Watched{}, &after, now)
}

// join adds new records to the stored years, in order. Records of the same time
// are ordered by identifier, which a series does not contain, so if a new record
// has the time of a stored one, both are read again. It does not modify a: the
// transaction may run again.
func (o Org) join(tx engine.Tx, patientNo int64, stored seriesByYear, a *addition) error {
	var ties []int64
	for year, added := range a.years {
		s := stored[year]
		tied := s.Ties(added)
		if len(tied) == 0 {
			s.Join(added)
			continue
		}
		var rest series.Series
		rest.Join(added)
		s.Without(tied)
		rest.Without(tied)
		s.Join(&rest)
		ties = append(ties, tied...)
	}
	if len(ties) == 0 {
		return nil
	}
	slices.Sort(ties)
	return o.joinTies(tx, patientNo, stored, ties, a.records)
}

// joinTies adds all stored and all new records of some times, which are in
// order.
func (o Org) joinTies(tx engine.Tx, patientNo int64, stored seriesByYear, ties []int64, records []*pain.Record) error {
	var all []*pain.Record
	for _, rec := range records {
		if _, tied := slices.BinarySearch(ties, rec.RecordedAt.UnixMilli()); tied && orderedTypes>>rec.Type&1 != 0 {
			all = append(all, rec)
		}
	}
	times, err := json.Marshal(ties)
	if err != nil {
		return err
	}
	if err := tx.Query(o.db.Dialect().Timed, func(r engine.Row) error {
		recordID, err := id.FromBytes[id.RecordKind](r.Raw(0))
		all = append(all, &pain.Record{ID: recordID, RecordedAt: engine.FromMillis(r.Int(1)), Type: pain.DataType(r.Int(2)), Value: pain.StoredValue(r.Text(3))})
		return err
	}, int64(o.org), patientNo, string(times), orderedTypes, int64(lastActive)); err != nil {
		return err
	}
	slices.SortFunc(all, byTime)
	for _, rec := range all {
		if err := stored.add(rec); err != nil {
			return err
		}
	}
	return nil
}

// byTime orders records by time and identifier.
func byTime(a, b *pain.Record) int {
	return cmp.Or(a.RecordedAt.Compare(b.RecordedAt), bytes.Compare(a.ID.Bytes(), b.ID.Bytes()))
}

// orderedTypes are the types of records that are ordered within the same time,
// as a bit set. The others have days instead of a time.
var orderedTypes = func() (types int64) {
	for _, t := range series.Types {
		if t != pain.TypeMedications && t != pain.TypeLabs {
			types |= 1 << t
		}
	}
	return types
}()

// correctSeries rebuilds the years affected by corrections from the records,
// without the old records, and with the new ones and those added in the same
// transaction, and judges the patient's alerts.
func (o Org) correctSeries(tx engine.Tx, patientNo int64, corrections []pain.Correction, records []pain.Record, now time.Time) error {
	r := replaced{except: map[string]bool{}}
	years := seriesByYear{}
	concern := false
	for i := range corrections {
		c := &corrections[i]
		if !series.Takes(c.Old.Type) {
			continue
		}
		old := seriesByYear{}
		unreadable := old.add(&c.Old) != nil
		concern = concern || unreadable || old.concernAlerts()
		years.year(series.YearOf(c.Old.RecordedAt))
		r.except[string(c.Old.ID.Bytes())] = true
		if c.Replaced {
			records = append(slices.Clip(records), c.New)
		}
	}
	added, err := additionOf(records)
	if err != nil {
		return err
	}
	r.with = added.records
	concern = concern || added.years.concernAlerts()
	for year := range added.years {
		years.year(year)
	}
	for year, s := range years {
		if err := o.recordedSeries(tx, patientNo, year, year, years, r.of(year)); err != nil {
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

// replaced is what is not stored yet: records that no longer count, and new
// ones, ordered by time and identifier.
type replaced struct {
	except map[string]bool // by the bytes of their identifiers
	with   []*pain.Record
}

// of returns r with the new records of one year.
func (r replaced) of(year int) replaced {
	var with []*pain.Record
	for _, rec := range r.with {
		if series.YearOf(rec.RecordedAt) == year {
			with = append(with, rec)
		}
	}
	return replaced{r.except, with}
}

// recordedSeries adds the contribution of the active records of a range of
// years.
func (o Org) recordedSeries(tx engine.Tx, patientNo int64, first, last int, into seriesByYear, r replaced) error {
	with := r.with
	addWith := func() error {
		rec := with[0]
		with = with[1:]
		return into.add(rec)
	}
	if err := tx.Many(o.selectRecorded(patientNo, first, last, func(row engine.Row) error {
		if r.except[string(row.Raw(0))] {
			return nil
		}
		for len(with) > 0 && cmp.Or(cmp.Compare(with[0].RecordedAt.UnixMilli(), row.Int(1)), bytes.Compare(with[0].ID.Bytes(), row.Raw(0))) < 0 {
			if err := addWith(); err != nil {
				return err
			}
		}
		return into.addRow(row)
	})); err != nil {
		return err
	}
	for len(with) > 0 {
		if err := addWith(); err != nil {
			return err
		}
	}
	return nil
}

// selectRecorded returns the statement that reads the records which contribute
// to the series of a range of years, in order.
func (o Org) selectRecorded(patientNo int64, first, last int, each func(engine.Row) error) engine.Stmt {
	return engine.Stmt{SQL: `SELECT id, recorded_at, data_type, value FROM clinical_record WHERE org_no = $1 AND patient_no = $2
		AND recorded_at >= $3 AND recorded_at < $4` + ofSeries + ` ORDER BY recorded_at, id`,
		Args: []any{int64(o.org), patientNo, yearStart(first), yearStart(last + 1)}, Each: each}
}

// addRow adds a row of [Org.selectRecorded].
func (y seriesByYear) addRow(r engine.Row) error {
	return y.addStored(pain.DataType(r.Int(2)), r.Int(1), r.Text(3))
}

// ofSeries is the condition for records that contribute to a series: active,
// and of certain types.
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

// keepSeries writes a year at the end of the transaction, or deletes it if it
// is empty.
func (o Org) keepSeries(tx engine.Tx, patientNo int64, year int, s *series.Series) {
	if s.Empty() {
		tx.Last(engine.Stmt{SQL: `DELETE FROM patient_series WHERE org_no = $1 AND patient_no = $2 AND year = $3`, Args: []any{int64(o.org), patientNo, year}})
		return
	}
	s.Sort()
	tx.Last(engine.Stmt{SQL: `INSERT INTO patient_series (org_no, patient_no, year, bytes) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_no, patient_no, year) DO UPDATE SET bytes = excluded.bytes`, Alike: 2,
		Args: []any{int64(o.org), patientNo, year, s.Encode(nil)}})
}
