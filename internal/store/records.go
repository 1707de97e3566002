package store

import (
	"context"
	"slices"
	"time"

	"anodyne/internal/fault"
	"anodyne/internal/id"
	"anodyne/internal/pain"
)

// statuses is how a record's status is kept: its index here. Those that
// count come first.
var statuses = []pain.Status{pain.Final, pain.Amended, pain.Superseded, pain.EnteredInError}

const (
	lastActive = 1
	lastStatus = 3
)

// recordColumns is what scanRecord reads.
const recordColumns = `id, recorded_at, data_type, status, corrects, created_at, value, notes, source, author, encounter_id`

func scanRecord(r Row, patientID id.Patient) (rec pain.Record, err error) {
	rec = pain.Record{
		PatientID: patientID, RecordedAt: fromMillis(r.Int(1)), Type: pain.DataType(r.Int(2)), Status: statuses[r.Int(3)],
		CreatedAt: fromMillis(r.Int(5)), Value: pain.StoredValue(r.Text(6)), Notes: r.Text(7), Source: r.Text(8), Author: r.Text(9), EncounterID: r.Text(10),
	}
	if rec.ID, err = id.FromBytes[id.RecordKind](r.Raw(0)); err == nil && !r.IsNull(4) {
		rec.Corrects, err = id.FromBytes[id.RecordKind](r.Raw(4))
	}
	return rec, err
}

