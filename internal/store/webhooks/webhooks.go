package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// Webhook is an endpoint to which an organisation's events are delivered.
type Webhook struct {
	ID          id.Webhook
	URL         string
	Events      []event.Type // or event.All
	Description string
	Enabled     bool
	// DisabledReason is "" for an enabled endpoint.
	DisabledReason string
	CreatedAt      time.Time
	Version        int64
	// OldSecretEnds is until when the previous secret also signs, or zero if
	// there is none.
	OldSecretEnds time.Time
	// OwnerRole is the role of the member who created the endpoint, or whose
	// application did. It is nil if unknown, or if it was the operator's.
	OwnerRole *access.Role
	// owner is the number of that member until withOwners has read the role.
	owner int64
}

// ChangedBy reports whether a member with the role may change the endpoint:
// administrators may change all, developers those created by developers.
func (w *Webhook) ChangedBy(role access.Role) bool {
	if role.Has(access.Administrator) {
		return true
	}
	return role.Has(access.Developer) && w.OwnerRole != nil && !w.OwnerRole.Has(access.Administrator)
}

// The reasons why an endpoint is disabled.
const (
	DisabledByRequest = "requested" // on request
	DisabledGone      = "gone"      // the receiver returned 410
	DisabledFailing   = "failing"   // all attempts failed for FailingFor
)

const (
	// MaxWebhooks is the maximum number of endpoints of an organisation.
	MaxWebhooks = 100
	// SecretOverlap is how long a secret signs after its rotation.
	SecretOverlap = 24 * time.Hour
	// FailingFor is how long all attempts may fail before an endpoint is
	// disabled.
	FailingFor = 5 * 24 * time.Hour
)

