package patients

import (
	"context"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// CreatePatient stores a new patient and returns the outcome, or that of an
// earlier request with the same key.
//
// The number is assigned last, together with COMMIT: numbers are given without
// gaps, and a patient never becomes visible before one with a lower number.
func (o Org) CreatePatient(ctx context.Context, p *pain.Patient, c journal.Change, key *idempotency.Once, out idempotency.Outcome) (idempotency.Outcome, error) {
	if key == nil && p.Identifiers == (pain.Identifiers{}) { // there is nothing to look up first
		return out, o.creating.Do(ctx, int64(o.org), newPatient{p, c})
	}
	return o.once.Do(ctx, key, p.CreatedAt, func(tx engine.Tx) (idempotency.Outcome, error) {
		claimed, err := o.identify(tx, p)
		if err == nil {
			o.keepPatient(tx, p, claimed, c)
		}
		return out, err
	})
}

// newPatient is a patient to store, without identifiers.
type newPatient struct {
	*pain.Patient
	change journal.Change
}

// create stores new patients of an organisation.
func (t *tables) create(tx engine.Tx, org int64, list []newPatient) {
	people, changes := make([]*pain.Patient, len(list)), make([]journal.Change, len(list))
	for i, p := range list {
		people[i], changes[i] = p.Patient, p.change
	}
	t.of(access.OrgNo(org)).keepPatients(tx, people, make([][]pain.Identifier, len(list)), changes)
}

// keepPatient stores a new patient, whose identifiers were claimed.
func (o Org) keepPatient(tx engine.Tx, p *pain.Patient, claimed []pain.Identifier, c journal.Change) {
	o.keepPatients(tx, []*pain.Patient{p}, [][]pain.Identifier{claimed}, []journal.Change{c})
}

// keepPatients stores new patients with consecutive numbers.
func (o Org) keepPatients(tx engine.Tx, people []*pain.Patient, claimed [][]pain.Identifier, changes []journal.Change) {
	tx.Last(o.journal.Entry(o.org, changes...)...)
	insert, last := insertPatient, func(after int64) any { return after }
	count := engine.Stmt{SQL: `UPDATE org_counter SET patients = patients + $2 WHERE org_no = $1`, Args: []any{int64(o.org), int64(len(people))}}
	switch d := o.db.Dialect(); {
	case d.Distributed:
		insert = insertPatientNumbered
		last = returnsNumber(&count)
	case !d.Shared:
		insert = insertPatientAlone
	}
	tx.Last(count)
	for i, p := range people {
		after := int64(len(people) - 1 - i) // the number of patients with higher numbers
		tx.Last(engine.Stmt{SQL: insert, Alike: 1,
			Args: p.AppendTexts([]any{int64(o.org), p.ID.Bytes(), p.Version, engine.Millis(p.CreatedAt), p.Name, p.DateOfBirth.String(), p.MedicalHistory.JSON(), p.Identifiers.JSON(), last(after)})})
	}
	for i := range people {
		o.numberIdentifiers(tx, claimed[i], int64(len(people)-1-i))
	}
}

// returnsNumber lets the statement that counts new patients return the highest
// number. It returns the argument for the number of the patient with some after
// it.
func returnsNumber(count *engine.Stmt) func(after int64) any {
	highest := int64(0)
	count.SQL += ` RETURNING patients`
	count.Each = func(r engine.Row) error {
		highest = r.Int(0)
		return nil
	}
	return func(after int64) any {
		return engine.Late(func() (int64, bool) { return highest - after, highest > 0 })
	}
}

// The statements with all columns of a patient.
var (
	insertPatient = withTexts(`INSERT INTO patient (org_no, patient_no, id, version, created_at, name, date_of_birth, medical_history, identifiers/*, texts*/)
		SELECT $1, patients - $9, $2, $3, $4, $5, $6, $7, $8/*, $texts*/ FROM org_counter WHERE org_no = $1`, 10)
	// insertPatientAlone is the same for SQLite, which copies pages before an
	// INSERT ... SELECT to be able to undo it alone. Citus does not have this
	// form.
	insertPatientAlone = withTexts(`INSERT INTO patient (org_no, patient_no, id, version, created_at, name, date_of_birth, medical_history, identifiers/*, texts*/)
		VALUES ($1, (SELECT patients FROM org_counter WHERE org_no = $1) - $9, $2, $3, $4, $5, $6, $7, $8/*, $texts*/)`, 10)
	// insertPatientNumbered is the same for Citus, which can only insert what it
	// selects by planning the statement for every shard, every time.
	insertPatientNumbered = withTexts(`INSERT INTO patient (org_no, patient_no, id, version, created_at, name, date_of_birth, medical_history, identifiers/*, texts*/)
		VALUES ($1, $9, $2, $3, $4, $5, $6, $7, $8/*, $texts*/)`, 10)
	selectPatient = withTexts(`SELECT version, created_at, name, date_of_birth, medical_history, identifiers/*, texts*/
		FROM patient WHERE org_no = $1 AND id = $2 /*FOR UPDATE*/`, 0)
	readPatient = withTexts(`SELECT version, created_at, name, date_of_birth, medical_history, identifiers/*, texts*/
		FROM patient WHERE org_no = $1 AND id = $2`, 0)
	updatePatient = withTexts(`UPDATE patient SET version = $3, name = $4, date_of_birth = $5, medical_history = $6, identifiers = $7, updated_at = $8/*, texts = $texts*/
		WHERE org_no = $1 AND id = $2`, 9)
)

// firstText is the column of the first text in selectPatient and readPatient.
const firstText = 6

// withTexts inserts the columns of [pain.TextFields] into a statement; their
// arguments are numbered from first.
func withTexts(sql string, first int) string {
	var columns, arguments, both strings.Builder
	for i, f := range pain.TextFields() {
		argument := "$" + strconv.Itoa(first+i)
		columns.WriteString(", " + f.Column)
		arguments.WriteString(", " + argument)
		both.WriteString(", " + f.Column + " = " + argument)
	}
	return strings.NewReplacer("/*, texts*/", columns.String(), "/*, $texts*/", arguments.String(), "/*, texts = $texts*/", both.String()).Replace(sql)
}

// Patient reads one patient.
func (o Org) Patient(ctx context.Context, patientID id.Patient) (p pain.Patient, err error) {
	found := false
	err = o.db.Lookup(ctx, readPatient, func(r engine.Row) (err error) {
		found = true
		p, err = scanPatient(r, patientID)
		return err
	}, int64(o.org), patientID.Bytes())
	if err == nil && !found {
		err = o.whyAbsent(ctx, patientID)
	}
	return p, err
}

// PatientRow is a patient as stored. Its texts are valid only during the call
// they are passed to.
type PatientRow = pain.Row[[]byte]

// ShowPatient reads one patient for callers that only print it.
func (o Org) ShowPatient(ctx context.Context, patientID id.Patient, show func(PatientRow)) error {
	found := false
	err := o.db.Lookup(ctx, readPatient, func(r engine.Row) error {
		found = true
		row := PatientRow{ID: patientID, Version: r.Int(0), CreatedAt: engine.FromMillis(r.Int(1)), Name: r.Raw(2), DateOfBirth: r.Raw(3), MedicalHistory: r.Raw(4), Identifiers: r.Raw(5)}
		for i := range row.Texts {
			row.Texts[i] = r.Raw(firstText + i)
		}
		show(row)
		return nil
	}, int64(o.org), patientID.Bytes())
	if err == nil && !found {
		err = o.whyAbsent(ctx, patientID)
	}
	return err
}

// whyAbsent returns the error for a patient that was not found.
func (o Org) whyAbsent(ctx context.Context, patientID id.Patient) error {
	return o.db.Read(ctx, func(tx engine.Tx) error { return o.absent(tx, patientID) })
}

func (o Org) patient(tx engine.Tx, sql string, patientID id.Patient) (pain.Patient, error) {
	return onePatient(tx, o, sql, patientID, scanPatient)
}

// onePatient reads a patient with a statement whose arguments are the
// organisation and the identifier.
func onePatient[T any](tx engine.Tx, o Org, sql string, patientID id.Patient, scan func(engine.Row, id.Patient) (T, error)) (p T, err error) {
	found := false
	err = tx.Query(sql, func(r engine.Row) (err error) {
		found = true
		p, err = scan(r, patientID)
		return err
	}, int64(o.org), patientID.Bytes())
	if err == nil && !found {
		err = o.absent(tx, patientID)
	}
	return p, err
}

// scanPatient reads the columns of readPatient.
func scanPatient(r engine.Row, patientID id.Patient) (pain.Patient, error) {
	birth, err := pain.ParseDate(r.Text(3))
	p := pain.Patient{
		ID: patientID, Version: r.Int(0), CreatedAt: engine.FromMillis(r.Int(1)), Name: r.Text(2), DateOfBirth: birth,
		MedicalHistory: pain.StoredHistory(r.Text(4)), Identifiers: pain.StoredIdentifiers(r.Text(5)),
	}
	p.SetTexts(func(i int) string { return r.Text(firstText + i) })
	return p, err
}

// UpdatePatient reads a patient, lets rule change it, and stores the result
// with the change that rule returns. A nil Change means that nothing changed.
func (o Org) UpdatePatient(ctx context.Context, patientID id.Patient, rule func(old pain.Patient) (pain.Patient, *journal.Change, error)) (p pain.Patient, err error) {
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		old, err := o.patient(tx, selectPatient, patientID)
		if err != nil {
			return err
		}
		var c *journal.Change
		if p, c, err = rule(old); err != nil || c == nil {
			return err
		}
		return o.keepChange(tx, &old, &p, *c)
	})
	return p, err
}

