package patients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// MergePatient moves the records, identifiers, medical history and import keys of
// a patient to another one, in one transaction. The patient is then gone: reading
// it returns an error that names the other one. line is the audit line of the
// request, to be completed; show returns the outcome, given the patient that has
// the data now.
//
// On PostgreSQL both patients are locked, as by any change to their data, so
// that a change is either moved or refused. Locks are taken in the order of the
// identifiers, so that opposite merges do not wait for each other.
func (o Org) MergePatient(ctx context.Context, from, into id.Patient, line audit.Entry, key *idempotency.Once, show func(*pain.Patient) idempotency.Outcome) (idempotency.Outcome, error) {
	return o.once.Do(ctx, key, line.At, func(tx engine.Tx) (idempotency.Outcome, error) {
		m := merge{Org: o, tx: tx, line: line}
		if err := m.lock(from, into); err != nil {
			return idempotency.Outcome{}, err
		}
		merged, lost, gained, err := pain.MergePatients(m.from.Patient, m.into.Patient)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		if err := m.moveRecords(); err != nil {
			return idempotency.Outcome{}, err
		}
		if err := m.copyMarks(); err != nil {
			return idempotency.Outcome{}, err
		}
		keptMore, err := m.mergeKept()
		if err != nil {
			return idempotency.Outcome{}, err
		}
		if keptMore && len(gained) == 0 {
			merged.Version++
		}
		if keptMore || len(gained) > 0 {
			tx.Last(o.changePatient(&merged, line.At))
		}
		m.leave()
		m.note(lost, gained)
		return show(&merged), nil
	})
}

// merge is a merge in progress.
type merge struct {
	Org
	tx         engine.Tx
	line       audit.Entry
	from, into numberedPatient
	records    int64 // moved
	// listed are the records that the feed lists again, and their types.
	listed []id.Record
	types  []pain.DataType
}

type numberedPatient struct {
	no int64
	pain.Patient
}

