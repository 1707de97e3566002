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
	// addition is what all records add to the patient's series, if known.
	addition *addition
}

// Prepare does what does not need the database, so that less is left to do while
// the transaction holds its locks. It is called after the last record was added.
func (r *ImportedRecords) Prepare() {
	if a, err := additionOf(r.Records); err == nil { // otherwise the import fails
		r.addition = &a
	}
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

// newcomers are the new records of one patient.
type newcomers struct {
	records []pain.Record
	// addition is what they add to the series, if it was prepared.
	addition *addition
}

// importGroups stores the new records of groups, and sets added to their number,
// or -1 if the patient does not exist.
func (o Org) importGroups(tx engine.Tx, groups []ImportedRecords, added []int, now time.Time) error {
	numbers, err := o.patientNumbers(tx, groups)
	if err != nil {
		return err
	}
	fresh, err := o.claimRecords(tx, groups, numbers)
	if err != nil {
		return err
	}
	rederived, err := o.understandFresh(tx, fresh)
	if err != nil {
		return err
	}
	news := map[int64]*newcomers{}
	for i, no := range numbers {
		g := &groups[i]
		if added[i] = len(fresh[i]); no == 0 {
			added[i] = -1
		}
		if len(fresh[i]) == 0 {
			continue
		}
		o.insertRecords(tx, no, fresh[i], nil, g.Change(fresh[i]))
		if n := news[no]; n != nil { // a patient may have several groups
			n.records, n.addition = append(n.records, fresh[i]...), nil
			continue
		}
		news[no] = &newcomers{records: fresh[i]}
		if len(fresh[i]) == len(g.Records) && !rederived {
			news[no].addition = g.addition
		}
	}
	return o.keepDerived(tx, news, now)
}

// keepDerived keeps the counts and series of patients, by number, with new
// records.
func (o Org) keepDerived(tx engine.Tx, news map[int64]*newcomers, now time.Time) error {
	if len(news) == 0 {
		return nil
	}
	numbers := slices.Sorted(maps.Keys(news))
	counted, before := make([]recordCounts, len(numbers)), make([]derived, len(numbers))
	var reads []engine.Stmt
	for i, no := range numbers {
		if news[no].addition == nil {
			made, err := additionOf(news[no].records)
			if err != nil {
				return err
			}
			news[no].addition = &made
		}
		counted[i] = countsOf(news[no].records)
		reads = append(reads, o.selectDerived(byNumber(no), counted[i], news[no].addition, &before[i])...)
	}
	if err := tx.Many(reads...); err != nil {
		return err
	}
	for i, no := range numbers {
		if err := o.keepCounts(tx, no, before[i].counts, counted[i]); err != nil {
			return err
		}
		if err := o.appendSeries(tx, no, news[no].addition, &before[i], now); err != nil {
			return err
		}
	}
	return nil
}

// understandFresh derives medications again if the aliases have changed since,
// and reports whether it did.
func (o Org) understandFresh(tx engine.Tx, groups [][]pain.Record) (changed bool, err error) {
	if !slices.ContainsFunc(groups, func(records []pain.Record) bool { _, medicated := understoodBy(records); return medicated }) {
		return false, nil
	}
	aliases, err := o.currentAliases(tx)
	if err != nil {
		return false, err
	}
	version := aliases.Version()
	for _, records := range groups {
		for i := range records {
			if rec := &records[i]; rec.Type == pain.TypeMedications && rec.Aliases != version {
				derived, _, err := pain.Rederived(rec.Value, pain.DateOf(rec.RecordedAt), aliases)
				if err != nil {
					return changed, err
				}
				changed = true
				rec.Value, rec.Aliases = derived, version
			}
		}
	}
	return changed, nil
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