// keepChange stores a patient that was read for update.
func (o Org) keepChange(tx engine.Tx, old, p *pain.Patient, c journal.Change) error {
	if err := o.reidentify(tx, old, p); err != nil {
		return err
	}
	if err := o.followHistory(tx, old, p); err != nil {
		return err
	}
	tx.Last(o.changePatient(p, c.Audit.At))
	tx.Last(o.journal.Entry(o.org, c)...)
	return nil
}

// changePatient returns the statement that stores a changed patient.
func (o Org) changePatient(p *pain.Patient, at time.Time) engine.Stmt {
	return engine.Stmt{SQL: updatePatient,
		Args: p.AppendTexts([]any{int64(o.org), p.ID.Bytes(), p.Version, p.Name, p.DateOfBirth.String(), p.MedicalHistory.JSON(), p.Identifiers.JSON(), engine.Millis(at)})}
}

// PatientItem is a patient in a list. Its texts are valid only during the call
// they are passed to.
type PatientItem struct {
	No                int64
	ID                id.Patient
	CreatedAt         time.Time
	Name, DateOfBirth []byte
	// Identifiers is JSON, as accepted by [pain.StoredIdentifiers]. It is set
	// where patients are read for a search, not on pages.
	Identifiers []byte
}

// scanItem reads a patient of a list, whose first columns are patient_no, id,
// created_at, name and date_of_birth.
func scanItem(r engine.Row) (PatientItem, error) {
	patientID, err := id.FromBytes[id.PatientKind](r.Raw(1))
	return PatientItem{No: r.Int(0), ID: patientID, CreatedAt: engine.FromMillis(r.Int(2)), Name: r.Raw(3), DateOfBirth: r.Raw(4)}, err
}