// lock locks both patients and reads them.
func (m *merge) lock(from, into id.Patient) error {
	m.from.ID, m.into.ID = from, into
	both := []*numberedPatient{&m.from, &m.into}
	slices.SortFunc(both, func(a, b *numberedPatient) int { return bytes.Compare(a.ID.Bytes(), b.ID.Bytes()) })
	var stmts []engine.Stmt
	for _, p := range both {
		stmts = append(stmts, m.lockedNo(p.ID, &p.no))
	}
	if err := m.tx.Many(stmts...); err != nil {
		return err
	}
	for _, p := range []*numberedPatient{&m.from, &m.into} {
		if p.no == 0 {
			return m.absent(m.tx, p.ID)
		}
		var err error
		if p.Patient, err = m.patient(m.tx, readPatient, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// moveRecords moves the records, and updates what is derived from them.
// Medications are derived again, because those that are moved may wait for it
// while the patient they are moved to no longer does; see [System.Rederive].
func (m *merge) moveRecords() error {
	before := seriesByYear{}
	w, err := m.startWatch(m.tx, m.into.no, before)
	if err != nil {
		return err
	}
	if err := m.moveCounts(); err != nil {
		return err
	}
	if m.records, err = m.tx.Exec(`UPDATE clinical_record SET patient_no = $3, updated_at = $4 WHERE org_no = $1 AND patient_no = $2`, int64(m.org), m.from.no, m.into.no, engine.Millis(m.line.At)); err != nil || m.records == 0 {
		return err
	}
	aliases, err := m.currentAliases(m.tx)
	if err != nil {
		return err
	}
	updates, derived, err := m.derivedUpdates(m.tx, m.into.no, aliases, m.line.At)
	if err != nil {
		return err
	}
	moved := map[id.Record]bool{}
	for _, recordID := range m.listed {
		moved[recordID] = true
	}
	for _, recordID := range derived {
		if !moved[recordID] {
			m.list(recordID, pain.TypeMedications)
		}
	}
	for _, u := range updates {
		if _, err := m.tx.Exec(u.SQL, u.Args...); err != nil {
			return err
		}
	}
	want, _, err := m.renewSeries(m.tx, m.into.no)
	if err != nil || !want.concernAlerts() {
		return err
	}
	return m.endWatch(m.tx, m.into.no, want, w, m.line.At)
}

// list lists a record again in the feed.
func (m *merge) list(recordID id.Record, t pain.DataType) {
	if m.listed = append(m.listed, recordID); !slices.Contains(m.types, t) {
		m.types = append(m.types, t)
	}
}

// listMoved returns the statement that lists the records of the merged patient.
func (m *merge) listMoved() engine.Stmt {
	return engine.Stmt{SQL: `SELECT id, data_type FROM clinical_record WHERE org_no = $1 AND patient_no = $2 ORDER BY recorded_at, id`,
		Args: []any{int64(m.org), m.from.no}, Each: func(r engine.Row) error {
			recordID, err := id.FromBytes[id.RecordKind](r.Raw(0))
			m.list(recordID, pain.DataType(r.Int(1)))
			return err
		}}
}

// moveCounts adds the record counts of the one patient to those of the other,
// and notes which records are moved.
func (m *merge) moveCounts() error {
	var moved recordCounts
	stored := map[int64][]byte{}
	const counts = `SELECT period, counts FROM record_count WHERE org_no = $1 AND patient_no = $2`
	if err := m.tx.Many(
		engine.Stmt{SQL: counts, Args: []any{int64(m.org), m.from.no}, Each: func(r engine.Row) error {
			period := r.Int(0)
			return eachCount(r.Raw(1), func(s slot, n int64) { moved = append(moved, slotCount{period, s, n}) })
		}},
		engine.Stmt{SQL: counts, Args: []any{int64(m.org), m.into.no}, Each: func(r engine.Row) error {
			stored[r.Int(0)] = bytes.Clone(r.Raw(1))
			return nil
		}},
		m.listMoved(),
	); err != nil {
		return err
	}
	return m.keepCounts(m.tx, m.into.no, stored, moved.summed())
}

// marksAtOnce bounds the marks in memory and the statements sent together.
const marksAtOnce = 1000

// copyMarks marks the imported lines of the merged patient as those of the
// other one, so that an import of the same file adds nothing. The marks of a
// patient created in the same millisecond are copied too, to no effect: its
// lines differ. For its sake the old ones stay.
func (m *merge) copyMarks() error {
	from, to := marksOf(m.from.ID)
	if bytes.HasPrefix(m.into.ID.Bytes(), from) {
		return nil
	}
	for {
		var inserts []engine.Stmt
		if err := m.tx.Query(`SELECT line_hash FROM import_line WHERE org_no = $1 AND line_hash >= $2 AND line_hash < $3 ORDER BY line_hash LIMIT $4`, func(r engine.Row) error {
			if len(r.Raw(0)) != len(ImportHash{}) {
				return fmt.Errorf("the mark of an imported line has %d bytes", len(r.Raw(0)))
			}
			mark := ImportHash(r.Raw(0))
			from = append(bytes.Clone(mark[:]), 0) // the first one after it
			copied := mark.Beside(m.into.ID)
			inserts = append(inserts, engine.Stmt{SQL: `INSERT INTO import_line (org_no, line_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING`, Args: []any{int64(m.org), copied[:]}})
			return nil
		}, int64(m.org), from, to, marksAtOnce); err != nil || len(inserts) == 0 {
			return err
		}
		if err := m.tx.Many(inserts...); err != nil {
			return err
		}
		if len(inserts) < marksAtOnce {
			return nil
		}
	}
}

// derivedTables have what is derived from a patient's records.
var derivedTables = []string{"patient_series", "record_count", "alert_state"}

// leave removes what is left of the merged patient, and records where its data
// is now, also for those that were merged into it before.
func (m *merge) leave() {
	from := []any{int64(m.org), m.from.no}
	for _, table := range derivedTables {
		m.tx.Last(engine.Stmt{SQL: `DELETE FROM ` + table + ` WHERE org_no = $1 AND patient_no = $2`, Args: from})
	}
	ids := []any{int64(m.org), m.from.ID.Bytes(), m.into.ID.Bytes()}
	m.tx.Last(
		engine.Stmt{SQL: `UPDATE patient_identifier SET patient_no = $3 WHERE org_no = $1 AND patient_no = $2`, Args: []any{int64(m.org), m.from.no, m.into.no}},
		engine.Stmt{SQL: `UPDATE import_key SET patient_id = $3` + whereKeyOf, Args: ids},
		engine.Stmt{SQL: `UPDATE patient_gone SET merged_into = $3` + whereMergedInto, Args: ids},
		m.recordGone(m.from.no, m.from.ID, m.into.ID, m.line.At),
	)
	m.tx.Last(m.leaveHole(m.from.no)...)
	m.tx.Last(m.moveMember(m.from.no, m.into.no)...)
}

// note appends an entry to the journal for each patient, so that whoever
// follows the journal reads both again; the second one names the records that
// the feed lists again. The values of the merged patient are kept in the audit line,
// as those that an update replaces.
func (m *merge) note(lost, gained []pain.Change) {
	lineOf := func(subject id.Patient, details map[string]any, changes []pain.Change) audit.Entry {
		line := m.line
		line.Action, line.Resource = audit.PatientMerge, subject.String()
		if len(changes) > 0 {
			kept := make([]audit.Change, len(changes))
			for i, c := range changes {
				kept[i] = audit.Change(c)
			}
			details["changes"] = kept
		}
		var err error
		if line.Details, err = json.Marshal(details); err != nil {
			panic(err) // strings and numbers always marshal
		}
		return line
	}
	left := lineOf(m.from.ID, map[string]any{"into": m.into.ID.String(), "records": m.records}, lost)
	m.tx.Last(m.journal.Entry(m.org, journal.Change{Audit: left, Event: event.Merged(m.line.At, m.from.ID, m.into.ID), Subject: m.from.ID})...)
	came := lineOf(m.into.ID, map[string]any{"from": m.from.ID.String(), "records": m.records}, gained)
	m.tx.Last(m.relist(came, m.into.ID, m.listed, m.types)...)
}
