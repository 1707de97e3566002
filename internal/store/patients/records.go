package patients

import (
	"context"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// statuses maps stored numbers to statuses. Active ones come first.
var statuses = []pain.Status{pain.Final, pain.Amended, pain.Superseded, pain.EnteredInError}

const (
	lastActive = 1
	lastStatus = 3
)

// statusCode returns the number under which a status is stored. It panics if
// the status is unknown.
func statusCode(s pain.Status) int64 {
	at := slices.Index(statuses, s)
	if at < 0 {
		panic("there is no record status " + string(s))
	}
	return int64(at)
}

// recordColumns lists the columns that scanRecord reads.
const recordColumns = `id, recorded_at, data_type, status, corrects, created_at, value, notes, source, author, encounter_id`

func scanRecord(r engine.Row, patientID id.Patient) (rec pain.Record, err error) {
	rec = pain.Record{
		PatientID: patientID, RecordedAt: engine.FromMillis(r.Int(1)), Type: pain.DataType(r.Int(2)), Status: statuses[r.Int(3)],
		CreatedAt: engine.FromMillis(r.Int(5)), Value: pain.StoredValue(r.Text(6)), Notes: r.Text(7), Source: r.Text(8), Author: r.Text(9), EncounterID: r.Text(10),
	}
	if rec.ID, err = id.FromBytes[id.RecordKind](r.Raw(0)); err == nil && !r.IsNull(4) {
		rec.Corrects, err = id.FromBytes[id.RecordKind](r.Raw(4))
	}
	return rec, err
}

// insertRecord returns the statement that stores a new record.
func (o Org) insertRecord(patientNo int64, rec *pain.Record) engine.Stmt {
	return o.insertEach(patientNo, []pain.Record{*rec})[0]
}

// insertEach returns a statement for each of some new records. Arguments that
// records have in common share their memory.
func (o Org) insertEach(patientNo int64, records []pain.Record) []engine.Stmt {
	const columns = 13
	stmts, args := make([]engine.Stmt, len(records)), make([]any, 0, columns*len(records))
	var org, patient, created, source any = int64(o.org), patientNo, engine.Millis(records[0].CreatedAt), records[0].Source
	for i := range records {
		rec := &records[i]
		if i > 0 && !rec.CreatedAt.Equal(records[i-1].CreatedAt) {
			created = engine.Millis(rec.CreatedAt)
		}
		if i > 0 && rec.Source != records[i-1].Source {
			source = rec.Source
		}
		var corrects any
		if !rec.Corrects.IsZero() {
			corrects = rec.Corrects.Bytes()
		}
		args = append(args, org, patient, created, rec.ID.Bytes(), engine.Millis(rec.RecordedAt), int64(rec.Type), statusCode(rec.Status), corrects,
			rec.Value.JSON(), rec.Notes, source, rec.Author, rec.EncounterID)
		stmts[i] = engine.Stmt{SQL: `INSERT INTO clinical_record (org_no, patient_no, created_at, id, recorded_at, data_type, status, corrects, value, notes, source, author, encounter_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, Alike: 3, Args: slices.Clip(args[columns*i:])}
	}
	return stmts
}

// patientNo finds a patient for a change to its data. On PostgreSQL it locks
// the row, so that changes to one patient are serialized; the statements in
// with see the result of the previous change.
func (o Org) patientNo(tx engine.Tx, patientID id.Patient, with ...engine.Stmt) (no int64, err error) {
	err = tx.Many(append([]engine.Stmt{o.lockedNo(patientID, &no)}, with...)...)
	if err == nil && no == 0 {
		err = o.absent(tx, patientID)
	}
	return no, err
}

// lockedNo returns the statement that locks a patient and reads its number. no
// stays 0 if there is no such patient.
func (o Org) lockedNo(patientID id.Patient, no *int64) engine.Stmt {
	return engine.Stmt{SQL: `SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2 /*FOR UPDATE*/`, Args: []any{int64(o.org), patientID.Bytes()},
		Each: func(r engine.Row) error {
			*no = r.Int(0)
			return nil
		}}
}

// BirthDate returns a patient's date of birth.
func (o Org) BirthDate(ctx context.Context, patientID id.Patient) (birth pain.Date, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		found, err := engine.One(tx, `SELECT date_of_birth FROM patient WHERE org_no = $1 AND id = $2`, func(r engine.Row) { birth, _ = pain.ParseDate(r.Text(0)) }, int64(o.org), patientID.Bytes())
		if err == nil && !found {
			err = o.absent(tx, patientID)
		}
		return err
	})
	return birth, err
}

// AddRecords stores records of one patient, all or none, and returns the
// outcome, or that of an earlier request with the same key. If [AliasesChanged]
// reports true for the error, the records must be made again.
func (o Org) AddRecords(ctx context.Context, patientID id.Patient, records []pain.Record, c journal.Change, key *idempotency.Once, now time.Time, out idempotency.Outcome) (idempotency.Outcome, error) {
	added, err := additionOf(records)
	if err != nil {
		return idempotency.Outcome{}, err
	}
	counted := countsOf(records)
	understood, medicated := understoodBy(records)
	return o.once.Do(ctx, key, now, func(tx engine.Tx) (idempotency.Outcome, error) {
		var before derived
		with := o.selectDerived(byID(patientID), counted, &added, &before)
		version := understood
		if medicated {
			with = append(with, o.holdAliases(&version)...)
		}
		no, err := o.patientNo(tx, patientID, with...)
		if err == nil && version != understood {
			err = errAliasesChanged
		}
		if err != nil {
			return idempotency.Outcome{}, err
		}
		o.insertRecords(tx, no, records, nil, c)
		if err := o.keepCounts(tx, no, before.counts, counted); err != nil {
			return idempotency.Outcome{}, err
		}
		return out, o.appendSeries(tx, no, &added, &before, now)
	})
}

// insertRecords stores records of one patient, without the counts and series
// derived from them. extra is nil, or has an element for each.
func (o Org) insertRecords(tx engine.Tx, patientNo int64, records []pain.Record, extra []Extra, c journal.Change) {
	if extra == nil {
		tx.Last(o.insertEach(patientNo, records)...)
	}
	for i := range extra {
		tx.Last(o.insertWith(patientNo, &records[i], &extra[i])...)
	}
	tx.Last(o.journal.Entry(o.org, c)...)
}

// RecordQuery selects records of a patient.
type RecordQuery struct {
	// From and Before bound the clinical time, both at midnight UTC. Zero means
	// no bound.
	From, Before time.Time
	// Types are the selected types. If empty, all types are selected.
	Types []pain.DataType
	// Inactive includes superseded records and those entered in error.
	Inactive   bool
	Descending bool
	Page       int64
	Limit      int64
}

func (q *RecordQuery) offset() int64 { return (q.Page - 1) * q.Limit }

func (q *RecordQuery) firstDay() day {
	if q.From.IsZero() {
		return 0
	}
	return dayOf(q.From)
}

func (q *RecordQuery) endDay() day {
	if q.Before.IsZero() {
		return dayOf(time.Date(lastYear+1, time.January, 1, 0, 0, 0, 0, time.UTC))
	}
	return dayOf(q.Before)
}

// start returns the first day of the bounds, in the order of the query.
func (q *RecordQuery) start() day {
	if q.Descending {
		return q.endDay() - 1
	}
	return q.firstDay()
}

// This does not compile if a data type has no bit in [RecordQuery.types].
const _ = uint(62 - int(pain.LastDataType))

// types returns the selected types as a bit set.
func (q *RecordQuery) types() (types int64) {
	for _, t := range q.Types {
		types |= 1 << t
	}
	if types == 0 {
		types = -1
	}
	return types
}

const (
	pageOfRecords = `SELECT ` + recordColumns + ` FROM clinical_record WHERE org_no = $1
		AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)
		AND recorded_at >= $3 AND recorded_at < $4
		AND (CAST(1 AS BIGINT) << CAST(data_type AS INTEGER)) & $5 <> 0 AND status <= $6`
	recordsForward  = pageOfRecords + ` ORDER BY recorded_at, id LIMIT $7 OFFSET $8`
	recordsBackward = pageOfRecords + ` ORDER BY recorded_at DESC, id DESC LIMIT $7 OFFSET $8`
	// countsOfQuery returns at least one row, unless the patient does not
	// exist.
	countsOfQuery = `SELECT c.period, c.counts FROM patient p LEFT JOIN record_count c
		ON c.org_no = p.org_no AND c.patient_no = p.patient_no AND c.period BETWEEN $3 AND $4
		WHERE p.org_no = $1 AND p.id = $2 ORDER BY c.period`
)

// nearby is the number of records that a page skips by reading them, rather
// than looking up the day on which it begins. Some tests reduce it.
var nearby = int64(500)

// Records calls each for a page of a patient's records, ordered by clinical
// time and identifier, and returns the total number of matching records, both
// from one snapshot. The cost depends on the number of records per day, not on
// their total.
func (o Org) Records(ctx context.Context, patientID id.Patient, q RecordQuery, each func(*pain.Record)) (total int64, err error) {
	var fit matched
	begin, skipped := q.start(), int64(0)
	if q.offset() > nearby {
		if err := o.db.Read(ctx, func(tx engine.Tx) error { return tx.Many(o.readCounts(patientID, &q, &fit)) }); err != nil {
			return 0, err
		}
		begin, skipped = fit.begin(&q)
	}
	for try := 1; ; try++ {
		var page []pain.Record
		if err := o.db.Snapshot(ctx, func(tx engine.Tx) error {
			tx.Last(o.readCounts(patientID, &q, &fit), o.readPage(patientID, &q, begin, skipped, &page))
			return nil
		}); err != nil {
			return 0, err
		}
		if fit == nil {
			return 0, o.db.Read(ctx, func(tx engine.Tx) error { return o.absent(tx, patientID) })
		}
		if fit.before(&q, begin) == skipped {
			for i := range page {
				each(&page[i])
			}
			return fit.total(), nil
		}
		// A concurrent write has moved the page. Reading from the start always
		// works.
		if begin, skipped = fit.begin(&q); try == 3 {
			begin, skipped = q.start(), 0
		}
	}
}

// readCounts returns the statement that reads the number of matching records by
// day. fit stays nil if the patient does not exist.
func (o Org) readCounts(patientID id.Patient, q *RecordQuery, fit *matched) engine.Stmt {
	*fit = nil
	return engine.Stmt{SQL: countsOfQuery, Args: []any{int64(o.org), patientID.Bytes(), q.firstDay().period(), q.endDay().period()}, Each: func(r engine.Row) error {
		if *fit == nil {
			*fit = matched{}
		}
		if r.IsNull(0) {
			return nil // there are no records
		}
		return fit.take(q, r.Int(0), r.Raw(1))
	}}
}

// readPage returns the statement that reads the page of a query, starting at
// day begin, which skipped records precede.
func (o Org) readPage(patientID id.Patient, q *RecordQuery, begin day, skipped int64, page *[]pain.Record) engine.Stmt {
	sql, from, before := recordsForward, begin.start(), q.endDay().start()
	if q.Descending {
		sql, from, before = recordsBackward, q.firstDay().start(), (begin + 1).start()
	}
	status := int64(lastActive)
	if q.Inactive {
		status = lastStatus
	}
	return engine.Stmt{SQL: sql, Args: []any{int64(o.org), patientID.Bytes(), from, before, q.types(), status, q.Limit, q.offset() - skipped}, Each: func(r engine.Row) error {
		rec, err := scanRecord(r, patientID)
		*page = append(*page, rec)
		return err
	}}
}

// Record reads one record of a patient, whatever its status.
func (o Org) Record(ctx context.Context, patientID id.Patient, recordID id.Record) (pain.Record, error) {
	return engine.Get(ctx, o.db, func(tx engine.Tx) (pain.Record, error) { return o.record(tx, patientID, recordID) })
}

const readRecord = `SELECT ` + recordColumns + ` FROM clinical_record WHERE org_no = $1 AND id = $3
	AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)`

func (o Org) record(tx engine.Tx, patientID id.Patient, recordID id.Record) (rec pain.Record, err error) {
	found := false
	err = tx.Query(readRecord, func(r engine.Row) (err error) {
		found = true
		rec, err = scanRecord(r, patientID)
		return err
	}, int64(o.org), patientID.Bytes(), recordID.Bytes())
	if err == nil && !found {
		err = o.absentRecord(tx, patientID, recordID)
	}
	return rec, err
}

// CorrectRecord reads a record, lets rule correct it, and stores both the old
// record with its new status and its replacement. If [AliasesChanged] reports
// true for the error, rule must use newer aliases.
func (o Org) CorrectRecord(ctx context.Context, patientID id.Patient, recordID id.Record, key *idempotency.Once, now time.Time, rule func(old pain.Record) (pain.Correction, journal.Change, idempotency.Outcome, error)) (idempotency.Outcome, error) {
	return o.once.Do(ctx, key, now, func(tx engine.Tx) (idempotency.Outcome, error) {
		no, err := o.patientNo(tx, patientID)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		old, err := o.record(tx, patientID, recordID)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		correction, change, out, err := rule(old)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		o.storeCorrection(tx, no, &old, &correction, carried, now)
		var counted recordCounts
		counted.correct(&old, &correction)
		counted = counted.summed()
		first, last := counted.periods()
		stored := map[int64][]byte{}
		with := []engine.Stmt{o.selectCounts(byNumber(no), first, last, stored)}
		version := correction.New.Aliases
		if correction.Replaced && old.Type == pain.TypeMedications {
			with = append(with, o.holdAliases(&version)...)
		}
		if err := tx.Many(with...); err != nil {
			return idempotency.Outcome{}, err
		}
		if version != correction.New.Aliases {
			return idempotency.Outcome{}, errAliasesChanged
		}
		if err := o.keepCounts(tx, no, stored, counted); err != nil {
			return idempotency.Outcome{}, err
		}
		tx.Last(o.journal.Entry(o.org, change)...)
		return out, o.correctSeries(tx, no, []pain.Correction{correction}, nil, now) // last, so that an alert follows its cause
	})
}

// History returns a record with all that it corrects and all that correct it,
// oldest first.
func (o Org) History(ctx context.Context, patientID id.Patient, recordID id.Record) (chain []pain.Record, err error) {
	corrected := map[id.Record]pain.Record{} // by the record they correct; the first corrects none
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		err := tx.Query(chainOfRecord, func(r engine.Row) error {
			rec, err := scanRecord(r, patientID)
			corrected[rec.Corrects] = rec
			return err
		}, int64(o.org), patientID.Bytes(), recordID.Bytes())
		if err == nil && len(corrected) == 0 {
			err = o.absentRecord(tx, patientID, recordID)
		}
		return err
	})
	for rec, ok := corrected[id.Record{}]; ok; rec, ok = corrected[rec.ID] {
		chain = append(chain, rec)
	}
	return chain, err
}

// chainOfRecord follows a record to those it corrects and to those that correct
// it. A record is corrected at most once. In a CROSS JOIN, SQLite reads the first
// table first, and finds the rows of the second one by their keys.
const chainOfRecord = `WITH RECURSIVE older (id, corrects) AS (
		SELECT id, corrects FROM clinical_record WHERE org_no = $1 AND id = $3
			AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)
		UNION ALL SELECT r.id, r.corrects FROM older o CROSS JOIN clinical_record r WHERE r.org_no = $1 AND r.id = o.corrects
	), newer (id) AS (
		SELECT id FROM older WHERE id = $3
		UNION ALL SELECT r.id FROM newer n CROSS JOIN clinical_record r WHERE r.org_no = $1 AND r.corrects = n.id
	)
	SELECT ` + recordColumns + ` FROM (SELECT id AS chained FROM older UNION SELECT id FROM newer) AS chain CROSS JOIN clinical_record WHERE org_no = $1 AND id = chained`
