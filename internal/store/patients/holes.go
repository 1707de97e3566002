package patients

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/store/engine"
)

// The numbers of patients that were merged or erased are not given again, so
// they leave holes. patient_hole counts them by block of numbers: a page of an
// organisation with holes skips whole blocks, and reads at most one block
// before its first patient.

// HoleBlock is how many numbers share a row of patient_hole.
const HoleBlock = 1024

// leaveHole returns the statements that take a patient's number out of use.
// They lock the organisation's counter, so they belong at the end of a
// transaction.
func (o Org) leaveHole(patientNo int64) []engine.Stmt {
	return []engine.Stmt{
		{SQL: `DELETE FROM patient WHERE org_no = $1 AND patient_no = $2`, Args: []any{int64(o.org), patientNo}},
		{SQL: `UPDATE org_counter SET gone = gone + 1 WHERE org_no = $1`, Args: []any{int64(o.org)}},
		{SQL: `INSERT INTO patient_hole (org_no, block, holes) VALUES ($1, $2, 1)
			ON CONFLICT (org_no, block) DO UPDATE SET holes = patient_hole.holes + 1`, Args: []any{int64(o.org), (patientNo - 1) / HoleBlock}},
	}
}

const (
	pageForward = `SELECT patient_no, id, created_at, name, date_of_birth FROM patient WHERE org_no = $1 AND patient_no >= $2
		ORDER BY patient_no LIMIT $3 OFFSET $4`
	pageBackward = `SELECT patient_no, id, created_at, name, date_of_birth FROM (
		SELECT patient_no, id, created_at, name, date_of_birth FROM patient WHERE org_no = $1 AND patient_no >= $2
		ORDER BY patient_no LIMIT $3 OFFSET $4) AS page ORDER BY patient_no DESC`
)

// pageTime limits the time for a page of an organisation with holes, because
// the context of a lookup may have no deadline.
const pageTime = 10 * time.Second

// pageWithHoles is [Org.PatientPage] for an organisation with holes, or
// [Org.LatestPatients] if latest is set.
func (o Org) pageWithHoles(ctx context.Context, page, limit int64, latest bool, each func(PatientItem)) (total int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		start, count, sql := pageStart{skip: (page - 1) * limit}, limit, pageForward
		if err := tx.Many(
			engine.Stmt{SQL: `SELECT patients - gone FROM org_counter WHERE org_no = $1`, Args: []any{int64(o.org)}, Each: func(r engine.Row) error {
				total = r.Int(0)
				if latest { // the same patients, counted from the other end
					count, sql = max(0, min(limit, total-start.skip)), pageBackward
					start.skip = max(0, total-start.skip-count)
				}
				return nil
			}},
			engine.Stmt{SQL: `SELECT block, holes FROM patient_hole WHERE org_no = $1 ORDER BY block`, Args: []any{int64(o.org)}, Each: func(r engine.Row) error {
				start.pass(r.Int(0), r.Int(1))
				return nil
			}},
		); err != nil {
			return err
		}
		first, offset := start.at()
		return tx.Query(sql, eachItem(each), int64(o.org), first, count, offset)
	})
	return total, err
}

// pageStart finds the number at which a page starts.
type pageStart struct {
	skip    int64 // patients before the page
	holes   int64 // holes in the blocks passed
	reached bool
	// first and offset are set once the page's block is reached.
	first, offset int64
}

// pass takes the holes of a block. Blocks come in order; those without holes
// are left out.
func (s *pageStart) pass(block, holes int64) {
	before := block*HoleBlock - s.holes // patients in the blocks before
	switch {
	case s.reached:
	case s.skip < before:
		s.first, s.offset = s.at()
		s.reached = true
	case s.skip < before+HoleBlock-holes:
		s.first, s.offset, s.reached = block*HoleBlock+1, s.skip-before, true
	default:
		s.holes += holes
	}
}

// at returns a number from which to read, and how many patients to skip there.
func (s *pageStart) at() (first, offset int64) {
	if s.reached {
		return s.first, s.offset
	}
	return s.skip + s.holes + 1, 0
}
