package patients

import (
	"context"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// ChangedPatients calls each for the patients that changed after a position,
// in no order and a patient perhaps more than once, and gives the position up
// to which that is known. On PostgreSQL it includes what is committed and has
// no position yet, so that everything acknowledged is seen. It gives up,
// incomplete, at the number of changes that most says.
//
// It is one statement, so one moment and one round trip: a patient is as it
// was at that position or later.
func (o Org) ChangedPatients(ctx context.Context, after journal.Pos, most int64, each func(PatientItem)) (head journal.Pos, complete bool, err error) {
	var rows int64
	head = after
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT c.pos, c.subject, p.patient_no, p.created_at, p.name, p.date_of_birth
			FROM (SELECT pos, subject FROM (`+o.db.Dialect().Changed+`) AS u LIMIT $3) AS c
			LEFT JOIN patient p ON p.org_no = $1 AND p.id = c.subject`, func(r engine.Row) error {
			rows++
			if r.IsNull(1) {
				head = journal.Pos(r.Int(0))
				return nil
			}
			if r.IsNull(2) {
				return nil // the patient is not there
			}
			patientID, err := id.FromBytes[id.PatientKind](r.Raw(1))
			if err != nil {
				return err
			}
			each(PatientItem{No: r.Int(2), ID: patientID, CreatedAt: engine.FromMillis(r.Int(3)), Name: r.Raw(4), DateOfBirth: r.Raw(5)})
			return nil
		}, int64(o.org), int64(after), most)
	})
	return head, rows < most, err
}
