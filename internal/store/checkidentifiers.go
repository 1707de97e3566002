package store

import (
	"fmt"
	"hash/maphash"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// checkIdentifiers compares the identifiers of an organisation's patients with
// the table by which they are found, by a sum that does not depend on the order,
// so that the memory needed does not grow with their number.
func checkIdentifiers(tx engine.Tx, org int64) (problems []string, err error) {
	type owned struct {
		pain.Identifier
		patientNo int64
	}
	seed := maphash.MakeSeed()
	var difference uint64
	if err := tx.Query(`SELECT patient_no, identifiers FROM patient WHERE org_no = $1 AND identifiers <> ''`, func(r engine.Row) error {
		list, err := pain.StoredIdentifiers(r.Text(1)).List()
		if err != nil {
			return fmt.Errorf("patient number %d: %w", r.Int(0), err)
		}
		for _, one := range list {
			difference += maphash.Comparable(seed, owned{one, r.Int(0)})
		}
		return nil
	}, org); err != nil {
		return nil, err
	}
	if err := tx.Query(`SELECT patient_no, system, value FROM patient_identifier WHERE org_no = $1`, func(r engine.Row) error {
		difference -= maphash.Comparable(seed, owned{pain.Identifier{System: r.Text(1), Value: r.Text(2)}, r.Int(0)})
		return nil
	}, org); err != nil {
		return nil, err
	}
	if difference != 0 {
		problems = append(problems, "the table of identifiers does not match the identifiers of the patients")
	}
	return problems, nil
}
