package patients

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// ImportedPatient is a line with a patient. A line whose patient has identifiers
// is recognised by them: Key is the hash of what identifies the patient in other
// systems, and Content that of the whole line. Any other line is recognised by
// Content.
type ImportedPatient struct {
	Content ImportHash
	Key     ImportHash
	Patient pain.Patient
	Change  journal.Change
}

// The key of a line is stored [ImportHash.Beside] the patient, so that an import
// adds keys at the end of the table, and read by the patient, whom the identifiers
// find. A patient that was imported before there were identifiers is found by the
// key itself.
const (
	insertImportKey = `INSERT INTO import_key (org_no, key_hash, content, patient_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
	selectImportKey = `SELECT content FROM import_key WHERE org_no = $1 AND key_hash = $2`
	// The join makes SQLite use the index by patient, and then the primary key.
	keysOfPatient = `SELECT k.key_hash, k.content FROM import_key i JOIN import_key k ON k.org_no = i.org_no AND k.key_hash = i.key_hash
		WHERE i.org_no = $1 AND i.patient_id = $2`
	// whereKeyOf selects the keys of a patient in the same way.
	whereKeyOf = ` WHERE org_no = $1 AND key_hash IN (SELECT key_hash FROM import_key WHERE org_no = $1 AND patient_id = $2)`
)

// standing is how a line relates to what is stored.
type standing uint8

const (
	isNew standing = iota
	isThere
	isOther // its identifier belongs to a patient with other values
	isLater // its identifier was claimed by another line of the transaction
)

func (l *ImportedPatient) keyed() bool { return l.Patient.Identifiers != (pain.Identifiers{}) }

// insertKey returns the statement that stores the key of a line for a patient.
func (o Org) insertKey(l *ImportedPatient, patientID id.Patient) engine.Stmt {
	key := l.Key.Beside(patientID)
	return engine.Stmt{SQL: insertImportKey, Args: []any{int64(o.org), key[:], l.Content[:], patientID.Bytes()}, Alike: 1}
}

// ImportPatients stores the patients of lines that were not imported before, and
// returns their number. It does so in order, in one transaction unless others
// want to write. A line that shares an identifier with an earlier line is
// decided in a later transaction, when the earlier line has become a patient or
// was refused. others has the indices of lines with an identifier of a patient
// with other values.
func (o Org) ImportPatients(ctx context.Context, lines []ImportedPatient) (added int, others []int, err error) {
	at := make([]int, len(lines)) // the indices of the lines that are left
	for i := range at {
		at[i] = i
	}
	stuck := 0
	for len(lines) > 0 {
		found, err := o.importOnce(ctx, lines)
		if err != nil {
			return added, others, err
		}
		var left []ImportedPatient
		var leftAt []int
		for i, s := range found {
			switch s {
			case isNew:
				added++
			case isOther:
				others = append(others, at[i])
			case isLater:
				left, leftAt = append(left, lines[i]), append(leftAt, at[i])
			}
		}
		if len(left) < len(lines) {
			stuck = 0
		} else if stuck++; stuck == 3 { // patients come and go as fast as they are looked for
			return added, others, errMoving
		}
		lines, at = left, leftAt
	}
	slices.Sort(others)
	return added, others, nil
}

// importOnce stores the patients of lines in one transaction. If the transaction
// ends early, the rest is left for later; the first line never is.
func (o Org) importOnce(ctx context.Context, lines []ImportedPatient) ([]standing, error) {
	found := make([]standing, len(lines))
	done, err := o.inParts(ctx, len(lines), func(n int) int { return n }, func(tx engine.Tx, from, to int) error {
		return o.importPart(tx, lines[from:to], found[from:to])
	})
	for i := range found[done:] {
		found[done+i] = isLater
	}
	return found, err
}

// importPart stores the patients of lines, and sets found to what became of
// each.
func (o Org) importPart(tx engine.Tx, lines []ImportedPatient, found []standing) error {
	stmts := make([]engine.Stmt, len(lines))
	for i := range lines {
		if l := &lines[i]; l.keyed() {
			found[i] = isNew // unless there is a key or a patient
			stmts[i] = o.readKey(l, &found[i])
		} else {
			found[i] = isLater // unless the claim or the mark says otherwise
			stmts[i] = o.claimLine(l.Content, func() { found[i] = isNew })
		}
	}
	if err := tx.Many(stmts...); err != nil {
		return err
	}
	claimed, err := o.identifyLines(tx, lines, found)
	if err != nil {
		return err
	}
	if err := o.readMarks(tx, lines, found, isLater); err != nil {
		return err
	}
	var people []*pain.Patient
	var theirs [][]pain.Identifier
	var changes []journal.Change
	for i := range lines {
		if found[i] != isNew {
			continue
		}
		people, theirs, changes = append(people, &lines[i].Patient), append(theirs, claimed[i]), append(changes, lines[i].Change)
		if lines[i].keyed() {
			tx.Last(o.insertKey(&lines[i], lines[i].Patient.ID))
		}
	}
	if len(people) > 0 {
		o.keepPatients(tx, people, theirs, changes)
	}
	return nil
}

// readKey returns the statement that sets found if a patient was imported with
// the key of a line before there were identifiers.
func (o Org) readKey(l *ImportedPatient, found *standing) engine.Stmt {
	return engine.Stmt{SQL: selectImportKey, Args: []any{int64(o.org), l.Key[:]}, Each: func(r engine.Row) error {
		if *found = isOther; bytes.Equal(r.Raw(0), l.Content[:]) {
			*found = isThere
		}
		return nil
	}}
}

// ImportedPatients returns how many of the lines were imported before. others is
// as in [Org.ImportPatients].
func (o Org) ImportedPatients(ctx context.Context, lines []ImportedPatient) (there int, others []int, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		found := make([]standing, len(lines))
		if err := o.readMarks(tx, lines, found, isNew); err != nil {
			return err
		}
		for i := range lines {
			if found[i] != isNew {
				continue
			}
			list, err := lines[i].Patient.Identifiers.List()
			if err != nil {
				return err
			}
			if found[i], _, err = o.compareLine(tx, &lines[i], list); err != nil {
				return err
			}
		}
		there, others = count(found)
		return nil
	})
	return there, others, err
}

// count returns how many lines are there, and the indices of the others.
func count(found []standing) (there int, others []int) {
	for i, s := range found {
		switch s {
		case isThere:
			there++
		case isOther:
			others = append(others, i)
		}
	}
	return there, others
}

// readMarks reads the keys or marks of the lines with a standing. A line without
// one keeps it.
func (o Org) readMarks(tx engine.Tx, lines []ImportedPatient, found []standing, of standing) error {
	var stmts []engine.Stmt
	for i := range lines {
		switch l := &lines[i]; {
		case found[i] != of:
		case l.keyed():
			stmts = append(stmts, o.readKey(l, &found[i]))
		default:
			stmts = append(stmts, o.selectLine(l.Content, func() { found[i] = isThere }))
		}
	}
	if len(stmts) == 0 {
		return nil
	}
	return tx.Many(stmts...)
}

// identifyLines claims the identifiers of new lines, and returns those of each
// line that are still to be numbered. A line with an identifier that a patient
// has is not new.
//
// Where there is a single writer, the number of a patient is known before: the
// identifiers are claimed with it, and numbered again only if a line turns out
// not to be new.
func (o Org) identifyLines(tx engine.Tx, lines []ImportedPatient, found []standing) (claimed [][]pain.Identifier, err error) {
	type wanted struct {
		pain.Identifier
		line int
		no   int64
		got  bool
	}
	next := int64(0)
	if !o.db.Shared() {
		if next, err = o.lastNo(tx); err != nil {
			return nil, err
		}
	}
	var all []wanted
	for i := range lines {
		if found[i] != isNew {
			continue
		}
		if !o.db.Shared() {
			next++
		}
		list, err := lines[i].Patient.Identifiers.List()
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			all = append(all, wanted{Identifier: one, line: i, no: next})
		}
	}
	claimed = make([][]pain.Identifier, len(lines))
	if len(all) == 0 {
		return claimed, nil
	}
	slices.SortFunc(all, func(a, b wanted) int { return cmp.Or(a.Compare(b.Identifier), cmp.Compare(a.line, b.line)) })
	stmts := make([]engine.Stmt, len(all))
	for i := range all {
		stmts[i] = o.claimAs(all[i].Identifier, all[i].no, func() { all[i].got = true })
	}
	if err := tx.Many(stmts...); err != nil {
		return nil, err
	}
	taken := make([][]pain.Identifier, len(lines))
	numbered := !o.db.Shared()
	for _, w := range all {
		if w.got {
			claimed[w.line] = append(claimed[w.line], w.Identifier)
		} else {
			taken[w.line], numbered = append(taken[w.line], w.Identifier), false
		}
	}
	if numbered {
		return make([][]pain.Identifier, len(lines)), nil
	}
	for i := range lines {
		if len(taken[i]) > 0 {
			if found[i], err = o.withdraw(tx, &lines[i], claimed[i], taken[i]); err != nil {
				return nil, err
			}
		}
	}
	return claimed, nil
}

// withdraw gives up the identifiers that a new line claimed, because patients or
// lines before it have others of its identifiers. If there is one patient with
// all values of the line, its key is stored for that patient. If there is none,
// the identifiers are those of another line.
func (o Org) withdraw(tx engine.Tx, l *ImportedPatient, claimed, taken []pain.Identifier) (standing, error) {
	found, owner, err := o.compareLine(tx, l, taken)
	if err != nil {
		return isOther, err
	}
	stmts := o.dropIdentifiers(claimed)
	switch found {
	case isThere:
		stmts = append(stmts, o.insertKey(l, owner))
	case isNew:
		found = isLater
	}
	if len(stmts) == 0 {
		return found, nil
	}
	return found, tx.Many(stmts...)
}

// compareLine looks for the patient with one of some identifiers. A line is new
// if there is none. It is there if it was imported as that patient, even if the
// patient has changed since, or if that patient has all its values.
func (o Org) compareLine(tx engine.Tx, l *ImportedPatient, list []pain.Identifier) (standing, id.Patient, error) {
	for _, one := range list {
		owner, found, err := o.owner(tx, one)
		if err != nil {
			return isOther, owner, err
		}
		if !found {
			continue
		}
		imported, err := o.compareKeys(tx, l, owner)
		if imported != isNew || err != nil {
			return imported, owner, err
		}
		p, err := o.patient(tx, readPatient, owner)
		if err != nil {
			return isOther, owner, err
		}
		same, err := p.Has(&l.Patient)
		if !same || err != nil {
			return isOther, owner, err
		}
		return isThere, owner, nil
	}
	return isNew, id.Patient{}, nil
}

// compareKeys compares a line with those that were imported as a patient. It is
// new if none has its key.
func (o Org) compareKeys(tx engine.Tx, l *ImportedPatient, patientID id.Patient) (found standing, err error) {
	err = tx.Query(keysOfPatient, func(r engine.Row) error {
		switch {
		case bytes.Equal(r.Raw(1), l.Content[:]):
			found = isThere
		case found == isNew && bytes.HasSuffix(r.Raw(0), l.Key[timeBytes:]): // beside this patient, or one that was merged into it
			found = isOther
		}
		return nil
	}, int64(o.org), patientID.Bytes())
	return found, err
}

// Referred returns the patient with an identifier, and the date of birth.
func (o Org) Referred(ctx context.Context, one pain.Identifier) (patient id.Patient, birth pain.Date, found bool, err error) {
	return o.person(ctx, selectReferred, one.System, one.Value)
}

const selectReferred = `SELECT p.id, p.date_of_birth FROM patient_identifier i JOIN patient p ON p.org_no = i.org_no AND p.patient_no = i.patient_no
	WHERE i.org_no = $1 AND i.system = $2 AND i.value = $3`

// ImportedKey returns the patient of a line with a key, and the date of birth.
func (o Org) ImportedKey(ctx context.Context, key ImportHash) (patient id.Patient, birth pain.Date, found bool, err error) {
	return o.person(ctx, `SELECT p.id, p.date_of_birth FROM import_key k JOIN patient p ON p.org_no = k.org_no AND p.id = k.patient_id
		WHERE k.org_no = $1 AND k.key_hash = $2`, key[:])
}

// person reads a patient's identifier and date of birth.
func (o Org) person(ctx context.Context, sql string, args ...any) (patient id.Patient, birth pain.Date, found bool, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(sql, func(r engine.Row) (err error) {
			found = true
			if patient, err = id.FromBytes[id.PatientKind](r.Raw(0)); err == nil {
				birth, err = pain.ParseDate(r.Text(1))
			}
			return err
		}, append([]any{int64(o.org)}, args...)...)
	})
	return patient, birth, found, err
}
