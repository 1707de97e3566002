package journal

import (
	"bytes"
	"context"
	"errors"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

// sequenceFew bounds the entries of one transaction that pass through this
// process.
const sequenceFew = 500

// together returns the number of organisations to assign positions in at a time.
// If they are on several servers, one that fails must not delay the others.
func (s System) together() int {
	if s.j.db.Dialect().Distributed {
		return 1
	}
	return sequenceOrgs
}

// sequenceApart is sequenceAll on a distributed database.
func (s System) sequenceApart(ctx context.Context, orgs []access.OrgNo) (err error) {
	for _, org := range orgs {
		for given := int64(sequenceFew); given == sequenceFew; {
			var failed error
			var changed bool
			if given, changed, failed = s.j.sequenceOrgOnce(ctx, org); failed != nil {
				err = errors.Join(err, failed)
				break
			}
			switch {
			case changed:
				s.announce(ctx, []access.OrgNo{org})
			case given > 0:
				s.announce(ctx, nowhere)
			}
		}
	}
	return err
}

// sequenceOrgOnce does what sequenceOnce does for one organisation of a database
// that is distributed over several servers. There, the statement for one server
// would be divided into several that pass rows through the coordinator and
// commit in two phases. Each of these concerns one table instead.
func (s *Journal) sequenceOrgOnce(ctx context.Context, org access.OrgNo) (given int64, changed bool, err error) {
	err = s.db.Write(ctx, func(tx engine.Tx) (err error) {
		var place []engine.Stmt
		if given, changed, place, err = placeFew(tx, org); err == nil {
			tx.Last(place...)
		}
		return err
	})
	return given, changed, err
}

// placeFew returns the statements that assign positions to the first pending
// entries of an organisation, the number of those entries, and whether any is not
// for audit lines of reads, after taking the organisation's lock.
//
// The head is read before the entries: if another node, whose lock was lost, has
// just assigned positions to the same entries, both use the same positions, and
// the primary key of the journal refuses the second.
func placeFew(tx engine.Tx, org access.OrgNo) (given int64, changed bool, place []engine.Stmt, err error) {
	var head Pos
	var taken []int64
	if err := tx.Many(
		engine.Stmt{SQL: sequenceLock, Args: []any{[]int64{int64(org)}}, Each: func(engine.Row) error { return nil }},
		ReadHead(org, &head),
		engine.Stmt{SQL: `SELECT seq, at, subject, event_id, event_type, event_data, audit, packed FROM journal_pending WHERE org_no = $1 ORDER BY seq LIMIT $2`,
			Args: []any{int64(org), sequenceFew}, Each: func(r engine.Row) error {
				taken = append(taken, r.Int(0))
				changed = changed || r.Int(7) == 0
				place = append(place, engine.Stmt{Alike: 1, SQL: `INSERT INTO journal (org_no, pos, at, subject, event_id, event_type, event_data, audit, packed)
					VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
					Args: []any{int64(org), int64(head) + int64(len(taken)), r.Int(1), blob(r, 2), blob(r, 3), text(r, 4), text(r, 5), blob(r, 6), r.Int(7)}})
				return nil
			}},
	); err != nil || len(taken) == 0 {
		return 0, false, nil, err
	}
	given = int64(len(taken))
	return given, changed, append(place,
		engine.Stmt{SQL: `DELETE FROM journal_pending WHERE org_no = $1 AND seq = ANY($2)`, Args: []any{int64(org), taken}},
		engine.Stmt{SQL: `INSERT INTO journal_head (org_no, pos) VALUES ($1, $2) ON CONFLICT (org_no) DO UPDATE SET pos = excluded.pos`, Args: []any{int64(org), int64(head) + given}},
	), nil
}

// blob returns a copy of a column of bytes, or nil if it is NULL.
func blob(r engine.Row, column int) any {
	if r.IsNull(column) {
		return nil
	}
	return bytes.Clone(r.Raw(column))
}

// text returns a column of text, or nil if it is NULL.
func text(r engine.Row, column int) any {
	if r.IsNull(column) {
		return nil
	}
	return r.Text(column)
}
