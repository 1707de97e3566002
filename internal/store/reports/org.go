package reports

import (
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/signal"
)

// tables is shared by both views.
type tables struct {
	db      *engine.DB
	journal *journal.Journal
	keys    *idempotency.Keys
	// reportQueued is broadcast when this process queues a report.
	reportQueued *signal.Signal
}

// System is the queue of all organisations' reports.
type System struct{ *tables }

// New returns the reports of a database.
func New(db *engine.DB, j *journal.Journal, keys *idempotency.Keys) System {
	return System{&tables{db, j, keys, signal.New()}}
}

// Org is the reports of one organisation.
type Org struct {
	*tables
	once idempotency.Org
	org  access.OrgNo
}

// For returns the reports of the principal's organisation.
func For(s System, p *access.Principal) Org {
	return Org{s.tables, idempotency.For(s.keys, p), p.Org}
}

// of returns the reports of an organisation, without a principal.
func (t *tables) of(org access.OrgNo) Org { return For(System{t}, &access.Principal{Org: org}) }
