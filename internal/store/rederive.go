package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"anodyne/internal/access"
	"anodyne/internal/audit"
	"anodyne/internal/id"
	"anodyne/internal/pain"
	"anodyne/internal/pain/series"
)

// What the service derives from a medication is stored with it, and in the
// patient's series. When the rules change, all of it is derived again in the
// background: a patient at a time, each in a transaction of its own, beside
// nodes of this version and of the one before. How far it has come is kept for
// each organisation, so that it goes on there after a restart.

// derivedAtOnce is how many patients are looked at together. Tests shorten it.
var derivedAtOnce int64 = 100

// deriveEvery is how often a node looks for organisations that are not done.
const deriveEvery = time.Hour

// KeepDerived derives again what is not derived by this program's rules, at
// once and every hour, until the context ends.
func (s System) KeepDerived(ctx context.Context) error {
	for {
		err := s.Rederive(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("medications could not all be derived again; it will be tried again", "error", err)
		}
		if ctx.Err() == nil {
			s.metrics.derived.Done(err)
		}
		select {
		case <-time.After(deriveEvery):
		case <-ctx.Done():
			return nil
		}
	}
}

// deriving is an organisation whose medications are derived again.
type deriving struct {
	org        access.OrgNo
	name       string
	done, last int64 // patients
}