// insertRecord gives the statement that keeps a record.
func (o Org) insertRecord(patientNo int64, rec *pain.Record) Stmt {
	var corrects any
	if !rec.Corrects.IsZero() {
		corrects = rec.Corrects.Bytes()
	}
	return Stmt{SQL: `INSERT INTO clinical_record (org_no, patient_no, id, recorded_at, data_type, status, corrects, created_at, value, notes, source, author, encounter_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		Args: []any{int64(o.org), patientNo, rec.ID.Bytes(), millis(rec.RecordedAt), int64(rec.Type), int64(slices.Index(statuses, rec.Status)), corrects,
			millis(rec.CreatedAt), rec.Value.JSON(), rec.Notes, rec.Source, rec.Author, rec.EncounterID}}
}

// patientNo finds a patient for a change to what belongs to it. On PostgreSQL
// the row is locked, so that changes of one patient follow one another.
func (o Org) patientNo(tx Tx, patientID id.Patient) (no int64, err error) {
	found, err := one(tx, `SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2 /*FOR UPDATE*/`, func(r Row) { no = r.Int(0) }, int64(o.org), patientID.Bytes())
	if err == nil && !found {
		err = fault.Missing("patient", patientID.String())
	}
	return no, err
}

// BirthDate is a patient's date of birth.
func (o Org) BirthDate(ctx context.Context, patientID id.Patient) (birth pain.Date, err error) {
	err = o.read(ctx, func(tx Tx) error {
		found, err := one(tx, `SELECT date_of_birth FROM patient WHERE org_no = $1 AND id = $2`, func(r Row) { birth, _ = pain.ParseDate(r.Text(0)) }, int64(o.org), patientID.Bytes())
		if err == nil && !found {
			err = fault.Missing("patient", patientID.String())
		}
		return err
	})
	return birth, err
}

// AddRecords keeps the records of one patient, all or none, and gives the
// outcome, or what an earlier request with the same key had.
func (o Org) AddRecords(ctx context.Context, patientID id.Patient, records []pain.Record, c Change, key *Once, now time.Time, out Outcome) (Outcome, error) {
	added, err := seriesOf(records)
	if err != nil {
		return Outcome{}, err
	}
	return o.once(ctx, key, now, func(tx Tx) (Outcome, error) {
		no, err := o.patientNo(tx, patientID)
		if err != nil {
			return Outcome{}, err
		}
		return out, o.keepRecords(tx, no, records, added, c, now)
	})
}

// keepRecords keeps records of one patient; added is what they are worth to
// the patient's series.
func (o Org) keepRecords(tx Tx, patientNo int64, records []pain.Record, added seriesByYear, c Change, now time.Time) error {
	o.insertRecords(tx, patientNo, records, c)
	return o.appendSeries(tx, patientNo, added, now)
}

// insertRecords is keepRecords without the series, for whoever keeps several
// lots of one patient and the series once.
func (o Org) insertRecords(tx Tx, patientNo int64, records []pain.Record, c Change) {
	for i := range records {
		tx.Last(o.insertRecord(patientNo, &records[i]))
	}
	tx.Last(o.journal(o.org, c)...)
}

// RecordQuery says which records of a patient are wanted.
type RecordQuery struct {
	// From and Before bound the clinical time; zero is no bound.
	From, Before time.Time
	// Types are the wanted types; none means all.
	Types []pain.DataType
	// Inactive includes superseded records and those entered in error.
	Inactive   bool
	Descending bool
	Page       int64
	Limit      int64
}

const recordCondition = `
	AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)
	AND recorded_at >= $3 AND recorded_at < $4
	AND (CAST(1 AS BIGINT) << CAST(data_type AS INTEGER)) & $5 <> 0 AND status <= $6`

// A page with its total is one statement, so that both are of one moment.
const (
	countRecords    = `SELECT count(*) FROM clinical_record WHERE org_no = $1` + recordCondition
	selectRecords   = `SELECT ` + recordColumns + `, (` + countRecords + `) FROM clinical_record WHERE org_no = $1` + recordCondition
	recordsForward  = selectRecords + ` ORDER BY recorded_at, id LIMIT $7 OFFSET $8`
	recordsBackward = selectRecords + ` ORDER BY recorded_at DESC, id DESC LIMIT $7 OFFSET $8`
	totalColumn     = 11 // after recordColumns
	// countOnly gives the total to an empty page, and nothing without a patient.
	countOnly = `SELECT (` + countRecords + `) FROM patient WHERE org_no = $1 AND id = $2`
)

// Records calls each for a page of a patient's records by clinical time, then
// by identifier, and gives the number of all that fit, both of one moment.
func (o Org) Records(ctx context.Context, patientID id.Patient, q RecordQuery, each func(*pain.Record)) (total int64, err error) {
	page := recordsForward
	if q.Descending {
		page = recordsBackward
	}
	found := false
	err = o.read(ctx, func(tx Tx) error {
		args := q.args(o, patientID)
		if err := tx.Query(page, func(r Row) error {
			found, total = true, r.Int(totalColumn)
			rec, err := scanRecord(r, patientID)
			if err == nil {
				each(&rec)
			}
			return err
		}, append(args, q.Limit, (q.Page-1)*q.Limit)...); err != nil || found {
			return err
		}
		found, err = one(tx, countOnly, func(r Row) { total = r.Int(0) }, args...)
		return err
	})
	if err == nil && !found {
		err = fault.Missing("patient", patientID.String())
	}
	return total, err
}

// args binds a query's conditions.
func (q *RecordQuery) args(o Org, patientID id.Patient) []any {
	from, before := int64(-1)<<62, int64(1)<<62
	if !q.From.IsZero() {
		from = millis(q.From)
	}
	if !q.Before.IsZero() {
		before = millis(q.Before)
	}
	var types int64
	for _, t := range q.Types {
		types |= 1 << t
	}
	if types == 0 {
		types = -1
	}
	status := int64(lastActive)
	if q.Inactive {
		status = lastStatus
	}
	return []any{int64(o.org), patientID.Bytes(), from, before, types, status}
}

// Record reads one record of a patient, whatever its status.
func (o Org) Record(ctx context.Context, patientID id.Patient, recordID id.Record) (rec pain.Record, err error) {
	err = o.read(ctx, func(tx Tx) error {
		rec, err = o.record(tx, patientID, recordID)
		return err
	})
	return rec, err
}

func (o Org) record(tx Tx, patientID id.Patient, recordID id.Record) (rec pain.Record, err error) {
	found := false
	err = tx.Query(`SELECT `+recordColumns+` FROM clinical_record WHERE org_no = $1 AND id = $3
		AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)`, func(r Row) (err error) {
		found = true
		rec, err = scanRecord(r, patientID)
		return err
	}, int64(o.org), patientID.Bytes(), recordID.Bytes())
	if err == nil && !found {
		err = fault.Missing("clinical record", recordID.String())
	}
	return rec, err
}

// CorrectRecord reads a record, lets a rule correct it, and keeps both the
// old one with its new status and what stands in its place.
func (o Org) CorrectRecord(ctx context.Context, patientID id.Patient, recordID id.Record, key *Once, now time.Time, rule func(old pain.Record) (pain.Correction, Change, Outcome, error)) (Outcome, error) {
	return o.once(ctx, key, now, func(tx Tx) (Outcome, error) {
		no, err := o.patientNo(tx, patientID)
		if err != nil {
			return Outcome{}, err
		}
		old, err := o.record(tx, patientID, recordID)
		if err != nil {
			return Outcome{}, err
		}
		correction, change, out, err := rule(old)
		if err != nil {
			return Outcome{}, err
		}
		tx.Last(Stmt{SQL: `UPDATE clinical_record SET status = $5 WHERE org_no = $1 AND patient_no = $2 AND recorded_at = $3 AND id = $4`,
			Args: []any{int64(o.org), no, millis(old.RecordedAt), old.ID.Bytes(), int64(slices.Index(statuses, correction.Old.Status))}})
		if correction.Replaced {
			tx.Last(o.insertRecord(no, &correction.New))
		}
		tx.Last(o.journal(o.org, change)...)
		return out, o.correctSeries(tx, no, &correction, now) // last: an alert comes after what raised it
	})
}

// History gives a record with all that it corrects and all that corrects it,
// oldest first.
func (o Org) History(ctx context.Context, patientID id.Patient, recordID id.Record) (chain []pain.Record, err error) {
	err = o.snapshot(ctx, func(tx Tx) error {
		rec, err := o.record(tx, patientID, recordID)
		if err != nil {
			return err
		}
		chain = []pain.Record{rec}
		for !chain[0].Corrects.IsZero() {
			if rec, err = o.record(tx, patientID, chain[0].Corrects); err != nil {
				return err
			}
			chain = slices.Insert(chain, 0, rec)
		}
		corrected := map[id.Record]pain.Record{}
		if err := tx.Query(`SELECT `+recordColumns+` FROM clinical_record WHERE org_no = $1 AND corrects IS NOT NULL
			AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)`, func(r Row) error {
			rec, err := scanRecord(r, patientID)
			corrected[rec.Corrects] = rec
			return err
		}, int64(o.org), patientID.Bytes()); err != nil {
			return err
		}
		for next, ok := corrected[recordID]; ok; next, ok = corrected[next.ID] {
			chain = append(chain, next)
		}
		return nil
	})
	return chain, err
}
