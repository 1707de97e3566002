package patients

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// Values derived from a medication are stored with it, and in the patient's
// series. When the rules or an organisation's aliases change, all of them are
// derived again in the background: one patient at a time, each in its own
// transaction, while nodes of this version and the previous one are running.
// Progress is stored for each organisation, so that it continues after a
// restart.

// derivedAtOnce is the number of patients examined at a time. Some tests reduce
// it.
var derivedAtOnce int64 = 100

// deriveEvery is how often a node checks for organisations that are not done.
const deriveEvery = time.Hour

// aliasesEvery is how often it checks whether another node changed aliases.
// Some tests reduce it.
var aliasesEvery = 10 * time.Second

// KeepDerived derives again what was not derived with this program's rules and
// the organisations' current aliases: at once, after every change of aliases,
// and every hour, until the context ends.
func (s System) KeepDerived(ctx context.Context) error {
	for {
		changed := s.remembered.signal.Wait()
		versions, err := s.aliasVersions(ctx)
		if err == nil || errors.Is(err, engine.ErrPart) {
			err = errors.Join(err, s.Rederive(ctx))
		}
		if err != nil && ctx.Err() == nil {
			s.db.Log.Warn("could not recalculate all medications; trying again later", "error", err)
		}
		if ctx.Err() == nil {
			s.counts.derived.Done(engine.IgnorePart(err))
		}
		next := time.Now().Add(deriveEvery)
		if err != nil {
			next = time.Now().Add(time.Minute)
		}
		if s.awaitDerivation(ctx, changed, versions, next); ctx.Err() != nil {
			return nil
		}
	}
}

// awaitDerivation waits until there may be something to derive: this process
// changed aliases, their versions differ from versions, or next has come.
func (s System) awaitDerivation(ctx context.Context, changed <-chan struct{}, versions map[int64]int64, next time.Time) {
	poll := s.db.NewPoll(0)
	poll.Due() // the caller has just derived
	for time.Now().Before(next) {
		select {
		case <-changed:
			return
		case <-ctx.Done():
			return
		case <-time.After(aliasesEvery):
		}
		if !poll.Due() {
			continue
		}
		if now, err := s.aliasVersions(ctx); err == nil && !maps.Equal(now, versions) {
			return
		}
	}
}

// aliasVersions returns the versions of the aliases of organisations that ever
// had any.
func (s System) aliasVersions(ctx context.Context) (versions map[int64]int64, err error) {
	versions = map[int64]int64{}
	_, err = engine.List(ctx, s.db, `SELECT org_no, aliases FROM derivation WHERE aliases > 0 /*AND org_no = ANY($1)*/`, func(r engine.Row) (struct{}, error) {
		versions[r.Int(0)] = r.Int(1)
		return struct{}{}, nil
	})
	return versions, err
}

// deriving is an organisation whose medications are being derived again.
type deriving struct {
	org        access.OrgNo
	name       string
	done, last int64 // patients
	version    int64 // of the aliases
}

// Rederive derives the medications of all organisations again, unless that was
// already done with the rules of this program and the current aliases. It can
// be stopped and restarted at any time, and several nodes can run it at once. A
// patient whose records cannot be read does not delay the others; anodyne check
// reports it.
func (s System) Rederive(ctx context.Context) error {
	for {
		if err := s.rederiveOnce(ctx); !errors.Is(err, errAliasesChanged) {
			return err
		}
	}
}

func (s System) rederiveOnce(ctx context.Context) error {
	// The inner join is of tables on the workers of a Citus cluster; org is on
	// its coordinator.
	todo, missing := engine.List(ctx, s.db, `SELECT o.org_no, o.name, d.patients, CASE WHEN d.rules >= $1 THEN d.patient_no ELSE 0 END, coalesce(d.aliases, 0)
			FROM org o JOIN (SELECT c.org_no, c.patients, e.rules, e.patient_no, e.aliases FROM org_counter c
				LEFT JOIN derivation e ON e.org_no = c.org_no /*AND e.org_no = ANY($2)*/ /*WHERE c.org_no = ANY($2)*/) AS d
			ON d.org_no = o.org_no WHERE d.rules IS NULL OR d.rules <= $1 ORDER BY o.org_no`, func(r engine.Row) (deriving, error) {
		return deriving{access.OrgNo(r.Int(0)), r.Text(1), r.Int(3), r.Int(2), r.Int(4)}, nil
	}, pain.Derivation)
	var left int64
	for _, d := range todo {
		left += max(0, d.last-d.done)
	}
	s.counts.underived.Set(float64(left))
	failed := []error{missing}
	for i := range todo {
		d := &todo[i]
		if d.done >= d.last {
			continue
		}
		if err := s.rederiveOrg(ctx, d, func(patients int64) { s.counts.underived.Sub(float64(patients)) }); err != nil {
			failed = append(failed, fmt.Errorf("organisation %s: %w", d.name, err))
		}
	}
	return errors.Join(failed...)
}

