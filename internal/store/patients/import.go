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

// ImportedRecords are lines with records of one patient: Hashes[i] identifies
// Records[i]. Change returns the journal entry for those that are new.
type ImportedRecords struct {
	Patient id.Patient
	Hashes  []ImportHash
	Records []pain.Record
	Change  func(added []pain.Record) journal.Change
}

const insertImportLine = `INSERT INTO import_line (org_no, line_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING line_hash`

// claimLine returns the statement that marks a line as imported, and calls
// claimed unless it already was.
func (o Org) claimLine(hash ImportHash, claimed func()) engine.Stmt {
	return engine.Stmt{SQL: insertImportLine, Args: []any{int64(o.org), hash[:]}, Each: func(engine.Row) error { claimed(); return nil }}
}

// selectLine returns the statement that calls found if a line is marked as
// imported.
func (o Org) selectLine(hash ImportHash, found func()) engine.Stmt {
	return engine.Stmt{SQL: `SELECT 1 FROM import_line WHERE org_no = $1 AND line_hash = $2`, Args: []any{int64(o.org), hash[:]}, Each: func(engine.Row) error { found(); return nil }}
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
				o.insertRecords(tx, numbers[i], fresh[i], nil, groups[i].Change(fresh[i]))
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
	aliases, err := o.currentAliases(tx)
	if err != nil {
		return err
	}
	version := aliases.Version()
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
		stmts = append(stmts, o.lockedNo(groups[i].Patient, &numbers[i]))
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

// ImportedLines returns how many of the lines were imported before.
func (o Org) ImportedLines(ctx context.Context, hashes []ImportHash) (count int, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		stmts := make([]engine.Stmt, len(hashes))
		for i := range hashes {
			stmts[i] = o.selectLine(hashes[i], func() { count++ })
		}
		return tx.Many(stmts...)
	})
	return count, err
}
