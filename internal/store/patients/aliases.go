package patients

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/signal"
)

// An organisation's aliases are few and needed for every write of a medication,
// so each node caches them by version. Correctness does not depend on the
// cache: the version is read together with the patient, and the transaction
// that stores a medication reads it again, under a lock that excludes changes
// of the aliases. When a change is committed, all medications derived without
// it are therefore visible and can be derived again.

// Alias is an organisation's own name for a medicine.
type Alias struct {
	ID id.Alias
	pain.Alias
	CreatedBy string // the identifier of a client or member
	CreatedAt time.Time
}

// mostAliases is the maximum number of aliases of an organisation. Some tests
// reduce it.
var mostAliases int64 = 5000

// errAliasesChanged reports that a medication was derived with aliases that are
// no longer current.
var errAliasesChanged = errors.New("the organisation's aliases have changed")

// AliasesChanged reports whether a write was rejected because the aliases
// changed after its records were made. The caller must make the records again.
func AliasesChanged(err error) bool { return errors.Is(err, errAliasesChanged) }

// rememberedAliases caches the newest aliases that this process has seen.
type rememberedAliases struct {
	mu     sync.Mutex
	of     map[access.OrgNo]*pain.Aliases
	signal *signal.Signal // broadcast after a change by this process
}

func (m *rememberedAliases) get(org access.OrgNo, version int64) (a *pain.Aliases, ok bool) {
	if version == 0 {
		return nil, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a = m.of[org]
	return a, a != nil && a.Version() == version
}

func (m *rememberedAliases) put(org access.OrgNo, a *pain.Aliases) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[access.OrgNo]*pain.Aliases{}
	}
	if m.of[org].Version() < a.Version() {
		m.of[org] = a
	}
}

// selectAliasVersion returns the statement that reads the version of the
// aliases.
func (o Org) selectAliasVersion(version *int64) engine.Stmt {
	return engine.Stmt{SQL: `SELECT coalesce((SELECT aliases FROM derivation WHERE org_no = $1), 0)`, Args: []any{int64(o.org)}, Each: func(r engine.Row) error {
		*version = r.Int(0)
		return nil
	}}
}

// Aliases returns the current aliases.
func (o Org) Aliases(ctx context.Context) (*pain.Aliases, error) {
	var version int64
	if err := o.db.Read(ctx, func(tx engine.Tx) error { return tx.Many(o.selectAliasVersion(&version)) }); err != nil {
		return nil, err
	}
	return o.aliases(ctx, version)
}

// aliases returns the aliases of a version, or newer ones.
func (o Org) aliases(ctx context.Context, version int64) (a *pain.Aliases, err error) {
	if a, ok := o.remembered.get(o.org, version); ok {
		return a, nil
	}
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		a, err = o.readAliases(tx)
		return err
	})
	if err == nil {
		o.remembered.put(o.org, a)
	}
	return a, err
}

// readAliases reads all aliases and their version, which must not change in
// between.
func (o Org) readAliases(tx engine.Tx) (*pain.Aliases, error) {
	var version int64
	codes := map[string]string{}
	err := tx.Many(o.selectAliasVersion(&version), engine.Stmt{SQL: `SELECT folded, rxnorm_code FROM medicine_alias WHERE org_no = $1`,
		Args: []any{int64(o.org)}, Each: func(r engine.Row) error {
			codes[r.Text(0)] = r.Text(1)
			return nil
		}})
	return pain.NewAliases(version, codes), err
}

// Intake returns what is needed to accept records for a patient: the date of
// birth and the organisation's aliases.
func (o Org) Intake(ctx context.Context, patientID id.Patient) (birth pain.Date, aliases *pain.Aliases, err error) {
	version, found := int64(0), false
	err = o.db.Lookup(ctx, `SELECT date_of_birth, coalesce((SELECT aliases FROM derivation WHERE org_no = $1), 0) FROM patient WHERE org_no = $1 AND id = $2`, func(r engine.Row) error {
		found = true
		birth, _ = pain.ParseDate(r.Text(0))
		version = r.Int(1)
		return nil
	}, int64(o.org), patientID.Bytes())
	if err == nil && !found {
		err = o.whyAbsent(ctx, patientID)
	}
	if err != nil {
		return birth, nil, err
	}
	aliases, err = o.aliases(ctx, version)
	return birth, aliases, err
}