// Rederive derives the medications of all organisations again, unless that has
// been done by the rules of this program. It may be ended and begun again at
// any time, and nodes may do it at once. A patient whose records cannot be read
// does not stand in the way of the others; anodyne check names it.
func (s System) Rederive(ctx context.Context) error {
	var todo []deriving
	if err := s.read(ctx, func(tx Tx) error {
		todo = nil
		return tx.Query(`SELECT o.org_no, o.name, c.patients, CASE WHEN d.rules >= $1 THEN d.patient_no ELSE 0 END
			FROM org o JOIN org_counter c ON c.org_no = o.org_no LEFT JOIN derivation d ON d.org_no = o.org_no
			WHERE d.rules IS NULL OR d.rules <= $1 ORDER BY o.org_no`, func(r Row) error {
			todo = append(todo, deriving{access.OrgNo(r.Int(0)), r.Text(1), r.Int(3), r.Int(2)})
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
	s.log.Info("deriving medications again", "organization", d.name, "patients", d.last-d.done, "rules", pain.Derivation)
	changed, failed := 0, 0
	var reason error
	reported := time.Now()
	for d.done < d.last {
		first, last := d.done+1, min(d.done+derivedAtOnce, d.last)
		differing, err := o.differentlyDerived(ctx, first, last)
		if err != nil {
			return err
		}
		errs := o.rederiveAll(ctx, differing)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		changed += len(differing) - len(errs)
		if len(errs) > 0 {
			failed, reason = failed+len(errs), errs[0]
		}
		if err := o.noteDerived(ctx, last); err != nil {
			return err
		}
		d.done = last
		done(last - first + 1)
		if time.Since(reported) > 10*time.Second {
			reported = time.Now()
			s.log.Info("deriving medications again", "organization", d.name, "patients_done", d.done, "patients", d.last)
		}
	}
	s.log.Info("medications are derived by today's rules", "organization", d.name, "patients", d.last, "patients_changed", changed, "patients_failed", failed)
	if failed > 0 {
		return fmt.Errorf("patients whose medications could not be derived again: %d, one because: %w; run: anodyne check", failed, reason)
	}
	return nil
}

// rederiveAll derives the medications of some patients again, some at once, and
// gives what went wrong. On SQLite their transactions share a commit.
func (o Org) rederiveAll(ctx context.Context, patients []differing) (errs []error) {
	work := make(chan int64)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range min(sweepers, len(patients)) {
		group.Go(func() {
			for no := range work {
				if _, err := o.rederivePatient(ctx, no, audit.Service); err != nil {
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

// noteDerived keeps how far an organisation is.
func (o Org) noteDerived(ctx context.Context, patientNo int64) error {
	return o.write(ctx, func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO derivation (org_no, rules, patient_no) VALUES ($1, $2, $3)
			ON CONFLICT (org_no) DO UPDATE SET rules = excluded.rules, patient_no = excluded.patient_no
			WHERE derivation.rules < excluded.rules OR derivation.rules = excluded.rules AND derivation.patient_no < excluded.patient_no`,
			int64(o.org), pain.Derivation, patientNo)
		return err
	})
}

// differing is a patient with medications that are not derived by today's
// rules, and what is wrong in words.
type differing struct {
	no      int64
	problem string
}

// differentlyDerived looks for such patients, and for those whose series is in
// the form of another version. Records that cannot be read are
// left to the check of series.
func (o Org) differentlyDerived(ctx context.Context, first, last int64) (list []differing, err error) {
	err = o.read(ctx, func(tx Tx) error {
		list = nil
		number := map[int64]int{}
		example := map[int64]string{}
		if err := tx.Query(`SELECT patient_no, recorded_at, id, value FROM clinical_record
			WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 AND data_type = $4`, func(r Row) error {
			stored := pain.StoredValue(r.Text(3))
			now, differs, err := pain.Rederived(stored, pain.DateOf(fromMillis(r.Int(1))))
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
		for no, n := range number {
			list = append(list, differing{no, fmt.Sprintf("%d of its medications are not derived by today's rules, such as %s", n, example[no])})
		}
		return tx.Query(`SELECT patient_no, bytes FROM patient_series WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3`, func(r Row) error {
			if no := r.Int(0); number[no] == 0 && series.Outdated(r.Raw(1)) {
				list = append(list, differing{no, "its series is in an older form"})
				number[no]++
			}
			return nil
		}, int64(o.org), first, last)
	})
	slices.SortFunc(list, func(a, b differing) int { return int(a.no - b.no) })
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
		return "(class " + was.DrugClass + ", today " + is.DrugClass + ")"
	case was.Basis != is.Basis:
		return fmt.Sprintf("(basis %q, today %q)", was.Basis, is.Basis)
	}
	return "(another dose or other days)"
}

// rederivePatient derives the medications of one patient again, makes the series
// anew, and judges what follows for the alerts. It gives how many changed.
func (o Org) rederivePatient(ctx context.Context, patientNo int64, actor string) (changed int, err error) {
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
		updates, err := o.derivedUpdates(tx, patientNo)
		if err != nil {
			return err
		}
		for _, u := range updates {
			if _, err := tx.Exec(u.SQL, u.Args...); err != nil {
				return err
			}
		}
		changed = len(updates)
		want := seriesByYear{}
		if err := o.recordedSeries(tx, patientNo, firstYear, lastYear, want, replaced{}); err != nil {
			return err
		}
		differs, err := o.differing(tx, patientNo, patientNo, map[int64]seriesByYear{patientNo: want})
		if err != nil {
			return err
		}
		for _, year := range slices.Sorted(slices.Values(differs[patientNo])) {
			o.keepSeries(tx, patientNo, year, want.year(year))
		}
		if changed == 0 && len(differs[patientNo]) == 0 {
			return nil // another node was faster
		}
		if !patientID.IsZero() {
			line := audit.Entry{At: now, Actor: actor, Action: audit.ClinicalDerive, Resource: patientID.String(),
				Details: fmt.Appendf(nil, `{"medications":%d,"rules":%d}`, changed, pain.Derivation)}
			tx.Last(o.journal(o.org, Change{Audit: line, Subject: patientID})...)
		}
		_, err = o.repairStanding(tx, patientNo, want, len(differs[patientNo]) > 0, now)
		return err
	})
	return changed, err
}

// derivedUpdates are the statements that bring a patient's medications to
// today's rules. One that cannot be read stays as it is.
func (o Org) derivedUpdates(tx Tx, patientNo int64) (updates []Stmt, err error) {
	err = tx.Query(`SELECT recorded_at, id, value FROM clinical_record WHERE org_no = $1 AND patient_no = $2 AND data_type = $3`, func(r Row) error {
		value, differs, err := pain.Rederived(pain.StoredValue(r.Text(2)), pain.DateOf(fromMillis(r.Int(0))))
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
		wrong, err := o.differentlyDerived(ctx, first, last)
		if err != nil {
			return err
		}
		for _, w := range wrong {
			if !repair {
				problems = append(problems, fmt.Sprintf("organisation %s: patient number %d: %s", name, w.no, w.problem))
				continue
			}
			if _, err := o.rederivePatient(ctx, w.no, audit.Operator); err != nil {
				return err
			}
			repaired++
		}
		return nil
	})
	return problems, repaired, err
}
