package accounts

import (
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// tables is shared by both views.
type tables struct {
	db      *engine.DB
	journal *journal.Journal
}

// System is the members of all organisations, for the operator and for lookups
// by secret or e-mail address.
type System struct{ *tables }

// New returns the members of a database.
func New(db *engine.DB, j *journal.Journal) System { return System{&tables{db, j}} }

// Org is the members of one organisation, for the member who is signed in.
type Org struct {
	*tables
	org     access.OrgNo
	account access.AccountNo
}

// For returns the members of the principal's organisation.
func For(s System, p *access.Principal) Org { return Org{s.tables, p.Org, p.Account} }

// of returns the members of an organisation, without a principal.
func (t *tables) of(org access.OrgNo) Org { return Org{tables: t, org: org} }
