package patients

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// IdentifiedRecord is a resource found by an identifier.
type IdentifiedRecord struct {
	Root     id.Record
	Resource string
}

// IdentifiedRecords returns the resources with an identifier, in order of their
// records' identifiers. A system of "" stands for any.
func (o Org) IdentifiedRecords(ctx context.Context, system, value string) ([]IdentifiedRecord, error) {
	return engine.Get(ctx, o.db, func(tx engine.Tx) ([]IdentifiedRecord, error) { return o.identifiedRecords(tx, system, value) })
}

func (o Org) identifiedRecords(tx engine.Tx, system, value string) (list []IdentifiedRecord, err error) {
	sql, args := `SELECT root, resource FROM record_identifier WHERE org_no = $1 AND value = $2`, []any{int64(o.org), value}
	if system != "" {
		sql, args = sql+` AND system = $3`, append(args, system)
	}
	err = tx.Query(sql+` ORDER BY root, resource`, func(r engine.Row) error {
		root, err := id.FromBytes[id.RecordKind](r.Raw(0))
		list = append(list, IdentifiedRecord{root, r.Text(1)})
		return err
	}, args...)
	return list, err
}

// lookForRecords fails if a resource has an identifier that was sought in vain.
// On PostgreSQL it first locks those identifiers until the end of the
// transaction, in order, so that of concurrent conditional creations one
// succeeds.
func (w *writing) lookForRecords() error {
	var sought []planned[*NewRecords]
	for _, p := range w.plan {
		for _, add := range p.adds {
			if add.write.Sought != (RecordIdentifier{}) {
				sought = append(sought, add)
			}
		}
	}
	slices.SortFunc(sought, func(a, b planned[*NewRecords]) int { return cmp.Compare(w.lockOf(a.write), w.lockOf(b.write)) })
	for _, add := range sought {
		if lock := w.db.Dialect().LockKey; lock != "" {
			if err := w.tx.Many(engine.Stmt{SQL: lock, Args: []any{w.lockOf(add.write)}}); err != nil {
				return err
			}
		}
		list, err := w.identifiedRecords(w.tx, add.write.Sought.System, add.write.Sought.Value)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(list, add.write.Sought.sameType) {
			return &WriteError{add.index, errOutdated}
		}
	}
	return nil
}

// lockOf returns the number of the lock of a sought identifier.
func (w *writing) lockOf(add *NewRecords) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "record identifier %d %q", w.org, add.Sought.Value))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// sameType reports whether a resource is of the type that the identifier names.
func (r RecordIdentifier) sameType(found IdentifiedRecord) bool {
	mine, _, _ := strings.Cut(r.Resource, "/")
	other, _, _ := strings.Cut(found.Resource, "/")
	return mine == other
}

// addRecordIdentifiers returns the statements that store identifiers.
func (o Org) addRecordIdentifiers(root id.Record, list []RecordIdentifier) (stmts []engine.Stmt) {
	for _, one := range list {
		stmts = append(stmts, engine.Stmt{SQL: `INSERT INTO record_identifier (org_no, system, value, root, resource) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
			Args: []any{int64(o.org), one.System, one.Value, root.Bytes(), one.Resource}})
	}
	return stmts
}

// replaceRecordIdentifiers returns the statements that replace the identifiers
// of the resources of a record, given any record of its chain.
func (o Org) replaceRecordIdentifiers(corrected id.Record, list []RecordIdentifier) []engine.Stmt {
	stmts := []engine.Stmt{{SQL: `DELETE FROM record_identifier WHERE org_no = $1 AND root = (
		SELECT COALESCE(root, id) FROM clinical_record WHERE org_no = $1 AND id = $2)`, Args: []any{int64(o.org), corrected.Bytes()}}}
	for _, one := range list {
		stmts = append(stmts, engine.Stmt{SQL: `INSERT INTO record_identifier (org_no, system, value, root, resource)
			SELECT org_no, $2, $3, COALESCE(root, id), $5 FROM clinical_record WHERE org_no = $1 AND id = $4 ON CONFLICT DO NOTHING`,
			Args: []any{int64(o.org), one.System, one.Value, corrected.Bytes(), one.Resource}})
	}
	return stmts
}

// RecordIdentifiers returns the identifiers of the resources of a record.
func (o Org) RecordIdentifiers(ctx context.Context, root id.Record) (list []RecordIdentifier, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT system, value, resource FROM record_identifier WHERE org_no = $1 AND root = $2 ORDER BY system, value, resource`, func(r engine.Row) error {
			list = append(list, RecordIdentifier{pain.Identifier{System: r.Text(0), Value: r.Text(1)}, r.Text(2)})
			return nil
		}, int64(o.org), root.Bytes())
	})
	return list, err
}

// eraseRecordIdentifiers removes the identifiers of a patient's records, before
// the records.
func (o Org) eraseRecordIdentifiers(tx engine.Tx, patientNo int64) error {
	_, err := tx.Exec(`DELETE FROM record_identifier WHERE org_no = $1 AND root IN (
		SELECT id FROM clinical_record WHERE org_no = $1 AND patient_no = $2)`, int64(o.org), patientNo)
	return err
}
