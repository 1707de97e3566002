package patients

import (
	"context"
	"slices"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// A new patient has no number before the end of its transaction. Its
// identifiers are claimed with the number 0, which no other transaction sees,
// and numbered together with the patient. Statements about several identifiers
// are in the order of [pain.Identifier.Compare], so that transactions wait for
// each other in one direction only.
const (
	claimIdentifier = `INSERT INTO patient_identifier (org_no, system, value, patient_no)
		VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
	numberIdentifier = `UPDATE patient_identifier SET patient_no = (SELECT patients FROM org_counter WHERE org_no = $1) - $4
		WHERE org_no = $1 AND system = $2 AND value = $3`
	addIdentifier = `INSERT INTO patient_identifier (org_no, system, value, patient_no)
		SELECT org_no, $2, $3, patient_no FROM patient WHERE org_no = $1 AND id = $4 ON CONFLICT DO NOTHING RETURNING patient_no`
	// Patients that were imported before there were identifiers have the key of
	// their external identifier only, which others must not claim.
	claimExternal = `INSERT INTO patient_identifier (org_no, system, value, patient_no)
		SELECT $1, $2, $3, 0 WHERE NOT EXISTS (` + ownerOfExternal + `$4) ON CONFLICT DO NOTHING RETURNING patient_no`
	addExternal = `INSERT INTO patient_identifier (org_no, system, value, patient_no)
		SELECT org_no, $2, $3, patient_no FROM patient WHERE org_no = $1 AND id = $4
		AND NOT EXISTS (` + ownerOfExternal + `$5 AND p.id <> $4) ON CONFLICT DO NOTHING RETURNING patient_no`
	ownerOfExternal   = `SELECT 1 FROM import_key k JOIN patient p ON p.org_no = k.org_no AND p.id = k.patient_id WHERE k.org_no = $1 AND k.key_hash = `
	dropIdentifier    = `DELETE FROM patient_identifier WHERE org_no = $1 AND system = $2 AND value = $3`
	detachKey         = `DELETE FROM import_key WHERE org_no = $1 AND key_hash = $2 AND patient_id = $3`
	ownerOfKey        = `SELECT p.id FROM import_key k JOIN patient p ON p.org_no = k.org_no AND p.id = k.patient_id WHERE k.org_no = $1 AND k.key_hash = $2`
	ownerOfIdentifier = `SELECT p.id FROM patient_identifier i JOIN patient p ON p.org_no = i.org_no AND p.patient_no = i.patient_no
		WHERE i.org_no = $1 AND i.system = $2 AND i.value = $3`
)

// aboutIdentifier returns one of the statements above. found is called if it
// returns a row.
func (o Org) aboutIdentifier(sql string, one pain.Identifier, found func(), more ...any) engine.Stmt {
	return engine.Stmt{SQL: sql, Args: append([]any{int64(o.org), one.System, one.Value}, more...), Each: func(engine.Row) error { found(); return nil }}
}

// claimAs returns the statement that claims an identifier for a patient with a
// number, and calls claimed unless another patient has it.
func (o Org) claimAs(one pain.Identifier, patientNo int64, claimed func()) engine.Stmt {
	return engine.Stmt{SQL: claimIdentifier, Args: []any{int64(o.org), one.System, one.Value, patientNo}, Changed: ifAny(claimed), Alike: 1}
}

// sortedIdentifiers returns identifiers in the order of statements.
func sortedIdentifiers(ids pain.Identifiers) ([]pain.Identifier, error) {
	list, err := ids.List()
	slices.SortFunc(list, pain.Identifier.Compare)
	return list, err
}

// claimIdentifiers claims the identifiers of a new patient. It returns those
// that it got, and those that other patients have.
func (o Org) claimIdentifiers(tx engine.Tx, ids pain.Identifiers) (got, taken []pain.Identifier, err error) {
	claims, err := claimsOf(ids, 0)
	if err != nil || len(claims) == 0 {
		return nil, nil, err
	}
	if err := o.settle(tx, nil, claims); err != nil {
		return nil, nil, err
	}
	for _, c := range claims {
		if c.got {
			got = append(got, c.Identifier)
		} else {
			taken = append(taken, c.Identifier)
		}
	}
	return got, taken, nil
}

// claim is a change to the identifiers of a patient: one that it loses or gets.
// A patient that is created in the transaction has no identifier in it.
type claim struct {
	pain.Identifier
	write   int // the write that needs it
	drop    bool
	patient id.Patient // zero if it is created
	got     bool
}

// claimsOf returns the claims of a new patient, in the order of statements.
func claimsOf(ids pain.Identifiers, write int) ([]claim, error) {
	list, err := sortedIdentifiers(ids)
	claims := make([]claim, len(list))
	for i, one := range list {
		claims[i] = claim{Identifier: one, write: write}
	}
	return claims, err
}

// changedClaims returns the claims of a patient whose identifiers change, in the
// order of statements, and the statements that must precede them.
func (o Org) changedClaims(old, p *pain.Patient, write int) (claims []claim, keys []engine.Stmt, err error) {
	if old.Identifiers == p.Identifiers {
		return nil, nil, nil
	}
	before, err := sortedIdentifiers(old.Identifiers)
	if err != nil {
		return nil, nil, err
	}
	after, err := sortedIdentifiers(p.Identifiers)
	if err != nil {
		return nil, nil, err
	}
	both := slices.Concat(before, after)
	slices.SortFunc(both, pain.Identifier.Compare)
	for _, one := range slices.Compact(both) {
		switch was, is := slices.Contains(before, one), slices.Contains(after, one); {
		case was && !is:
			claims = append(claims, claim{Identifier: one, write: write, drop: true, patient: p.ID})
			if one.System == pain.ExternalSystem { // it would still find the patient by the import's key
				key := ExternalKey(one.Value)
				keys = append(keys, engine.Stmt{SQL: detachKey, Args: []any{int64(o.org), key[:], p.ID.Bytes()}})
			}
		case is && !was:
			claims = append(claims, claim{Identifier: one, write: write, patient: p.ID})
		}
	}
	return claims, keys, nil
}

// settle runs the statements of claims, which must be in order, after those
// about the keys of imports, as imports do. It notes which claims succeeded.
func (o Org) settle(tx engine.Tx, keys []engine.Stmt, claims []claim) error {
	if len(claims) == 0 { // if only the order of identifiers is new
		return nil
	}
	stmts := slices.Grow(keys, len(claims))
	for i := range claims {
		c := &claims[i]
		c.got = c.drop // a transaction that runs again starts over
		switch {
		case c.drop:
			stmts = append(stmts, o.dropIdentifiers([]pain.Identifier{c.Identifier})...)
		case c.System == pain.ExternalSystem:
			key, sql, more := ExternalKey(c.Value), claimExternal, []any{}
			if !c.patient.IsZero() {
				sql, more = addExternal, append(more, c.patient.Bytes())
			}
			stmts = append(stmts, o.aboutIdentifier(sql, c.Identifier, func() { c.got = true }, append(more, key[:])...))
		case c.patient.IsZero():
			stmts = append(stmts, o.claimAs(c.Identifier, 0, func() { c.got = true }))
		default:
			stmts = append(stmts, o.aboutIdentifier(addIdentifier, c.Identifier, func() { c.got = true }, c.patient.Bytes()))
		}
	}
	return tx.Many(stmts...)
}

// identify claims all identifiers of a new patient, or fails.
func (o Org) identify(tx engine.Tx, p *pain.Patient) ([]pain.Identifier, error) {
	got, taken, err := o.claimIdentifiers(tx, p.Identifiers)
	if err == nil && len(taken) > 0 {
		err = o.takenFault(tx, taken[0])
	}
	return got, err
}

// numberIdentifiers gives claimed identifiers the number of their patient, as the
// last step of a transaction. after is the number of patients with higher numbers.
func (o Org) numberIdentifiers(tx engine.Tx, claimed []pain.Identifier, after int64) {
	for _, one := range claimed {
		tx.Last(engine.Stmt{SQL: numberIdentifier, Args: []any{int64(o.org), one.System, one.Value, after}})
	}
}

// dropIdentifiers returns the statements that remove identifiers.
func (o Org) dropIdentifiers(list []pain.Identifier) []engine.Stmt {
	stmts := make([]engine.Stmt, len(list))
	for i, one := range list {
		stmts[i] = engine.Stmt{SQL: dropIdentifier, Args: []any{int64(o.org), one.System, one.Value}}
	}
	return stmts
}

// reidentify replaces the identifiers of a patient whose row is locked.
func (o Org) reidentify(tx engine.Tx, old, p *pain.Patient) error {
	claims, keys, err := o.changedClaims(old, p, 0)
	if err != nil {
		return err
	}
	if err := o.settle(tx, keys, claims); err != nil {
		return err
	}
	for i := range claims {
		if !claims[i].got {
			return o.takenFault(tx, claims[i].Identifier)
		}
	}
	return nil
}

// takenFault returns the fault of an identifier that another patient has.
func (o Org) takenFault(tx engine.Tx, one pain.Identifier) error {
	owner, found, err := o.owner(tx, one)
	if err == nil && !found {
		owner, found, err = o.keyOwner(tx, one)
	}
	switch {
	case err != nil:
		return err
	case !found:
		return errMoving
	}
	return fault.New(fault.Conflict, "Another patient has this identifier; details.patient_id is that patient.",
		"patient_id", owner.String(), "identifier", map[string]any{"system": one.System, "value": one.Value})
}

// errMoving is returned if the owner of an identifier was gone by the time it
// was read.
var errMoving = fault.Away("Another request is changing the patient with this identifier; try again.", nil)

// owner finds the patient with an identifier.
func (o Org) owner(tx engine.Tx, one pain.Identifier) (owner id.Patient, found bool, err error) {
	return o.firstID(tx, ownerOfIdentifier, one.System, one.Value)
}

// keyOwner finds the patient that was imported with an external identifier, also
// before there were identifiers.
func (o Org) keyOwner(tx engine.Tx, one pain.Identifier) (owner id.Patient, found bool, err error) {
	if one.System != pain.ExternalSystem {
		return owner, false, nil
	}
	key := ExternalKey(one.Value)
	return o.firstID(tx, ownerOfKey, key[:])
}

// firstID returns the patient that a statement selects.
func (o Org) firstID(tx engine.Tx, sql string, args ...any) (patient id.Patient, found bool, err error) {
	err = tx.Query(sql, func(r engine.Row) (err error) {
		found = true
		patient, err = id.FromBytes[id.PatientKind](r.Raw(0))
		return err
	}, append([]any{int64(o.org)}, args...)...)
	return patient, found, err
}

// Put is what becomes of a patient by [Org.PutPatient]. A nil Change means that
// the patient stays as it is.
type Put struct {
	Patient pain.Patient
	Change  *journal.Change
	Outcome idempotency.Outcome
}

// PutPatient creates or changes the patient with an identifier, and returns the
// outcome or that of an earlier request with the same key. rule gets the
// patient, or nil if there is none. It may be called several times; the patient
// that it returns has the identifier.
//
// Of concurrent calls for an identifier that no patient has, one creates the
// patient. The others wait for it and then find that patient.
func (o Org) PutPatient(ctx context.Context, one pain.Identifier, now time.Time, key *idempotency.Once, rule func(old *pain.Patient) (Put, error)) (idempotency.Outcome, error) {
	return o.once.Do(ctx, key, now, func(tx engine.Tx) (idempotency.Outcome, error) {
		const tries = 3 // the patient may be created or lose the identifier in between
		for range tries {
			old, err := o.identified(tx, one)
			if err != nil {
				return idempotency.Outcome{}, err
			}
			put, err := rule(old)
			switch {
			case err != nil:
				return put.Outcome, err
			case old == nil:
				if created, err := o.createAs(tx, one, &put); created || err != nil {
					return put.Outcome, err
				}
				continue
			case put.Change != nil:
				err = o.keepChange(tx, old, &put.Patient, *put.Change)
			}
			return put.Outcome, err
		}
		return idempotency.Outcome{}, errMoving
	})
}

// identified reads the patient with an identifier for update, or nil. A patient
// that was imported before there were identifiers has a key instead.
func (o Org) identified(tx engine.Tx, one pain.Identifier) (*pain.Patient, error) {
	owner, found, err := o.owner(tx, one)
	byKey := false
	if err == nil && !found {
		owner, byKey, err = o.keyOwner(tx, one)
	}
	if err != nil || !found && !byKey {
		return nil, err
	}
	// Only the patient is locked, and before its identifiers, as everywhere.
	p, err := o.patient(tx, selectPatient, owner)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.PatientMerged) { // since it was found
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := p.Identifiers.List()
	if err != nil || found && !slices.Contains(list, one) {
		return nil, err
	}
	return &p, nil
}

// createAs stores a new patient, unless another has got the identifier since.
func (o Org) createAs(tx engine.Tx, one pain.Identifier, put *Put) (created bool, err error) {
	got, taken, err := o.claimIdentifiers(tx, put.Patient.Identifiers)
	switch {
	case err != nil:
		return false, err
	case slices.Contains(taken, one):
		if len(got) > 0 {
			err = tx.Many(o.dropIdentifiers(got)...)
		}
		return false, err
	case len(taken) > 0:
		return false, o.takenFault(tx, taken[0])
	}
	o.keepPatient(tx, &put.Patient, got, *put.Change)
	return true, nil
}

// withIdentifier and withValue select the patients with an identifier, and those
// with its value in any system. The join makes SQLite use the index by value, and
// then the primary key.
const (
	withIdentifier = `SELECT patient_no FROM patient_identifier WHERE org_no = $1 AND value = $2 AND system = $3`
	withValue      = `SELECT i.patient_no FROM patient_identifier v JOIN patient_identifier i ON i.org_no = v.org_no AND i.system = v.system AND i.value = v.value
		WHERE v.org_no = $1 AND v.value = $2`
)

// IdentifiedPatients calls each for the patients with an identifier, in order
// of creation. A system of "" stands for any. A patient may have the value in
// several systems, and is passed once.
func (o Org) IdentifiedPatients(ctx context.Context, one pain.Identifier, each func(PatientItem)) error {
	numbers, args := withValue, []any{int64(o.org), one.Value}
	if one.System != "" {
		numbers, args = withIdentifier, append(args, one.System)
	}
	if one.System == "" || one.System == pain.ExternalSystem { // or it was imported before there were identifiers
		key := ExternalKey(one.Value)
		args = append(args, key[:])
		numbers += ` UNION SELECT q.patient_no FROM import_key k JOIN patient q ON q.org_no = k.org_no AND q.id = k.patient_id
			WHERE k.org_no = $1 AND k.key_hash = $` + strconv.Itoa(len(args))
	}
	return o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT patient_no, id, created_at, name, date_of_birth, identifiers FROM patient
			WHERE org_no = $1 AND patient_no IN (`+numbers+`) ORDER BY patient_no`, eachSearched(each), args...)
	})
}
