package store

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// checkIdentifiers compares the identifiers of patients with the table by which
// they are found, for each organisation by a sum that does not depend on the
// order, so that the memory needed does not grow with their number.
func checkIdentifiers(tx engine.Tx) (problems []string, err error) {
	type owned struct {
		pain.Identifier
		patientNo int64
	}
	seed := maphash.MakeSeed()
	differences := map[string]uint64{} // by organisation; 0 if there is none
	if err := tx.Query(`SELECT o.name, p.patient_no, p.identifiers FROM patient p JOIN org o ON o.org_no = p.org_no WHERE p.identifiers <> ''`, func(r engine.Row) error {
		list, err := pain.StoredIdentifiers(r.Text(2)).List()
		if err != nil {
			return fmt.Errorf("organisation %s, patient number %d: %w", r.Text(0), r.Int(1), err)
		}
		for _, one := range list {
			differences[r.Text(0)] += maphash.Comparable(seed, owned{one, r.Int(1)})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if err := tx.Query(`SELECT o.name, i.patient_no, i.system, i.value FROM patient_identifier i JOIN org o ON o.org_no = i.org_no`, func(r engine.Row) error {
		differences[r.Text(0)] -= maphash.Comparable(seed, owned{pain.Identifier{System: r.Text(2), Value: r.Text(3)}, r.Int(1)})
		return nil
	}); err != nil {
		return nil, err
	}
	for _, org := range slices.Sorted(maps.Keys(differences)) {
		if differences[org] != 0 {
			problems = append(problems, "organisation "+org+": the table of identifiers does not match those of its patients")
		}
	}
	return problems, nil
}