func (s System) rederiveOrg(ctx context.Context, d *deriving, done func(patients int64)) error {
	o := s.of(d.org)
	aliases, err := o.aliases(ctx, d.version)
	if err == nil && aliases.Version() != d.version {
		err = errAliasesChanged // the progress is that of other aliases
	}
	if err != nil {
		return err
	}
	s.db.Log.Info("recalculating medications", "organization", d.name, "patients", d.last-d.done, "rules", pain.Derivation, "aliases", d.version)
	changed, failed := 0, 0
	var reason error
	reported := time.Now()
	for d.done < d.last {
		first, last := d.done+1, min(d.done+derivedAtOnce, d.last)
		differing, err := o.outdated(ctx, first, last, aliases)
		if err != nil {
			return err
		}
		errs := o.rederiveAll(ctx, differing, aliases)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if slices.ContainsFunc(errs, AliasesChanged) {
			return errAliasesChanged
		}
		changed += len(differing) - len(errs)
		if len(errs) > 0 {
			failed, reason = failed+len(errs), errs[0]
		}
		if err := o.noteDerived(ctx, last, d.version); err != nil {
			return err
		}
		d.done = last
		done(last - first + 1)
		if time.Since(reported) > 10*time.Second {
			reported = time.Now()
			s.db.Log.Info("recalculating medications", "organization", d.name, "patients_done", d.done, "patients", d.last)
		}
	}
	s.db.Log.Info("medications recalculated", "organization", d.name, "patients", d.last, "patients_changed", changed, "patients_failed", failed)
	if failed > 0 {
		return fmt.Errorf("could not recalculate the medications of %d patients; one error: %w; run: anodyne check", failed, reason)
	}
	return nil
}

// rederiveAll derives the medications of patients again and returns the errors.
func (o Org) rederiveAll(ctx context.Context, patients []differing, aliases *pain.Aliases) []error {
	return sweep(patients, func(p differing) error {
		_, err := o.rederivePatient(ctx, p.no, aliases, audit.Service)
		return err
	})
}

// noteDerived stores the progress of an organisation for a version of its
// aliases, unless there is a newer one.
func (o Org) noteDerived(ctx context.Context, patientNo, version int64) error {
	return o.db.Write(ctx, func(tx engine.Tx) error {
		_, err := tx.Exec(`INSERT INTO derivation (org_no, rules, patient_no, aliases) VALUES ($1, $2, $3, $4)
			ON CONFLICT (org_no) DO UPDATE SET rules = excluded.rules, patient_no = excluded.patient_no
			WHERE derivation.aliases = excluded.aliases
				AND (derivation.rules < excluded.rules OR derivation.rules = excluded.rules AND derivation.patient_no < excluded.patient_no)`,
			int64(o.org), pain.Derivation, patientNo, version)
		return err
	})
}

// rederivePatient derives the medications of one patient again, rebuilds the
// series, and judges the patient's alerts. It returns how many medications
// changed. If the aliases are no longer current, it does nothing.
func (o Org) rederivePatient(ctx context.Context, patientNo int64, aliases *pain.Aliases, actor string) (changed int, err error) {
	now := o.db.Now()
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		changed = 0
		var patientID id.Patient
		// The lock keeps the records from changing.
		if _, err := engine.One(tx, `SELECT id FROM patient WHERE org_no = $1 AND patient_no = $2 /*FOR UPDATE*/`, func(r engine.Row) {
			patientID, _ = id.FromBytes[id.PatientKind](r.Raw(0))
		}, int64(o.org), patientNo); err != nil {
			return err
		}
		var version int64
		if err := tx.Many(o.holdAliases(&version)...); err != nil {
			return err
		}
		if version != aliases.Version() {
			return errAliasesChanged
		}
		updates, records, err := o.derivedUpdates(tx, patientNo, aliases, now)
		if err != nil {
			return err
		}
		for _, u := range updates {
			if _, err := tx.Exec(u.SQL, u.Args...); err != nil {
				return err
			}
		}
		changed = len(updates)
		want, years, err := o.renewSeries(tx, patientNo)
		if err != nil {
			return err
		}
		if changed == 0 && years == 0 {
			return nil // another node was faster
		}
		if !patientID.IsZero() {
			line := audit.Entry{At: now, Actor: actor, Action: audit.ClinicalDerive, Resource: patientID.String(),
				Details: fmt.Appendf(nil, `{"medications":%d,"rules":%d,"aliases":%d}`, changed, pain.Derivation, version)}
			tx.Last(o.relist(line, patientID, records, []pain.DataType{pain.TypeMedications})...)
		}
		_, err = o.repairStanding(tx, patientNo, want, years > 0, now)
		return err
	})
	return changed, err
}

// derivedUpdates returns the statements that update a patient's medications to
// the current rules, and the records that they change. Medications that cannot
// be read stay as they are.
func (o Org) derivedUpdates(tx engine.Tx, patientNo int64, aliases *pain.Aliases, now time.Time) (updates []engine.Stmt, records []id.Record, err error) {
	err = tx.Query(`SELECT recorded_at, id, value FROM clinical_record WHERE org_no = $1 AND patient_no = $2 AND data_type = $3`, func(r engine.Row) error {
		value, differs, err := pain.Rederived(pain.StoredValue(r.Text(2)), pain.DateOf(engine.FromMillis(r.Int(0))), aliases)
		if err != nil || !differs {
			return nil
		}
		recordID, err := id.FromBytes[id.RecordKind](r.Raw(1))
		updates = append(updates, engine.Stmt{SQL: `UPDATE clinical_record SET value = $5, updated_at = $6 WHERE org_no = $1 AND patient_no = $2 AND recorded_at = $3 AND id = $4`,
			Args: []any{int64(o.org), patientNo, r.Int(0), recordID.Bytes(), value.JSON(), engine.Millis(now)}})
		records = append(records, recordID)
		return err
	}, int64(o.org), patientNo, int64(pain.TypeMedications))
	return updates, records, err
}