// aliasLock is the key of the lock that changes of the aliases hold
// exclusively, and writes of medications hold shared.
func (o Org) aliasLock() int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "medicine aliases %d", o.org))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// holdAliases returns the statements that lock the aliases against changes
// until the transaction ends, and read their version. They run after patients
// are locked, so that no holder of this lock waits for a patient.
func (o Org) holdAliases(version *int64) (stmts []engine.Stmt) {
	if lock := o.db.Dialect().ShareKey; lock != "" {
		stmts = append(stmts, engine.Stmt{SQL: lock, Args: []any{o.aliasLock()}})
	}
	return append(stmts, o.selectAliasVersion(version))
}

// currentAliases locks the aliases as holdAliases does, and returns them.
func (o Org) currentAliases(tx engine.Tx) (*pain.Aliases, error) {
	var version int64
	if err := tx.Many(o.holdAliases(&version)...); err != nil {
		return nil, err
	}
	if aliases, ok := o.remembered.get(o.org, version); ok {
		return aliases, nil
	}
	return o.readAliases(tx)
}

// understoodBy returns the version of the aliases with which the medications
// among records were derived. ok is false if there are none.
func understoodBy(records []pain.Record) (version int64, ok bool) {
	for i := range records {
		if records[i].Type == pain.TypeMedications {
			return records[i].Aliases, true
		}
	}
	return 0, false
}

const aliasColumns = `id, name, rxnorm_code, created_by, created_at`

func scanAlias(r engine.Row) (a Alias, err error) {
	a = Alias{Alias: pain.Alias{Name: r.Text(1), RxNormCode: r.Text(2)}, CreatedBy: r.Text(3), CreatedAt: engine.FromMillis(r.Int(4))}
	a.ID, err = id.FromBytes[id.AliasKind](r.Raw(0))
	return a, err
}

// AliasPage returns a page of the aliases, ordered by name, and their total
// number.
func (o Org) AliasPage(ctx context.Context, page, limit int64) (list []Alias, total int64, err error) {
	byName := engine.Listing[Alias]{Table: "medicine_alias", Columns: aliasColumns, Order: `folded COLLATE ` + o.db.Dialect().Binary, Scan: scanAlias}
	return byName.Page(ctx, o.db, int64(o.org), page, limit)
}

// Alias reads one alias.
func (o Org) Alias(ctx context.Context, aliasID id.Alias) (Alias, error) {
	return engine.Get(ctx, o.db, func(tx engine.Tx) (Alias, error) { return o.alias(tx, aliasID) })
}

func (o Org) alias(tx engine.Tx, aliasID id.Alias) (a Alias, err error) {
	found := false
	err = tx.Query(`SELECT `+aliasColumns+` FROM medicine_alias WHERE org_no = $1 AND id = $2`, func(r engine.Row) (err error) {
		found = true
		a, err = scanAlias(r)
		return err
	}, int64(o.org), aliasID.Bytes())
	if err == nil && !found {
		err = fault.Missing("alias", aliasID.String())
	}
	return a, err
}

