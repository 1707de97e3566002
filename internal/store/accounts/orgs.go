package accounts

import (
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// EnsureOrg finds an organisation by name, or creates it with the given
// identifier, its counters and an audit line.
func EnsureOrg(j *journal.Journal, tx engine.Tx, name string, fresh id.Org, now time.Time) (no access.OrgNo, orgID id.Org, err error) {
	made, err := tx.Exec(`INSERT INTO org (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`, fresh.Bytes(), name, engine.Millis(now))
	if err != nil {
		return 0, orgID, err
	}
	if _, err = engine.One(tx, `SELECT org_no, id FROM org WHERE name = $1`, func(r engine.Row) {
		no = access.OrgNo(r.Int(0))
		orgID, _ = id.FromBytes[id.OrgKind](r.Raw(1))
	}, name); err != nil || made == 0 {
		return no, orgID, err
	}
	for _, sql := range []string{`INSERT INTO org_counter (org_no, patients) VALUES ($1, 0)`, `INSERT INTO journal_head (org_no, pos) VALUES ($1, 0)`} {
		if _, err := tx.Exec(sql, int64(no)); err != nil {
			return 0, orgID, err
		}
	}
	tx.Last(j.Entry(no, journal.Change{Audit: audit.Entry{At: now, Actor: audit.Operator, Action: audit.OrgCreate, Resource: orgID.String()}})...)
	return no, orgID, nil
}