// eachItem returns a function that passes the rows of a list to each.
func eachItem(each func(PatientItem)) func(engine.Row) error {
	return func(r engine.Row) error {
		item, err := scanItem(r)
		if err == nil {
			each(item)
		}
		return err
	}
}

// eachSearched is like eachItem, with the identifiers in a sixth column.
func eachSearched(each func(PatientItem)) func(engine.Row) error {
	return func(r engine.Row) error {
		item, err := scanItem(r)
		if err == nil {
			item.Identifiers = r.Raw(5)
			each(item)
		}
		return err
	}
}

// These statements read a page of an organisation without holes. PostgreSQL only
// expects few numbers between bounds that are constants or subqueries; with
// those of a joined row, it reads all patients.
const (
	densePage = `SELECT p.patient_no, p.id, p.created_at, p.name, p.date_of_birth, c.patients, c.gone FROM org_counter c
		LEFT JOIN patient p ON p.org_no = c.org_no AND p.patient_no BETWEEN $2 AND $3 AND c.gone = 0
		WHERE c.org_no = $1 ORDER BY p.patient_no`
	denseLatest = `SELECT p.patient_no, p.id, p.created_at, p.name, p.date_of_birth, (SELECT patients FROM org_counter WHERE org_no = $1), CAST(0 AS BIGINT) FROM patient p
		WHERE p.org_no = $1 AND p.patient_no BETWEEN (SELECT patients FROM org_counter WHERE org_no = $1) - $3 + 1
			AND (SELECT CASE gone WHEN 0 THEN patients - $2 ELSE 0 END FROM org_counter WHERE org_no = $1)
		ORDER BY p.patient_no DESC`
)

