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
	ready   *readyRecords
}

// readyRecords are the statements of imported records, as far as they can be made
// without the database.
type readyRecords struct {
	claims  []engine.Stmt
	claimed []bool      // by line, set by the claims
	all     *newRecords // what is stored if all lines are new
}

// newRecords are new records of one patient, and all that is stored of them.
type newRecords struct {
	records  []pain.Record
	inserts  []engine.Stmt // the number of the patient is the second argument
	entry    journal.Row
	counted  recordCounts
	addition addition
}

// Ready does what does not need the database, so that less is left to do while
// the transaction holds its locks. It is called after the last record was added.
func (o Org) Ready(r *ImportedRecords) error {
	all, err := o.newRecords(r.Records, r.Change(r.Records))
	if err != nil {
		return err
	}
	ready := &readyRecords{claims: make([]engine.Stmt, len(r.Hashes)), claimed: make([]bool, len(r.Hashes)), all: all}
	order := make([]int, len(r.Hashes)) // of the table
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(r.Hashes[a][:], r.Hashes[b][:]) })
	for n, i := range order {
		ready.claims[n] = o.claimLine(r.Hashes[i], func() { ready.claimed[i] = true })
	}
	r.ready = ready
	return nil
}

func (o Org) newRecords(records []pain.Record, c journal.Change) (*newRecords, error) {
	added, err := additionOf(records)
	return &newRecords{records: records, inserts: o.insertEach(0, records), entry: c.Row(), counted: countsOf(records), addition: added}, err
}

// insertAs returns the statements that store the records of the patient with a
// number.
func (n *newRecords) insertAs(patientNo int64) []engine.Stmt {
	var no any = patientNo
	for i := range n.inserts {
		n.inserts[i].Args[1] = no
	}
	return n.inserts
}

const insertImportLine = `INSERT INTO import_line (org_no, line_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING`

// claimLine returns the statement that marks a line as imported, and calls
// claimed unless it already was.
func (o Org) claimLine(hash ImportHash, claimed func()) engine.Stmt {
	return engine.Stmt{SQL: insertImportLine, Args: []any{int64(o.org), hash[:]}, Changed: ifAny(claimed), Alike: 1}
}

// ifAny returns a function for [engine.Stmt.Changed] that calls do if the
// statement changed a row.
func ifAny(do func()) func(rows int64) {
	return func(rows int64) {
		if rows > 0 {
			do()
		}
	}
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
	var entries []journal.Row
	news := map[int64]*newRecords{}
	for i, no := range numbers {
		g := &groups[i]
		if added[i] = len(fresh[i]); no == 0 {
			added[i] = -1
		}
		if len(fresh[i]) == 0 {
			continue
		}
		stored := g.ready.all
		if len(fresh[i]) < len(g.Records) || rederived {
			if stored, err = o.newRecords(fresh[i], g.Change(fresh[i])); err != nil {
				return err
			}
		}
		tx.Last(stored.insertAs(no)...)
		entries = append(entries, stored.entry)
		if before := news[no]; before != nil { // a patient may have several groups
			if stored, err = before.with(stored); err != nil {
				return err
			}
		}
		news[no] = stored
	}
	if len(news) == 0 {
		return nil
	}
	tx.Last(o.journal.Rows(o.org, entries...)...)
	return o.keepDerived(tx, news, now)
}

// with returns what is derived from the records of n and more together.
func (n *newRecords) with(more *newRecords) (*newRecords, error) {
	records := slices.Concat(n.records, more.records)
	added, err := additionOf(records)
	return &newRecords{records: records, counted: countsOf(records), addition: added}, err
}

// keepDerived keeps the counts and series of patients, by number, with new
// records.
func (o Org) keepDerived(tx engine.Tx, news map[int64]*newRecords, now time.Time) error {
	numbers := slices.Sorted(maps.Keys(news))
	before := make([]derived, len(numbers))
	var reads []engine.Stmt
	for i, no := range numbers {
		reads = append(reads, o.selectDerived(byNumber(no), news[no].counted, &news[no].addition, &before[i])...)
	}
	if err := tx.Many(reads...); err != nil {
		return err
	}
	for i, no := range numbers {
		if err := o.keepCounts(tx, no, before[i].counts, news[no].counted); err != nil {
			return err
		}
		if err := o.appendSeries(tx, no, &news[no].addition, &before[i], now); err != nil {
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
	outdated := func(rec pain.Record) bool { return rec.Type == pain.TypeMedications && rec.Aliases != version }
	for n := range groups {
		if !slices.ContainsFunc(groups[n], outdated) {
			continue
		}
		changed = true
		groups[n] = slices.Clone(groups[n]) // the transaction may run again
		for i := range groups[n] {
			if rec := &groups[n][i]; outdated(*rec) {
				if rec.Value, _, err = pain.Rederived(rec.Value, pain.DateOf(rec.RecordedAt), aliases); err != nil {
					return changed, err
				}
				rec.Aliases = version
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
	lines := 0
	for i := range groups {
		lines += len(groups[i].Hashes)
	}
	claims := make([]engine.Stmt, 0, lines)
	for i := range groups {
		g := &groups[i]
		if g.ready == nil {
			if err := o.Ready(g); err != nil {
				return nil, err
			}
		}
		if clear(g.ready.claimed); numbers[i] != 0 {
			claims = append(claims, g.ready.claims...)
		}
	}
	fresh := make([][]pain.Record, len(groups))
	if len(claims) == 0 {
		return fresh, nil
	}
	if err := tx.Many(claims...); err != nil {
		return nil, err
	}
	for i := range groups {
		fresh[i] = groups[i].claimed()
	}
	return fresh, nil
}

// claimed returns the records of the lines that were claimed.
func (r *ImportedRecords) claimed() (fresh []pain.Record) {
	if !slices.Contains(r.ready.claimed, false) {
		return r.Records
	}
	for i, claimed := range r.ready.claimed {
		if claimed {
			fresh = append(fresh, r.Records[i])
		}
	}
	return fresh
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
