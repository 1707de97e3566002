package patients

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// ImportMarks is a write of [Org.WriteAll] that marks as imported what other
// writes of the transaction store. If something is marked already, [Outdated]
// reports true for the error.
type ImportMarks struct {
	Patient id.Patient
	// Lines are marks of the patient's data; see [ImportHash.Beside].
	Lines []ImportHash
	// Keys find the patient again.
	Keys []ImportKey
}

// ImportKey is the key of an imported patient, and a hash of what was imported.
type ImportKey struct{ Key, Content ImportHash }

func (w *ImportMarks) patient() id.Patient { return w.Patient }

// ImportedPerson is the patient of a key.
type ImportedPerson struct {
	Patient id.Patient
	Content ImportHash
}

// ImportState returns which lines are marked as imported, and the patients of
// keys, in one round trip.
func (o Org) ImportState(ctx context.Context, lines, keys []ImportHash) (marked map[ImportHash]bool, people map[ImportHash]ImportedPerson, err error) {
	marked, people = make(map[ImportHash]bool, len(lines)), make(map[ImportHash]ImportedPerson, len(keys))
	stmts := make([]engine.Stmt, 0, len(lines)+len(keys))
	for _, hash := range lines {
		stmts = append(stmts, o.selectLine(hash, func() { marked[hash] = true }))
	}
	for _, key := range keys {
		stmts = append(stmts, engine.Stmt{SQL: `SELECT k.patient_id, k.content FROM import_key k JOIN patient p ON p.org_no = k.org_no AND p.id = k.patient_id
			WHERE k.org_no = $1 AND k.key_hash = $2`, Args: []any{int64(o.org), key[:]}, Each: func(r engine.Row) error {
			patientID, err := id.FromBytes[id.PatientKind](r.Raw(0))
			one := ImportedPerson{Patient: patientID}
			copy(one.Content[:], r.Raw(1))
			people[key] = one
			return err
		}})
	}
	if len(stmts) == 0 {
		return marked, people, nil
	}
	err = o.db.Read(ctx, func(tx engine.Tx) error { return tx.Many(stmts...) })
	return marked, people, err
}

// mark claims the marks of imports, in order.
func (w *writing) mark() error {
	type claimed struct {
		key   []byte
		write int
		stmt  engine.Stmt
		got   bool
	}
	var lines, keys []*claimed
	for _, p := range w.plan {
		for _, m := range p.marks {
			for _, hash := range m.write.Lines {
				c := &claimed{key: bytes.Clone(hash[:]), write: m.index}
				c.stmt = w.claimLine(hash, func() { c.got = true })
				lines = append(lines, c)
			}
			for _, one := range m.write.Keys {
				c := &claimed{key: bytes.Clone(one.Key[:]), write: m.index}
				c.stmt = engine.Stmt{SQL: insertImportKey, Args: []any{int64(w.org), c.key, one.Content[:], p.id.Bytes()}, Changed: ifAny(func() { c.got = true }), Alike: 1}
				keys = append(keys, c)
			}
		}
	}
	all := slices.Concat(keys, lines)
	if len(all) == 0 {
		return nil
	}
	for _, list := range [][]*claimed{keys, lines} {
		slices.SortFunc(list, func(a, b *claimed) int { return cmp.Compare(string(a.key), string(b.key)) })
	}
	all = append(append(all[:0], keys...), lines...)
	stmts := make([]engine.Stmt, len(all))
	for i, c := range all {
		stmts[i] = c.stmt
	}
	if err := w.tx.Many(stmts...); err != nil {
		return err
	}
	for _, c := range all {
		if !c.got {
			return &WriteError{c.write, errOutdated}
		}
	}
	return nil
}