// PatientPage calls each for the patients of a page in order of creation, and
// returns the exact total, both from one snapshot. Unless patients were merged
// or erased, numbers are dense, so deep pages cost the same as the first. The
// context may be that of a lookup: without a deadline, it waits about a minute.
func (o Org) PatientPage(ctx context.Context, page, limit int64, each func(PatientItem)) (total int64, err error) {
	first := (page-1)*limit + 1
	total, gone, err := o.patientPage(ctx, densePage, first, first+limit-1, each)
	if gone > 0 {
		return o.pageWithHoles(ctx, page, limit, false, each)
	}
	return total, err
}

// LatestPatients is like [Org.PatientPage], latest first.
func (o Org) LatestPatients(ctx context.Context, page, limit int64, each func(PatientItem)) (total int64, err error) {
	skip := (page - 1) * limit
	total, _, err = o.patientPage(ctx, denseLatest, skip, skip+limit, each)
	if total == 0 && err == nil { // the page is past the end, or there are holes
		return o.pageWithHoles(ctx, page, limit, true, each)
	}
	return total, err
}

// patientPage reads a page of numbers, the total, and how many patients are
// gone; the last two from the first row, because a page has many.
func (o Org) patientPage(ctx context.Context, sql string, from, to int64, each func(PatientItem)) (total, gone int64, err error) {
	begun := false
	err = o.db.Lookup(ctx, sql, func(r engine.Row) error {
		if !begun {
			begun = true
			if total, gone = r.Int(5), r.Int(6); r.IsNull(0) {
				return nil // the page is past the end, or there are holes
			}
		}
		item, err := scanItem(r)
		if err == nil {
			each(item)
		}
		return err
	}, int64(o.org), from, to)
	return total, gone, err
}

// lastNo returns the highest number given to a patient.
func (o Org) lastNo(tx engine.Tx) (last int64, err error) {
	_, err = engine.One(tx, `SELECT patients FROM org_counter WHERE org_no = $1`, func(r engine.Row) { last = r.Int(0) }, int64(o.org))
	return last, err
}

// PatientItems calls each for the patients with these numbers, in the order in
// which they are given.
func (o Org) PatientItems(ctx context.Context, numbers []int64, each func(PatientItem)) error {
	list := make([]byte, 0, 8*len(numbers)+2)
	for i, no := range numbers {
		list = append(list, "[,"[min(i, 1)])
		list = strconv.AppendInt(list, no, 10)
	}
	if len(numbers) == 0 {
		return nil
	}
	return o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(o.db.Dialect().Numbered, eachItem(each), int64(o.org), string(append(list, ']')))
	})
}

// Head returns the latest position of the journal and the highest number given
// to a patient, from one snapshot.
func (o Org) Head(ctx context.Context) (head journal.Pos, lastNo int64, err error) {
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		tx.Last(journal.ReadHead(o.org, &head), engine.Stmt{SQL: `SELECT patients FROM org_counter WHERE org_no = $1`, Args: []any{int64(o.org)}, Each: func(r engine.Row) error {
			lastNo = r.Int(0)
			return nil
		}})
		return nil
	})
	return head, lastNo, err
}

// PatientRange calls each for the patients numbered first to last, with their
// identifiers.
func (o Org) PatientRange(ctx context.Context, first, last int64, each func(PatientItem)) error {
	return o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT patient_no, id, created_at, name, date_of_birth, identifiers FROM patient WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 ORDER BY patient_no`,
			eachSearched(each), int64(o.org), first, last)
	})
}
