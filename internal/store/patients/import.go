package patients

import (
	"bytes"
	"context"
	"slices"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// ImportHash identifies a line of an import, or a patient's external
// identifier. It is stored in the transaction of the line's data, so that a
// line is imported once however often it is retried.
type ImportHash [16]byte

// ImportedPatient is a line with a patient, identified by Content or, if
// External is set, by Key, the hash of the patient's external identifier.
type ImportedPatient struct {
	Content  ImportHash
	Key      ImportHash
	External bool
	Patient  pain.Patient
	Change   journal.Change
}

// ImportedRecords are lines with records of one patient: Hashes[i] identifies
// Records[i]. Change returns the journal entry for those that are new.
type ImportedRecords struct {
	Patient id.Patient
	Hashes  []ImportHash
	Records []pain.Record
	Change  func(added []pain.Record) journal.Change
}

const (
	insertImportKey  = `INSERT INTO import_key (org_no, key_hash, content, patient_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING key_hash`
	insertImportLine = `INSERT INTO import_line (org_no, line_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING line_hash`
)

// claimLine returns the statement that marks a line as imported, and calls
// claimed unless it already was.
func (o Org) claimLine(hash ImportHash, claimed func()) engine.Stmt {
	return engine.Stmt{SQL: insertImportLine, Args: []any{int64(o.org), hash[:]}, Each: func(engine.Row) error { claimed(); return nil }}
}

// claim does the same for a line with a patient.
func (l *ImportedPatient) claim(o Org, claimed func()) engine.Stmt {
	if !l.External {
		return o.claimLine(l.Content, claimed)
	}
	return engine.Stmt{SQL: insertImportKey, Args: []any{int64(o.org), l.Key[:], l.Content[:], l.Patient.ID.Bytes()}, Each: func(engine.Row) error { claimed(); return nil }}
}

// ImportPatients stores the patients of lines that were not imported before, in
// order and in one transaction, and returns their number. others has the
// indices of lines whose identifier was imported with different content.
func (o Org) ImportPatients(ctx context.Context, lines []ImportedPatient) (added int, others []int, err error) {
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		isNew := make([]bool, len(lines))
		claims := make([]engine.Stmt, len(lines))
		for i := range lines {
			claims[i] = lines[i].claim(o, func() { isNew[i] = true })
		}
		if err := tx.Many(claims...); err != nil {
			return err
		}
		added = 0
		for i := range lines {
			if isNew[i] {
				added++
				o.keepPatient(tx, &lines[i].Patient, lines[i].Change)
			}
		}
		_, others, err = o.imported(tx, lines, isNew)
		return err
	})
	return added, others, err
}

// ImportedPatients returns how many of the lines were imported before. others
// has the indices of lines whose identifier was imported with different
// content.
func (o Org) ImportedPatients(ctx context.Context, lines []ImportedPatient) (count int, others []int, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		count, others, err = o.imported(tx, lines, make([]bool, len(lines)))
		return err
	})
	return count, others, err
}

// imported reads the marks of lines that are not new.
func (o Org) imported(tx engine.Tx, lines []ImportedPatient, isNew []bool) (count int, others []int, err error) {
	var stmts []engine.Stmt
	for i := range lines {
		l := &lines[i]
		switch {
		case isNew[i]:
		case l.External:
			stmts = append(stmts, engine.Stmt{SQL: `SELECT content FROM import_key WHERE org_no = $1 AND key_hash = $2`, Args: []any{int64(o.org), l.Key[:]}, Each: func(r engine.Row) error {
				if bytes.Equal(r.Raw(0), l.Content[:]) {
					count++
				} else {
					others = append(others, i)
				}
				return nil
			}})
		default:
			stmts = append(stmts, o.selectLine(l.Content, &count))
		}
	}
	if len(stmts) == 0 {
		return 0, nil, nil
	}
	err = tx.Many(stmts...)
	return count, others, err
}

func (o Org) selectLine(hash ImportHash, count *int) engine.Stmt {
	return engine.Stmt{SQL: `SELECT 1 FROM import_line WHERE org_no = $1 AND line_hash = $2`, Args: []any{int64(o.org), hash[:]}, Each: func(engine.Row) error { *count++; return nil }}
}

