package clients

import (
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// tables is what both views share.
type tables struct {
	db      *engine.DB
	journal *journal.Journal
}

// System is the clients of all organisations: the operator's work, tokens, and
// the windows of the rate limit.
type System struct{ *tables }

// New gives the clients of a database.
func New(db *engine.DB, j *journal.Journal) System { return System{&tables{db, j}} }

// Org is the clients of one organisation, for the client or member who asks.
type Org struct {
	*tables
	org     access.OrgNo
	client  access.ClientNo
	account access.AccountNo
}

// For gives the clients of the principal's organisation.
func For(s System, p *access.Principal) Org { return Org{s.tables, p.Org, p.Client, p.Account} }
