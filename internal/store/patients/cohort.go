package patients

import (
	"context"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// ChangedPatients calls each for the patients that changed after a position,
// with their identifiers, and gone with the numbers of those that were merged or
// erased, in no particular order and possibly more than once. It returns the
// position up to which the changes are complete. On PostgreSQL it includes
// committed changes without a position, so that everything acknowledged is
// included. After most changes it stops, and complete is false.
//
// It is one statement, so it sees one snapshot and takes one round trip: a
// patient is as of that position or later.
func (o Org) ChangedPatients(ctx context.Context, after journal.Pos, most int64, each func(PatientItem), gone func(no int64)) (head journal.Pos, complete bool, err error) {
	var rows int64
	head = after
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT c.pos, c.subject, p.patient_no, p.created_at, p.name, p.date_of_birth, p.identifiers, g.patient_no
			FROM (SELECT pos, subject FROM (`+o.db.Dialect().Changed+`) AS u LIMIT $3) AS c
			LEFT JOIN patient p ON p.org_no = $1 AND p.id = c.subject
			LEFT JOIN patient_gone g ON g.org_no = $1 AND g.id = c.subject AND p.id IS NULL`, func(r engine.Row) error {
			rows++
			if r.IsNull(1) {
				head = journal.Pos(r.Int(0))
				return nil
			}
			if r.IsNull(2) {
				if !r.IsNull(7) {
					gone(r.Int(7))
				}
				return nil
			}
			patientID, err := id.FromBytes[id.PatientKind](r.Raw(1))
			if err != nil {
				return err
			}
			each(PatientItem{No: r.Int(2), ID: patientID, CreatedAt: engine.FromMillis(r.Int(3)), Name: r.Raw(4), DateOfBirth: r.Raw(5), Identifiers: r.Raw(6)})
			return nil
		}, int64(o.org), int64(after), most)
	})
	return head, rows < most, err
}
