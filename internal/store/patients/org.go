package patients

import (
	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/signal"
)

// tables is what both views share.
type tables struct {
	db      *engine.DB
	journal *journal.Journal
	keys    *idempotency.Keys
	counts  *metrics
	// remembered has the aliases of organisations.
	remembered rememberedAliases
}

// System is the work on the patients of all organisations: alerts that come with
// a new day, derivations, imports and checks.
type System struct{ *tables }

// New gives the patients of a database. The registry takes the metrics of the
// workers; nil keeps them to itself.
func New(db *engine.DB, j *journal.Journal, keys *idempotency.Keys, registry prometheus.Registerer) System {
	return System{&tables{db, j, keys, newMetrics(registry), rememberedAliases{signal: signal.New()}}}
}

// Org is the patients of one organisation.
type Org struct {
	*tables
	once idempotency.Org
	org  access.OrgNo
}

// For gives the patients of the principal's organisation.
func For(s System, p *access.Principal) Org {
	return Org{s.tables, idempotency.For(s.keys, p), p.Org}
}

// of gives the patients of an organisation, for nobody in particular.
func (t *tables) of(org access.OrgNo) Org { return For(System{t}, &access.Principal{Org: org}) }
