package clients

import (
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// tables is shared by both views.
type tables struct {
	db      *engine.DB
	journal *journal.Journal
	issuing *engine.Together[*newToken]
}

// System is the clients of all organisations, for the operator, tokens, and
// rate limit windows.
type System struct{ *tables }

// New returns the clients of a database.
func New(db *engine.DB, j *journal.Journal) System {
	db.Carry(selectEpoch)
	t := &tables{db: db, journal: j}
	t.issuing = engine.NewTogether(db, t.issue, nil)
	return System{t}
}

// Org is the clients of one organisation, for a client or member.
type Org struct {
	*tables
	org     access.OrgNo
	client  access.ClientNo
	account access.AccountNo
}

// For returns the clients of the principal's organisation.
func For(s System, p *access.Principal) Org { return Org{s.tables, p.Org, p.Client, p.Account} }
