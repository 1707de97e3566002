package patients

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

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
// one transaction unless others want to write, and returns their number. missing
// has the indices of groups whose patient does not exist.
func (o Org) ImportRecords(ctx context.Context, groups []ImportedRecords) (added int, missing []int, err error) {
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	if o.db.Shared() { // concurrent imports must lock patients in the same order
		slices.SortStableFunc(order, func(a, b int) int { return bytes.Compare(groups[a].Patient.Bytes(), groups[b].Patient.Bytes()) })
	}
	sorted, sums := make([]ImportedRecords, len(groups)), make([]int, len(groups)+1)
	for n, i := range order {
		sorted[n], sums[n+1] = groups[i], sums[n]+len(groups[i].Records)
	}
	now := o.db.Now()
	for from := 0; from < len(sorted); {
		rest := sorted[from:]
		fresh := make([]int, len(rest)) // the number of new records, or -1 if there is no patient
		done, err := o.inParts(ctx, len(rest), func(n int) int { return sums[from+n] - sums[from] }, func(tx engine.Tx, from, to int) error {
			return o.importGroups(tx, rest[from:to], fresh[from:to], now)
		})
		if err != nil {
			return added, missing, err
		}
		for n := range done {
			if fresh[n] < 0 {
				missing = append(missing, order[from+n])
			} else {
				added += fresh[n]
			}
		}
		from += done
	}
	slices.Sort(missing)
	return added, missing, nil
}

// importGroups stores the new records of groups, and sets
// added to their number, or -1 if the patient does not exist.
func (o Org) importGroups(tx engine.Tx, groups []ImportedRecords, added []int, now time.Time) error {
	numbers, err := o.patientNumbers(tx, groups)
	if err != nil {
		return err
	}
	fresh, err := o.claimRecords(tx, groups, numbers)
	if err != nil {
		return err
	}
	if err := o.understandFresh(tx, fresh); err != nil {
		return err
	}
	news := map[int64][]pain.Record{} // a patient may have several groups
	for i, no := range numbers {
		if added[i] = len(fresh[i]); no == 0 {
			added[i] = -1
		} else if added[i] > 0 {
			o.insertRecords(tx, no, fresh[i], nil, groups[i].Change(fresh[i]))
			news[no] = append(news[no], fresh[i]...)
		}
	}
	return o.keepDerived(tx, groups, numbers, news, now)
}

// keepDerived keeps the counts and series of patients with new records.
func (o Org) keepDerived(tx engine.Tx, groups []ImportedRecords, numbers []int64, news map[int64][]pain.Record, now time.Time) error {
	counted, stored := map[int64]recordCounts{}, map[int64]map[int64][]byte{}
	var reads []engine.Stmt
	for i, no := range numbers {
		if len(news[no]) > 0 && counted[no] == nil {
			counted[no], stored[no] = countsOf(news[no]), map[int64][]byte{}
			reads = append(reads, o.selectCounts(groups[i].Patient, counted[no], stored[no]))
		}
	}
	if len(reads) == 0 {
		return nil
	}
	if err := tx.Many(reads...); err != nil {
		return err
	}
	for _, no := range slices.Sorted(maps.Keys(news)) {
		if err := o.keepCounts(tx, no, stored[no], counted[no]); err != nil {
			return err
		}
		added, err := additionOf(news[no])
		if err != nil {
			return err
		}
		if err := o.appendSeries(tx, no, added, now); err != nil {
			return err
		}
	}
	return nil
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
func (o Org) patientNumbers(tx engine.Tx, groups []ImportedRecords) ([]int64, error) {
	numbers, stmts := make([]int64, len(groups)), make([]engine.Stmt, len(groups))
	for i := range groups {
		stmts[i] = o.lockedNo(groups[i].Patient, &numbers[i])
	}
	return numbers, tx.Many(stmts...)
}

// claimRecords marks the lines of groups whose patient exists, and returns the
// records of lines that were not imported before.
func (o Org) claimRecords(tx engine.Tx, groups []ImportedRecords, numbers []int64) ([][]pain.Record, error) {
	fresh := make([][]pain.Record, len(groups))
	var claims []engine.Stmt
	for i := range groups {
		if numbers[i] == 0 {
			continue
		}
		fresh[i] = make([]pain.Record, 0, len(groups[i].Records))
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
