package reports

import (
	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/signal"
	"anodyne.example/anodyne/internal/worker"
)

// tables is shared by both views.
type tables struct {
	db      *engine.DB
	journal *journal.Journal
	keys    *idempotency.Keys
	// reportQueued is broadcast when this process queues a report, and
	// reportTold when another process has jobs that it has no room for.
	reportQueued, reportTold *signal.Signal
	// discarded is broadcast when this process has deleted a report or an export.
	discarded *signal.Signal
	// claiming are the organisations whose jobs could not be claimed or expired.
	claiming *worker.Orgs
}

// System is the queue of all organisations' reports.
type System struct{ *tables }

// New returns the reports of a database.
func New(db *engine.DB, j *journal.Journal, keys *idempotency.Keys, registry prometheus.Registerer) System {
	t := &tables{db, j, keys, signal.New(), signal.New(), signal.New(), worker.NewOrgs(registry, db.Log, "reports", db.OrgID)}
	db.Hear(queueChannel, func(string) { t.reportTold.Broadcast() })
	return System{t}
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
