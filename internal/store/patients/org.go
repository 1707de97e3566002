package patients

import (
	"github.com/prometheus/client_golang/prometheus"

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
	counts  *metrics
	// remembered caches the aliases of organisations.
	remembered rememberedAliases
	// creating combines the new patients of an organisation.
	creating *engine.Together[newPatient]
}

// System does the work on the patients of all organisations: alerts due with a
// new day, derivations, imports and checks.
type System struct{ *tables }

// New returns the patients of a database. It registers the metrics of the
// workers with registry, if not nil.
func New(db *engine.DB, j *journal.Journal, keys *idempotency.Keys, registry prometheus.Registerer) System {
	t := &tables{db: db, journal: j, keys: keys, counts: newMetrics(registry), remembered: rememberedAliases{signal: signal.New()}}
	t.creating = engine.NewTogether(db, t.create, func(org int64) { j.Changed([]access.OrgNo{access.OrgNo(org)}) })
	return System{t}
}

// Org is the patients of one organisation.
type Org struct {
	*tables
	once idempotency.Org
	org  access.OrgNo
}

// For returns the patients of the principal's organisation.
func For(s System, p *access.Principal) Org {
	return Org{s.tables, idempotency.For(s.keys, p), p.Org}
}

// of returns the patients of an organisation, without a principal.
func (t *tables) of(org access.OrgNo) Org { return For(System{t}, &access.Principal{Org: org}) }
