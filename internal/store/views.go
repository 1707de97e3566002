package store

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// The parts of the views, under names that other packages cannot select.
type (
	orgJournal  = journal.Org
	orgPatients = patients.Org
	orgReports  = reports.Org
	orgWebhooks = webhooks.Org
	orgAccounts = accounts.Org
	orgClients  = clients.Org

	systemJournal  = journal.System
	systemPatients = patients.System
	systemReports  = reports.System
	systemWebhooks = webhooks.System
	systemAccounts = accounts.System
	systemClients  = clients.System
)

// Org is one organisation's view of the store: every statement of its methods
// is restricted to that organisation.
type Org struct {
	orgJournal
	orgPatients
	orgReports
	orgWebhooks
	orgAccounts
	orgClients
	org   access.OrgNo
	store *Store
}

// For returns the view of the principal's organisation.
func (s *Store) For(p *access.Principal) Org {
	return Org{s.journal.For(p.Org), patients.For(s.patients, p), reports.For(s.reports, p), webhooks.For(s.webhooks, p),
		accounts.For(s.accounts, p), clients.For(s.clients, p), p.Org, s}
}

// No returns the organisation of the view.
func (o Org) No() access.OrgNo { return o.org }

// System is the view of workers and the command line: everything that belongs
// to no organisation, or to all.
type System struct {
	*Store
	systemJournal
	systemPatients
	systemReports
	systemWebhooks
	systemAccounts
	systemClients
}

// System returns the view of workers and the command line.
func (s *Store) System() System {
	return System{s, s.journal.System(), s.patients, s.reports, s.webhooks, s.accounts, s.clients}
}

// Listen receives what other nodes tell this one until the context ends. On
// SQLite it returns at once.
func (s System) Listen(ctx context.Context) error { return s.db.Listen(ctx) }

// Elect takes part in the election of the node that does the background work of
// all nodes until the context ends. On SQLite it returns at once.
func (s System) Elect(ctx context.Context) error { return s.db.Elect(ctx) }

// Announce sets what this node tells the others about itself; see
// [engine.DB.Announce].
func (s System) Announce(text string) { s.db.Announce(text) }

// Members returns the number of this node and the nodes that are running; see
// [engine.DB.Members].
func (s System) Members() (self int64, all []engine.Member) { return s.db.Members() }

// Duty returns what this node does in the background now.
func (s System) Duty() engine.Duty { return s.db.Duty() }

// NewPoll returns when a worker of this node polls; see [engine.DB.NewPoll].
func (s System) NewPoll(follow time.Duration) *engine.Poll { return s.db.NewPoll(follow) }

// Dump calls fn with a snapshot of the database. Concurrent writes are not part
// of it and are not blocked.
func (s System) Dump(ctx context.Context, fn func(*engine.Dump) error) error {
	return s.db.Dump(ctx, fn)
}

// organizations returns the operator's principals of all organisations.
func (s System) organizations(ctx context.Context) (list []access.Principal, err error) {
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		list = nil
		return tx.Query(`SELECT org_no, id FROM org ORDER BY org_no`, func(r engine.Row) error {
			org, err := id.FromBytes[id.OrgKind](r.Raw(1))
			list = append(list, access.Principal{Org: access.OrgNo(r.Int(0)), OrgID: org})
			return err
		})
	})
	return list, err
}

// Organization returns the operator's view of the organisation with a name.
func (s System) Organization(ctx context.Context, name string) (Org, error) {
	var no access.OrgNo
	err := s.db.Read(ctx, func(tx engine.Tx) error {
		found, err := engine.One(tx, `SELECT org_no, id FROM org WHERE name = $1`, func(r engine.Row) { no = access.OrgNo(r.Int(0)) }, name)
		if err == nil && !found {
			err = fault.Missing("organization", name)
		}
		return err
	})
	return s.For(&access.Principal{Org: no}), err
}
