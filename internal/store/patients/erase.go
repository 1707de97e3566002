package patients

import (
	"context"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// whereMergedInto selects the patients that were merged into one. The condition is
// written so that SQLite uses the index by that patient, and then the primary key.
const whereMergedInto = ` WHERE org_no = $1 AND patient_no IN (SELECT patient_no FROM patient_gone WHERE org_no = $1 AND merged_into = $2)`

// Erasing locks a patient that is to be erased. ids has the patient first, and
// then those that were merged into it, which are erased with it.
func (o Org) Erasing(tx engine.Tx, patientID id.Patient) (no int64, ids []id.Patient, err error) {
	if no, err = o.patientNo(tx, patientID); err != nil {
		return 0, nil, err
	}
	ids = []id.Patient{patientID}
	err = tx.Query(`SELECT id FROM patient_gone`+whereMergedInto+` ORDER BY patient_no`, func(r engine.Row) error {
		merged, err := id.FromBytes[id.PatientKind](r.Raw(0))
		ids = append(ids, merged)
		return err
	}, int64(o.org), patientID.Bytes())
	return no, ids, err
}

// EraseRows deletes the rows of a patient, and records that it is gone, and
// those merged into it too. It returns the number of records deleted.
func (o Org) EraseRows(tx engine.Tx, no int64, ids []id.Patient, at time.Time) (records int64, err error) {
	if err := o.eraseRecordIdentifiers(tx, no); err != nil {
		return 0, err
	}
	if records, err = tx.Exec(`DELETE FROM clinical_record WHERE org_no = $1 AND patient_no = $2`, int64(o.org), no); err != nil {
		return 0, err
	}
	if err := o.eraseMarks(tx, ids); err != nil {
		return 0, err
	}
	for _, table := range slices.Concat(derivedTables, []string{"patient_identifier"}) {
		tx.Last(engine.Stmt{SQL: `DELETE FROM ` + table + ` WHERE org_no = $1 AND patient_no = $2`, Args: []any{int64(o.org), no}})
	}
	for _, each := range ids {
		tx.Last(engine.Stmt{SQL: `DELETE FROM import_key` + whereKeyOf, Args: []any{int64(o.org), each.Bytes()}})
	}
	tx.Last(
		engine.Stmt{SQL: `UPDATE patient_gone SET kind = $3, merged_into = NULL, gone_at = $4` + whereMergedInto,
			Args: []any{int64(o.org), ids[0].Bytes(), int64(goneErased), engine.Millis(at)}},
		o.recordGone(no, ids[0], id.Patient{}, at),
	)
	tx.Last(o.leaveHole(no)...)
	tx.Last(o.removeMember(no)...)
	return records, nil
}

// eraseMarks deletes the marks of imported lines of patients, unless there is
// another patient with the same range of marks: its lines would be imported
// twice. Of ids, only the first is in the table of patients.
func (o Org) eraseMarks(tx engine.Tx, ids []id.Patient) error {
	for _, each := range ids {
		from, to := marksOf(each)
		shared, err := engine.One(tx, `SELECT 1 FROM patient WHERE org_no = $1 AND id >= $2 AND id < $3 AND id <> $4 LIMIT 1`, func(engine.Row) {},
			int64(o.org), from, to, ids[0].Bytes())
		if err != nil {
			return err
		}
		if !shared {
			tx.Last(engine.Stmt{SQL: `DELETE FROM import_line WHERE org_no = $1 AND line_hash >= $2 AND line_hash < $3`, Args: []any{int64(o.org), from, to}})
		}
	}
	return nil
}

// Erased is a patient that was erased.
type Erased struct {
	Org     id.Org
	Patient id.Patient
	At      time.Time
}

// ErasedPatients lists the erased patients of all organisations. If a part of the
// database is unavailable, it returns those of the others with an error that wraps
// [engine.ErrPart].
func (s System) ErasedPatients(ctx context.Context) ([]Erased, error) {
	return engine.List(ctx, s.db, `SELECT o.id, g.id, g.gone_at FROM patient_gone g JOIN org o ON o.org_no = g.org_no WHERE g.kind = $1 /*AND g.org_no = ANY($2)*/
		ORDER BY g.gone_at, g.org_no, g.patient_no`, func(r engine.Row) (e Erased, err error) {
		if e.Org, err = id.FromBytes[id.OrgKind](r.Raw(0)); err != nil {
			return e, err
		}
		e.Patient, err = id.FromBytes[id.PatientKind](r.Raw(1))
		e.At = engine.FromMillis(r.Int(2))
		return e, err
	}, int64(goneErased))
}
