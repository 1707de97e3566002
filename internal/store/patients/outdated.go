package patients

import (
	"context"
	"fmt"
	"slices"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/store/engine"
)

// differing is a patient with medications that are not derived with the current
// rules and aliases, and a description of the problem.
type differing struct {
	no      int64
	problem string
}

// outdated finds the patients whose medications were derived with other rules.
// A series stores the version of the rules, and every write of a medication
// writes the series, so the series suffice to find them. They do not store the
// version of the aliases: if there ever were any, the medications themselves
// are compared.
func (o Org) outdated(ctx context.Context, first, last int64, aliases *pain.Aliases) (list []differing, err error) {
	if aliases.Version() > 0 {
		return o.differentlyDerived(ctx, first, last, aliases)
	}
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		if err := o.expectAliases(tx, aliases); err != nil {
			return err
		}
		list, err = o.outdatedSeries(tx, first, last)
		return err
	})
	return list, err
}

// differentlyDerived compares the medications of patients with what would be
// derived now. Records that cannot be read are left to the check of series. It
// fails if the aliases are no longer current.
func (o Org) differentlyDerived(ctx context.Context, first, last int64, aliases *pain.Aliases) (list []differing, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		if err := o.expectAliases(tx, aliases); err != nil {
			return err
		}
		number := map[int64]int{}
		example := map[int64]string{}
		if err := tx.Query(`SELECT patient_no, recorded_at, id, value FROM clinical_record
			WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 AND data_type = $4`, func(r engine.Row) error {
			stored := pain.StoredValue(r.Text(3))
			now, differs, err := pain.Rederived(stored, pain.DateOf(engine.FromMillis(r.Int(1))), aliases)
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

// expectAliases returns an error if the aliases are no longer current.
func (o Org) expectAliases(tx engine.Tx, aliases *pain.Aliases) error {
	var version int64
	if err := tx.Many(o.selectAliasVersion(&version)); err != nil {
		return err
	}
	if version != aliases.Version() {
		return errAliasesChanged
	}
	return nil
}

// outdatedSeries finds the patients with a series made by another version of
// the program.
func (o Org) outdatedSeries(tx engine.Tx, first, last int64) (list []differing, err error) {
	err = tx.Query(`SELECT patient_no, bytes FROM patient_series WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 ORDER BY patient_no`, func(r engine.Row) error {
		no := r.Int(0)
		if again := len(list) > 0 && list[len(list)-1].no == no; !again && series.Outdated(r.Raw(1)) {
			list = append(list, differing{no, "its series has an outdated format"})
		}
		return nil
	}, int64(o.org), first, last)
	return list, err
}

// difference describes how the derived values differ. It names no medicine.
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