// ImportRecords stores the records of lines that were not imported before, in
// one transaction, and returns their number. Each patient must occur only once.
// missing has the indices of groups whose patient does not exist.
func (o Org) ImportRecords(ctx context.Context, groups []ImportedRecords) (added int, missing []int, err error) {
	// Concurrent imports must lock patients in the same order.
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(groups[a].Patient.Bytes(), groups[b].Patient.Bytes()) })
	now := o.db.Now()
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		added, missing = 0, nil
		numbers, err := o.patientNumbers(tx, groups, order)
		if err != nil {
			return err
		}
		fresh, err := o.claimRecords(tx, groups, order, numbers)
		if err != nil {
			return err
		}
		if err := o.understandFresh(tx, fresh); err != nil {
			return err
		}
		news := map[int64][]pain.Record{} // a patient may have several groups
		counted := map[int64]recordCounts{}
		for _, i := range order {
			if numbers[i] == 0 {
				missing = append(missing, i)
			} else if len(fresh[i]) > 0 {
				added += len(fresh[i])
				o.insertRecords(tx, numbers[i], fresh[i], groups[i].Change(fresh[i]))
				if counted[numbers[i]] == nil {
					counted[numbers[i]] = recordCounts{}
				}
				for n := range fresh[i] {
					counted[numbers[i]].add(&fresh[i][n], 1)
				}
				news[numbers[i]] = append(news[numbers[i]], fresh[i]...)
			}
		}
		for i, no := range numbers {
			if counted[no] == nil {
				continue
			}
			stored := map[int64][]byte{}
			if err := tx.Many(o.selectCounts(groups[i].Patient, counted[no], stored)); err != nil {
				return err
			}
			if err := o.keepCounts(tx, no, stored, counted[no]); err != nil {
				return err
			}
			delete(counted, no)
		}
		for patientNo, records := range news {
			added, err := additionOf(records)
			if err != nil {
				return err
			}
			if err := o.appendSeries(tx, patientNo, added, now); err != nil {
				return err
			}
		}
		return nil
	})
	return added, missing, err
}

// understandFresh derives medications again if the aliases have changed since.
func (o Org) understandFresh(tx engine.Tx, groups [][]pain.Record) error {
	if !slices.ContainsFunc(groups, func(records []pain.Record) bool { _, medicated := understoodBy(records); return medicated }) {
		return nil
	}
	var version int64
	if err := tx.Many(o.holdAliases(&version)...); err != nil {
		return err
	}
	aliases, ok := o.remembered.get(o.org, version)
	if !ok {
		var err error
		if aliases, err = o.readAliases(tx); err != nil {
			return err
		}
	}
	for _, records := range groups {
		for i := range records {
			if rec := &records[i]; rec.Type == pain.TypeMedications && rec.Aliases != version {
				derived, _, err := pain.Rederived(rec.Value, pain.DateOf(rec.RecordedAt), aliases)
				if err != nil {
					return err
				}
				rec.Value, rec.Aliases = derived, version
			}
		}
	}
	return nil
}

// patientNumbers finds the patients of groups, in order. The number of a
// missing patient is 0.
func (o Org) patientNumbers(tx engine.Tx, groups []ImportedRecords, order []int) ([]int64, error) {
	numbers := make([]int64, len(groups))
	var stmts []engine.Stmt
	for _, i := range order {
		stmts = append(stmts, engine.Stmt{SQL: `SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2 /*FOR UPDATE*/`,
			Args: []any{int64(o.org), groups[i].Patient.Bytes()}, Each: func(r engine.Row) error { numbers[i] = r.Int(0); return nil }})
	}
	return numbers, tx.Many(stmts...)
}

// claimRecords marks the lines of groups whose patient exists, and returns the
// records of lines that were not imported before.
func (o Org) claimRecords(tx engine.Tx, groups []ImportedRecords, order []int, numbers []int64) ([][]pain.Record, error) {
	fresh := make([][]pain.Record, len(groups))
	var claims []engine.Stmt
	for _, i := range order {
		if numbers[i] == 0 {
			continue
		}
		for n, hash := range groups[i].Hashes {
			claims = append(claims, o.claimLine(hash, func() { fresh[i] = append(fresh[i], groups[i].Records[n]) }))
		}
	}
	if len(claims) == 0 {
		return fresh, nil
	}
	return fresh, tx.Many(claims...)
}

// ImportedKey returns the patient with an external identifier, and the date of
// birth.
func (o Org) ImportedKey(ctx context.Context, key ImportHash) (patient id.Patient, birth pain.Date, found bool, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT p.id, p.date_of_birth FROM import_key k JOIN patient p ON p.org_no = k.org_no AND p.id = k.patient_id
			WHERE k.org_no = $1 AND k.key_hash = $2`, func(r engine.Row) (err error) {
			found = true
			if patient, err = id.FromBytes[id.PatientKind](r.Raw(0)); err == nil {
				birth, err = pain.ParseDate(r.Text(1))
			}
			return err
		}, int64(o.org), key[:])
	})
	return patient, birth, found, err
}

// ImportedLines returns how many of the lines were imported before.
func (o Org) ImportedLines(ctx context.Context, hashes []ImportHash) (count int, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		stmts := make([]engine.Stmt, len(hashes))
		for i := range hashes {
			stmts[i] = o.selectLine(hashes[i], &count)
		}
		return tx.Many(stmts...)
	})
	return count, err
}