// CreateAlias stores a new alias and schedules the derivation of stored
// medications. It returns the outcome, or that of an earlier request with the
// same key. If the organisation already has the name, the error is a CONFLICT.
func (o Org) CreateAlias(ctx context.Context, a *Alias, c journal.Change, key *idempotency.Once, out idempotency.Outcome) (idempotency.Outcome, error) {
	out, err := o.once.Do(ctx, key, a.CreatedAt, func(tx engine.Tx) (idempotency.Outcome, error) {
		if err := o.lockAliases(tx); err != nil {
			return out, err
		}
		if err := o.freeName(tx, a); err != nil {
			return out, err
		}
		var count int64
		if _, err := engine.One(tx, `SELECT count(*) FROM medicine_alias WHERE org_no = $1`, func(r engine.Row) { count = r.Int(0) }, int64(o.org)); err != nil {
			return out, err
		}
		if count >= mostAliases {
			return out, fault.New(fault.Conflict, fmt.Sprintf("An organisation can have at most %d aliases; delete one first.", mostAliases), "limit", mostAliases)
		}
		tx.Last(engine.Stmt{SQL: `INSERT INTO medicine_alias (org_no, id, folded, name, rxnorm_code, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			Args: []any{int64(o.org), a.ID.Bytes(), a.Folded(), a.Name, a.RxNormCode, a.CreatedBy, engine.Millis(a.CreatedAt)}})
		o.changeAliases(tx, c)
		return out, nil
	})
	return out, o.aliasesChanged(err)
}

// UpdateAlias reads an alias, lets rule change its name or code, and stores the
// result with the change that rule returns. A nil Change means that nothing
// changed.
func (o Org) UpdateAlias(ctx context.Context, aliasID id.Alias, rule func(old pain.Alias) (pain.Alias, *journal.Change, error)) (a Alias, err error) {
	changed := false
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		if err := o.lockAliases(tx); err != nil {
			return err
		}
		if a, err = o.alias(tx, aliasID); err != nil {
			return err
		}
		updated, c, err := rule(a.Alias)
		if changed = c != nil; err != nil || !changed {
			return err
		}
		a.Alias = updated
		if err := o.freeName(tx, &a); err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `UPDATE medicine_alias SET folded = $3, name = $4, rxnorm_code = $5 WHERE org_no = $1 AND id = $2`,
			Args: []any{int64(o.org), aliasID.Bytes(), a.Folded(), a.Name, a.RxNormCode}})
		o.changeAliases(tx, *c)
		return nil
	})
	if changed {
		err = o.aliasesChanged(err)
	}
	return a, err
}

// DeleteAlias deletes an alias and stores the change that change returns.
func (o Org) DeleteAlias(ctx context.Context, aliasID id.Alias, change func(old pain.Alias) journal.Change) error {
	return o.aliasesChanged(o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		if err := o.lockAliases(tx); err != nil {
			return err
		}
		a, err := o.alias(tx, aliasID)
		if err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `DELETE FROM medicine_alias WHERE org_no = $1 AND id = $2`, Args: []any{int64(o.org), aliasID.Bytes()}})
		o.changeAliases(tx, change(a.Alias))
		return nil
	}))
}

// lockAliases waits for writes of medications, and excludes them and other
// changes of the aliases.
func (o Org) lockAliases(tx engine.Tx) error {
	if lock := o.db.Dialect().LockKey; lock != "" {
		return tx.Many(engine.Stmt{SQL: lock, Args: []any{o.aliasLock()}})
	}
	return nil
}

// freeName returns an error if another alias has the name.
func (o Org) freeName(tx engine.Tx, a *Alias) error {
	return tx.Query(`SELECT `+aliasColumns+` FROM medicine_alias WHERE org_no = $1 AND folded = $2`, func(r engine.Row) error {
		other, err := scanAlias(r)
		if err == nil && other.ID != a.ID {
			err = fault.New(fault.Conflict, "An alias with this name already exists; change or delete it.", "id", other.ID.String(), "name", other.Name)
		}
		return err
	}, int64(o.org), a.Folded())
}

// changeAliases gives the aliases a new version, which makes all medications
// due for derivation.
func (o Org) changeAliases(tx engine.Tx, c journal.Change) {
	tx.Last(engine.Stmt{SQL: `INSERT INTO derivation (org_no, rules, patient_no, aliases) VALUES ($1, $2, 0, 1)
		ON CONFLICT (org_no) DO UPDATE SET patient_no = 0, aliases = derivation.aliases + 1`, Args: []any{int64(o.org), pain.Derivation}})
	tx.Last(o.journal.Entry(o.org, c)...)
}

// aliasesChanged wakes the worker that derives medications, after a successful
// change.
func (o Org) aliasesChanged(err error) error {
	if err == nil {
		o.remembered.signal.Broadcast()
	}
	return err
}

// AliasChanges lists the differences between two versions of an alias, for the
// audit log. The zero Alias stands for none.
func AliasChanges(old, updated pain.Alias) (changes []audit.Change) {
	if old.Name != updated.Name {
		changes = append(changes, audit.Change{Field: "name", Before: old.Name, After: updated.Name})
	}
	if old.RxNormCode != updated.RxNormCode {
		changes = append(changes, audit.Change{Field: "rxnorm_code", Before: old.RxNormCode, After: updated.RxNormCode})
	}
	return changes
}
