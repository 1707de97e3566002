package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
)

// What the service derives from a medication is stored with it, and in the
// patient's series. When the rules or an organisation's aliases change, all of
// it is derived again in the background: a patient at a time, each in a
// transaction of its own, beside nodes of this version and of the one before.
// How far it has come is kept for each organisation, so that it goes on there
// after a restart.

// derivedAtOnce is how many patients are looked at together. Tests shorten it.
var derivedAtOnce int64 = 100

// deriveEvery is how often a node looks for organisations that are not done.
const deriveEvery = time.Hour

// aliasesEvery is how often it asks whether another node changed aliases. Tests
// shorten it.
var aliasesEvery = 10 * time.Second

// KeepDerived derives again what is not derived by this program's rules and the
// organisations' aliases: at once, after every change of aliases and every
// hour, until the context ends.
func (s System) KeepDerived(ctx context.Context) error {
	for {
		changed := s.remembered.signal.wait()
		versions, err := s.aliasVersions(ctx)
		if err == nil {
			err = s.Rederive(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("could not recalculate all medications; trying again later", "error", err)
		}
		if ctx.Err() == nil {
			s.metrics.derived.Done(err)
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

// awaitDerivation waits until there may be something to derive again: aliases
// were changed by this process, or have other versions than before, or it is
// time.
func (s System) awaitDerivation(ctx context.Context, changed <-chan struct{}, versions map[int64]int64, next time.Time) {
	for time.Now().Before(next) {
		select {
		case <-changed:
			return
		case <-ctx.Done():
			return
		case <-time.After(aliasesEvery):
		}
		if now, err := s.aliasVersions(ctx); err == nil && !maps.Equal(now, versions) {
			return
		}
	}
}

// aliasVersions gives the versions of the aliases of those organisations that
// have ever had some.
func (s System) aliasVersions(ctx context.Context) (versions map[int64]int64, err error) {
	err = s.read(ctx, func(tx Tx) error {
		versions = map[int64]int64{}
		return tx.Query(`SELECT org_no, aliases FROM derivation WHERE aliases > 0`, func(r Row) error {
			versions[r.Int(0)] = r.Int(1)
			return nil
		})
	})
	return versions, err
}

// deriving is an organisation whose medications are derived again.
type deriving struct {
	org        access.OrgNo
	name       string
	done, last int64 // patients
	version    int64 // of the aliases
}

// Rederive derives the medications of all organisations again, unless that has
// been done by the rules of this program and the aliases of the organisation. It
// may be ended and begun again at any time, and nodes may do it at once. A
// patient whose records cannot be read does not stand in the way of the others;
// anodyne check names it.
func (s System) Rederive(ctx context.Context) error {
	for {
		if err := s.rederiveOnce(ctx); !errors.Is(err, errAliasesChanged) {
			return err
		}
	}
}

func (s System) rederiveOnce(ctx context.Context) error {
	var todo []deriving
	if err := s.read(ctx, func(tx Tx) error {
		todo = nil
		return tx.Query(`SELECT o.org_no, o.name, c.patients, CASE WHEN d.rules >= $1 THEN d.patient_no ELSE 0 END, coalesce(d.aliases, 0)
			FROM org o JOIN org_counter c ON c.org_no = o.org_no LEFT JOIN derivation d ON d.org_no = o.org_no
			WHERE d.rules IS NULL OR d.rules <= $1 ORDER BY o.org_no`, func(r Row) error {
			todo = append(todo, deriving{access.OrgNo(r.Int(0)), r.Text(1), r.Int(3), r.Int(2), r.Int(4)})
			return nil
		}, pain.Derivation)
	}); err != nil {
		return err
	}
	var left int64
	for _, d := range todo {
		left += max(0, d.last-d.done)
	}
	s.metrics.underived.Set(float64(left))
	var failed []error
	for i := range todo {
		d := &todo[i]
		if d.done >= d.last {
			continue
		}
		if err := s.rederiveOrg(ctx, d, func(patients int64) { s.metrics.underived.Sub(float64(patients)) }); err != nil {
			failed = append(failed, fmt.Errorf("organisation %s: %w", d.name, err))
		}
	}
	return errors.Join(failed...)
}

func (s System) rederiveOrg(ctx context.Context, d *deriving, done func(patients int64)) error {
	o := Org{Store: s.Store, org: d.org}
	aliases, err := o.aliases(ctx, d.version)
	if err == nil && aliases.Version() != d.version {
		err = errAliasesChanged // how far it has come is that of others
	}
	if err != nil {
		return err
	}
	s.log.Info("recalculating medications", "organization", d.name, "patients", d.last-d.done, "rules", pain.Derivation, "aliases", d.version)
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
			s.log.Info("recalculating medications", "organization", d.name, "patients_done", d.done, "patients", d.last)
		}
	}
	s.log.Info("medications recalculated", "organization", d.name, "patients", d.last, "patients_changed", changed, "patients_failed", failed)
	if failed > 0 {
		return fmt.Errorf("could not recalculate the medications of %d patients; one error: %w; run: anodyne check", failed, reason)
	}
	return nil
}

// rederiveAll derives the medications of some patients again, some at once, and
// gives what went wrong. On SQLite their transactions share a commit.
func (o Org) rederiveAll(ctx context.Context, patients []differing, aliases *pain.Aliases) (errs []error) {
	work := make(chan int64)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range min(sweepers, len(patients)) {
		group.Go(func() {
			for no := range work {
				if _, err := o.rederivePatient(ctx, no, aliases, audit.Service); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, p := range patients {
		work <- p.no
	}
	close(work)
	group.Wait()
	return errs
}

// noteDerived keeps how far an organisation is by a version of its aliases,
// unless there is a newer one.
func (o Org) noteDerived(ctx context.Context, patientNo, version int64) error {
	return o.write(ctx, func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO derivation (org_no, rules, patient_no, aliases) VALUES ($1, $2, $3, $4)
			ON CONFLICT (org_no) DO UPDATE SET rules = excluded.rules, patient_no = excluded.patient_no
			WHERE derivation.aliases = excluded.aliases
				AND (derivation.rules < excluded.rules OR derivation.rules = excluded.rules AND derivation.patient_no < excluded.patient_no)`,
			int64(o.org), pain.Derivation, patientNo, version)
		return err
	})
}

// differing is a patient with medications that are not derived by today's
// rules and aliases, and what is wrong in words.
type differing struct {
	no      int64
	problem string
}

// outdated looks for the patients whose medications were derived by other rules.
// A series is marked with the rules, and whatever writes a medication writes the
// series, so those tell it. They do not tell by which aliases: once there were
// some, the medications are compared.
func (o Org) outdated(ctx context.Context, first, last int64, aliases *pain.Aliases) (list []differing, err error) {
	if aliases.Version() > 0 {
		return o.differentlyDerived(ctx, first, last, aliases)
	}
	err = o.read(ctx, func(tx Tx) error {
		if err := o.expectAliases(tx, aliases); err != nil {
			return err
		}
		list, err = o.outdatedSeries(tx, first, last)
		return err
	})
	return list, err
}

// differentlyDerived compares the medications of patients with what is derived
// today. Records that cannot be read are left to the check of series. It fails
// when the aliases are not the organisation's any more.
func (o Org) differentlyDerived(ctx context.Context, first, last int64, aliases *pain.Aliases) (list []differing, err error) {
	err = o.read(ctx, func(tx Tx) error {
		if err := o.expectAliases(tx, aliases); err != nil {
			return err
		}
		number := map[int64]int{}
		example := map[int64]string{}
		if err := tx.Query(`SELECT patient_no, recorded_at, id, value FROM clinical_record
			WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 AND data_type = $4`, func(r Row) error {
			stored := pain.StoredValue(r.Text(3))
			now, differs, err := pain.Rederived(stored, pain.DateOf(fromMillis(r.Int(1))), aliases)
			if err != nil || !differs {
				return nil
			}
			if no := r.Int(0); number[no] == 0 {
				recordID, _ := id.FromBytes[id.RecordKind](r.Raw(2))
				example[no] = recordID.String() + " " + difference(stored, now)
			}
			number[r.Int(0)]++
			return nil
		}, int64(o.org), first, last, int64(pain.TypeMedications)); err != nil {
			return err
		}
		if list, err = o.outdatedSeries(tx, first, last); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(d differing) bool { return number[d.no] > 0 })
		for no, n := range number {
			list = append(list, differing{no, fmt.Sprintf("%d of its medications are not derived by the current rules, such as %s", n, example[no])})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b differing) int { return int(a.no - b.no) })
	return list, err
}

// expectAliases fails when the aliases are not the organisation's any more.
func (o Org) expectAliases(tx Tx, aliases *pain.Aliases) error {
	var version int64
	if err := tx.Many(o.selectAliasVersion(&version)); err != nil {
		return err
	}
	if version != aliases.Version() {
		return errAliasesChanged
	}
	return nil
}

// outdatedSeries looks for the patients with a series that another version of the
// program made.
func (o Org) outdatedSeries(tx Tx, first, last int64) (list []differing, err error) {
	err = tx.Query(`SELECT patient_no, bytes FROM patient_series WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 ORDER BY patient_no`, func(r Row) error {
		no := r.Int(0)
		if again := len(list) > 0 && list[len(list)-1].no == no; !again && series.Outdated(r.Raw(1)) {
			list = append(list, differing{no, "its series has an outdated format"})
		}
		return nil
	}, int64(o.org), first, last)
	return list, err
}

// difference says how what is derived differs. It names no medicine.
func difference(stored, now pain.Value) string {
	was, errWas := pain.DerivedOf(stored)
	is, errIs := pain.DerivedOf(now)
	switch {
	case errWas != nil || errIs != nil:
		return "(cannot be compared)"
	case was.DrugClass != is.DrugClass:
		return "(class " + was.DrugClass + ", now " + is.DrugClass + ")"
	case was.Basis != is.Basis:
		return fmt.Sprintf("(basis %q, now %q)", was.Basis, is.Basis)
	}
	return "(different dose or days)"
}

// rederivePatient derives the medications of one patient again, makes the series
// anew, and judges what follows for the alerts. It gives how many changed. When
// the aliases are not the organisation's any more, nothing is done.
func (o Org) rederivePatient(ctx context.Context, patientNo int64, aliases *pain.Aliases, actor string) (changed int, err error) {
	now := o.now()
	err = o.change(ctx, func(tx Tx) error {
		changed = 0
		var patientID id.Patient
		// The lock keeps the records from changing meanwhile.
		if _, err := one(tx, `SELECT id FROM patient WHERE org_no = $1 AND patient_no = $2 /*FOR UPDATE*/`, func(r Row) {
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
		updates, err := o.derivedUpdates(tx, patientNo, aliases)
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
			tx.Last(o.journal(o.org, Change{Audit: line, Subject: patientID})...)
		}
		_, err = o.repairStanding(tx, patientNo, want, years > 0, now)
		return err
	})
	return changed, err
}

// derivedUpdates are the statements that bring a patient's medications to
// today's rules. One that cannot be read stays as it is.
func (o Org) derivedUpdates(tx Tx, patientNo int64, aliases *pain.Aliases) (updates []Stmt, err error) {
	err = tx.Query(`SELECT recorded_at, id, value FROM clinical_record WHERE org_no = $1 AND patient_no = $2 AND data_type = $3`, func(r Row) error {
		value, differs, err := pain.Rederived(pain.StoredValue(r.Text(2)), pain.DateOf(fromMillis(r.Int(0))), aliases)
		if err == nil && differs {
			updates = append(updates, Stmt{SQL: `UPDATE clinical_record SET value = $5 WHERE org_no = $1 AND patient_no = $2 AND recorded_at = $3 AND id = $4`,
				Args: []any{int64(o.org), patientNo, r.Int(0), slices.Clone(r.Raw(1)), value.JSON()}})
		}
		return nil
	}, int64(o.org), patientNo, int64(pain.TypeMedications))
	return updates, err
}

// CheckDerived derives every medication again and says in words where what is
// stored differs. With repair it puts that right, one patient at a time, and
// gives their number. It works while a server runs.
func (s System) CheckDerived(ctx context.Context, repair bool, progress func(org string, at, of int64)) (problems []string, repaired int, err error) {
	err = s.eachPatients(ctx, progress, func(o Org, name string, first, last int64) error {
		for {
			wrong, did, err := o.checkDerived(ctx, first, last, repair)
			repaired += did
			if errors.Is(err, errAliasesChanged) {
				continue // those that are right by now are not found again
			}
			for _, w := range wrong {
				problems = append(problems, fmt.Sprintf("organisation %s: patient number %d: %s", name, w.no, w.problem))
			}
			return err
		}
	})
	return problems, repaired, err
}

// checkDerived is CheckDerived of some patients: it gives those that it did not
// repair, and the number of the others.
func (o Org) checkDerived(ctx context.Context, first, last int64, repair bool) (wrong []differing, repaired int, err error) {
	aliases, err := o.Aliases(ctx)
	if err != nil {
		return nil, 0, err
	}
	if wrong, err = o.differentlyDerived(ctx, first, last, aliases); err != nil || !repair {
		return wrong, 0, err
	}
	var left []differing
	for _, w := range wrong {
		switch _, err := o.rederivePatient(ctx, w.no, aliases, audit.Operator); {
		case AliasesChanged(err) || ctx.Err() != nil:
			return nil, repaired, err
		case err != nil:
			left = append(left, differing{w.no, fmt.Sprintf("%s; it cannot be recalculated: %v", w.problem, err)})
		default:
			repaired++
		}
	}
	return left, repaired, nil
}
