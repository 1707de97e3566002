package webhooks

import (
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// tables is shared by both views.
type tables struct {
	db      *engine.DB
	journal *journal.Journal
	keys    *idempotency.Keys
	master  *seal.Master
}

// System is what the delivery of webhooks needs, across all organisations.
type System struct{ *tables }

// New returns the webhooks of a database; master seals their secrets.
func New(db *engine.DB, j *journal.Journal, keys *idempotency.Keys, master *seal.Master) System {
	return System{&tables{db, j, keys, master}}
}

// Org is the webhooks of one organisation, for a client or member.
type Org struct {
	*tables
	once    idempotency.Org
	org     access.OrgNo
	client  access.ClientNo
	account access.AccountNo
}

// For returns the webhooks of the principal's organisation.
func For(s System, p *access.Principal) Org {
	return Org{s.tables, idempotency.For(s.keys, p), p.Org, p.Client, p.Account}
}
