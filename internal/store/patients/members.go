package patients

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// Member is the part of a patient that analytics use. Gender and History are
// valid only during the call they are passed to.
type Member struct {
	No      int64
	Born    pain.Date
	Gender  []byte
	History []byte // JSON, as accepted by [pain.StoredHistory]
}

// scanMember reads patient_no, date_of_birth, gender and medical_history,
// starting at column from.
func scanMember(r engine.Row, from int) (Member, error) {
	born, err := pain.ParseDate(string(r.Raw(from + 1)))
	if err != nil {
		err = fmt.Errorf("stored date of birth: %w", err)
	}
	return Member{No: r.Int(from), Born: born, Gender: r.Raw(from + 2), History: r.Raw(from + 3)}, err
}

// MemberRange calls member for the patients numbered first to last, and then
// year for each year of their series, both in order. It makes two passes over
// the tables, which are not one snapshot: concurrent changes are in the
// journal.
func (o Org) MemberRange(ctx context.Context, first, last int64, member func(Member), year func(no int64, packed []byte)) error {
	return o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Many(
			engine.Stmt{SQL: `SELECT patient_no, date_of_birth, gender, medical_history FROM patient
				WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 ORDER BY patient_no`,
				Args: []any{int64(o.org), first, last},
				Each: func(r engine.Row) error {
					m, err := scanMember(r, 0)
					if err == nil {
						member(m)
					}
					return err
				}},
			engine.Stmt{SQL: `SELECT patient_no, bytes FROM patient_series
				WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 ORDER BY patient_no, year`,
				Args: []any{int64(o.org), first, last},
				Each: func(r engine.Row) error {
					year(r.Int(0), r.Raw(1))
					return nil
				}},
		)
	})
}

// ChangedMembers is [Org.ChangedPatients] for members: it calls member once for
// each patient that changed after a position, ordered by number, and after each
// of them year for the years of its series. It calls gone with the numbers of
// those that were merged or erased.
//
// It is one statement, so it sees one snapshot: a caller that replaces the
// changed members has a consistent state.
func (o Org) ChangedMembers(ctx context.Context, after journal.Pos, most int64, member func(Member), year func(no int64, packed []byte), gone func(no int64)) (head journal.Pos, complete bool, err error) {
	var changes, latest int64
	head = after
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT c.pos, c.changes, c.subject, p.patient_no, p.date_of_birth, p.gender, p.medical_history, s.bytes, g.patient_no
			FROM (SELECT max(pos) AS pos, count(*) AS changes, subject
				FROM (SELECT pos, subject FROM (`+o.db.Dialect().Changed+`) AS u LIMIT $3) AS l GROUP BY subject) AS c
			LEFT JOIN patient p ON p.org_no = $1 AND p.id = c.subject
			LEFT JOIN patient_gone g ON g.org_no = $1 AND g.id = c.subject AND p.id IS NULL
			LEFT JOIN patient_series s ON s.org_no = $1 AND s.patient_no = p.patient_no
			ORDER BY p.patient_no, s.year`, func(r engine.Row) error {
			if r.IsNull(2) {
				changes++
				head = journal.Pos(r.Int(0))
				return nil
			}
			if r.IsNull(3) {
				changes += r.Int(1)
				if !r.IsNull(8) {
					gone(r.Int(8))
				}
				return nil
			}
			if no := r.Int(3); no != latest {
				latest = no
				changes += r.Int(1)
				m, err := scanMember(r, 3)
				if err != nil {
					return err
				}
				member(m)
			}
			if !r.IsNull(7) {
				year(latest, r.Raw(7))
			}
			return nil
		}, int64(o.org), int64(after), most)
	})
	return head, changes < most, err
}

// RecordedSeries rebuilds a patient's series from the records, for callers that
// cannot read what is stored. It returns the packed years, in order.
func (o Org) RecordedSeries(ctx context.Context, patientNo int64) (packed [][]byte, err error) {
	years := seriesByYear{}
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		clear(years)
		return o.recordedSeries(tx, patientNo, firstYear, lastYear, years, replaced{})
	})
	for _, year := range slices.Sorted(maps.Keys(years)) {
		if bytes := years.packed(year); bytes != nil {
			packed = append(packed, bytes)
		}
	}
	return packed, err
}