// CreateWebhook stores a new endpoint with its signing secret, and returns the
// outcome, or that of an earlier request with the same key. Deliveries begin
// with the next event.
func (o Org) CreateWebhook(ctx context.Context, w *Webhook, secret string, c journal.Change, key *idempotency.Once, out idempotency.Outcome) (idempotency.Outcome, error) {
	sealed := o.sealSecret(w.ID, secret)
	return o.once.Do(ctx, key, w.CreatedAt, func(tx engine.Tx) (idempotency.Outcome, error) {
		// The lock makes numbers follow the order of creation, and enforces the
		// limit, even with concurrent requests.
		var owner any
		if err := tx.Many(
			engine.Stmt{SQL: `SELECT org_no FROM org WHERE org_no = $1 /*FOR UPDATE*/`, Args: []any{int64(o.org)}, Each: func(engine.Row) error { return nil }},
			engine.Stmt{SQL: webhookActor, Args: []any{int64(o.org), int64(o.account), int64(o.client)}, Each: func(r engine.Row) error {
				if !r.IsNull(0) {
					owner = r.Int(0)
				}
				return nil
			}},
		); err != nil {
			return out, err
		}
		count, no, err := o.nextWebhook(tx)
		if err != nil {
			return out, err
		}
		if count >= MaxWebhooks {
			return out, fault.New(fault.Conflict, fmt.Sprintf("An organisation can have %d webhooks; delete one first.", MaxWebhooks), "limit", MaxWebhooks)
		}
		tx.Last(
			engine.Stmt{SQL: `INSERT INTO webhook (org_no, webhook_no, id, version, created_at, url, events, description, enabled, disabled_reason, secret, owner_no)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
				Args: []any{int64(o.org), no, w.ID.Bytes(), w.Version, engine.Millis(w.CreatedAt), w.URL, joinTypes(w.Events), w.Description, number(w.Enabled), w.DisabledReason, sealed, owner}},
			engine.Stmt{SQL: `INSERT INTO webhook_cursor (org_no, webhook_no, pos, open, pending, failure, claim)
				SELECT org_no, $2, pos, $3, 0, '', 0 FROM journal_head WHERE org_no = $1`, Args: []any{int64(o.org), no, []byte{}}},
		)
		tx.Last(o.journal.Entry(o.org, c)...)
		return out, nil
	})
}

// nextWebhook returns the number of endpoints and the number of the next one. A
// deleted endpoint keeps its number until its deliveries are purged.
func (o Org) nextWebhook(tx engine.Tx) (count, next int64, err error) {
	_, err = engine.One(tx, `SELECT (SELECT count(*) FROM webhook WHERE org_no = $1), coalesce(max(webhook_no), 0) + 1 FROM webhook_cursor WHERE org_no = $1`,
		func(r engine.Row) { count, next = r.Int(0), r.Int(1) }, int64(o.org))
	return count, next, err
}

// webhookActor selects the acting member: the one of the view, or the one who
// registered its application.
const webhookActor = `SELECT account_no FROM account WHERE org_no = $1 AND account_no = $2
	UNION ALL SELECT owner_no FROM client WHERE org_no = $1 AND client_no = $3`

// webhookColumns lists the columns that scanWebhook reads.
const webhookColumns = `id, version, created_at, url, events, description, enabled, disabled_reason, old_secret_ends, webhook_no, owner_no`

func scanWebhook(r engine.Row) (w Webhook, no int64, err error) {
	w = Webhook{
		Version: r.Int(1), CreatedAt: engine.FromMillis(r.Int(2)), URL: r.Text(3), Events: splitTypes(r.Text(4)), Description: r.Text(5),
		Enabled: r.Int(6) == 1, DisabledReason: r.Text(7), OldSecretEnds: engine.Moment(r, 8),
	}
	if !r.IsNull(10) {
		w.owner = r.Int(10)
	}
	w.ID, err = id.FromBytes[id.WebhookKind](r.Raw(0))
	return w, r.Int(9), err
}

// WebhookPage returns a page of the endpoints in order of creation, and their
// total number.
func (o Org) WebhookPage(ctx context.Context, page, limit int64) (hooks []Webhook, total int64, err error) {
	byCreation := engine.Listing[Webhook]{Table: "webhook", Columns: webhookColumns, Order: "webhook_no", Scan: func(r engine.Row) (w Webhook, err error) {
		w, _, err = scanWebhook(r)
		return w, err
	}}
	if hooks, total, err = byCreation.Page(ctx, o.db, int64(o.org), page, limit); err != nil {
		return nil, 0, err
	}
	err = o.db.Read(ctx, func(tx engine.Tx) error { return o.withOwners(tx, hooks) })
	return hooks, total, err
}

// withOwners reads the roles of the owners of endpoints. In a Citus cluster they
// are on another server than the endpoints.
func (o Org) withOwners(tx engine.Tx, hooks []Webhook) error {
	if !slices.ContainsFunc(hooks, func(w Webhook) bool { return w.owner != 0 }) {
		return nil
	}
	roles := map[int64]*access.Role{}
	if err := tx.Query(`SELECT account_no, role FROM account WHERE org_no = $1`, func(r engine.Row) error {
		role := access.Role(r.Int(1))
		roles[r.Int(0)] = &role
		return nil
	}, int64(o.org)); err != nil {
		return err
	}
	for i := range hooks {
		hooks[i].OwnerRole, hooks[i].owner = roles[hooks[i].owner], 0
	}
	return nil
}

// Webhook reads one endpoint.
func (o Org) Webhook(ctx context.Context, webhookID id.Webhook) (w Webhook, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		if w, _, err = o.webhook(tx, webhookID); err != nil {
			return err
		}
		one := []Webhook{w}
		err = o.withOwners(tx, one)
		w = one[0]
		return err
	})
	return w, err
}

const (
	readWebhook   = `SELECT ` + webhookColumns + ` FROM webhook WHERE org_no = $1 AND id = $2`
	selectWebhook = readWebhook + ` /*FOR UPDATE*/`
	memberRole    = `SELECT role FROM account WHERE org_no = $1 AND account_no = $2 AND disabled_at IS NULL`
	clientRole    = `SELECT owner_role FROM client WHERE org_no = $1 AND client_no = $2`
)

// webhookToChange reads an endpoint with its number, locks it, and returns an
// error if the caller may not change it. An application acts with the role of
// the member who registered it, at that time; one of the operator acts as an
// administrator.
func (o Org) webhookToChange(tx engine.Tx, webhookID id.Webhook) (w Webhook, no int64, err error) {
	var hooks []Webhook
	may := func(*Webhook) bool { return o.account == 0 }
	role := engine.Stmt{SQL: clientRole, Args: []any{int64(o.org), int64(o.client)}}
	if o.account != 0 {
		role = engine.Stmt{SQL: memberRole, Args: []any{int64(o.org), int64(o.account)}}
	}
	role.Each = func(r engine.Row) error {
		if !r.IsNull(0) {
			as := access.Role(r.Int(0))
			may = func(w *Webhook) bool { return w.ChangedBy(as) }
		}
		return nil
	}
	if err := tx.Many(engine.Stmt{SQL: selectWebhook, Args: []any{int64(o.org), webhookID.Bytes()}, Each: func(r engine.Row) (err error) {
		w, no, err = scanWebhook(r)
		hooks = append(hooks, w)
		return err
	}}, role); err != nil {
		return w, 0, err
	}
	if len(hooks) == 0 {
		return w, 0, fault.Missing("webhook", webhookID.String())
	}
	if err := o.withOwners(tx, hooks); err != nil {
		return w, 0, err
	}
	if w = hooks[0]; !may(&w) {
		err = fault.New(fault.Forbidden, "This webhook belongs to an administrator; only administrators, and applications that they registered, may change it.")
	}
	return w, no, err
}

// webhook reads an endpoint with its number.
func (o Org) webhook(tx engine.Tx, webhookID id.Webhook) (w Webhook, no int64, err error) {
	found := false
	err = tx.Query(readWebhook, func(r engine.Row) (err error) {
		found = true
		w, no, err = scanWebhook(r)
		return err
	}, int64(o.org), webhookID.Bytes())
	if err == nil && !found {
		err = fault.Missing("webhook", webhookID.String())
	}
	return w, no, err
}

// UpdateWebhook reads an endpoint, lets rule change its URL, events,
// description or status, and stores the result with the change that rule
// returns. A nil Change means that nothing changed.
//
// An endpoint that is enabled again continues at the head of the journal;
// RecoverWebhook sends what it missed. Deliveries waiting for another attempt
// keep waiting while it is disabled, and are then due.
func (o Org) UpdateWebhook(ctx context.Context, webhookID id.Webhook, rule func(old Webhook) (Webhook, *journal.Change, error)) (w Webhook, err error) {
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		old, no, err := o.webhookToChange(tx, webhookID)
		if err != nil {
			return err
		}
		var c *journal.Change
		if w, c, err = rule(old); err != nil || c == nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `UPDATE webhook SET version = $3, url = $4, events = $5, description = $6, enabled = $7, disabled_reason = $8
			WHERE org_no = $1 AND webhook_no = $2`,
			Args: []any{int64(o.org), no, w.Version, w.URL, joinTypes(w.Events), w.Description, number(w.Enabled), w.DisabledReason}})
		if w.URL != old.URL {
			tx.Last(engine.Stmt{SQL: `UPDATE webhook_cursor SET failing_since = NULL, claim = 0 WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(o.org), no}})
		}
		if w.Enabled != old.Enabled {
			tx.Last(switchWebhook(o.org, no, w.Enabled))
		}
		tx.Last(o.journal.Entry(o.org, *c)...)
		return nil
	})
	return w, err
}

// DeleteWebhook deletes an endpoint. The next purges delete its deliveries.
func (o Org) DeleteWebhook(ctx context.Context, webhookID id.Webhook, c journal.Change) error {
	return o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		_, no, err := o.webhookToChange(tx, webhookID)
		if err != nil {
			return err
		}
		tx.Last(
			engine.Stmt{SQL: `DELETE FROM webhook WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(o.org), no}},
			engine.Stmt{SQL: `UPDATE webhook_cursor SET due_at = NULL, node = NULL, claim = 0 WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(o.org), no}},
		)
		tx.Last(o.journal.Entry(o.org, c)...)
		return nil
	})
}

func joinTypes(types []event.Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ",")
}

func splitTypes(joined string) []event.Type {
	names := strings.Split(joined, ",")
	types := make([]event.Type, len(names))
	for i, n := range names {
		types[i] = event.Type(n)
	}
	return types
}

// number returns a bool as it is stored.
func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
