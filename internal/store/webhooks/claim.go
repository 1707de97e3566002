package webhooks

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/lease"
)

// WebhookKey names an endpoint among those of all organisations.
type WebhookKey struct {
	Org access.OrgNo
	No  int64
}

// WaitingWebhook is an enabled endpoint that may have work: entries of the
// journal that it has not seen, attempts whose outcome nobody wrote, or
// deliveries that are due.
type WaitingWebhook struct {
	WebhookKey
	// Head is where the organisation's journal ends.
	Head journal.Pos
	// Due is when a delivery is due; zero when none is waiting.
	Due time.Time
	// Token is of the claim that the endpoint is under, 0 when it is free;
	// Node has it, and Held says that it lives.
	Token, Node int64
	Held        bool
}

const selectWaiting = `SELECT c.org_no, c.webhook_no, h.pos, c.due_at, c.claim, n.lease_until, c.node
	FROM webhook w JOIN webhook_cursor c ON c.org_no = w.org_no AND c.webhook_no = w.webhook_no
	JOIN journal_head h ON h.org_no = w.org_no LEFT JOIN webhook_node n ON n.node = c.node
	WHERE w.enabled = 1`

const (
	waitingOf  = selectWaiting + ` AND w.org_no = $1`
	waitingAll = selectWaiting + ` AND (h.pos > c.pos OR c.due_at <= $1 OR length(c.open) > 0) AND (c.node IS NULL OR c.node <> $2 OR c.claim = 0 OR c.due_at <= $1)`
	// The second condition is what the index is used for.
	waitingDue = selectWaiting + ` AND (c.due_at, c.org_no, c.webhook_no) > ($1, $2, $3) AND c.due_at >= $1 AND c.due_at <= $4
		ORDER BY c.due_at, c.org_no, c.webhook_no LIMIT $5`
	firstDue = `SELECT due_at FROM webhook_cursor WHERE due_at > $1 ORDER BY due_at LIMIT 1`
)

func (s System) waiting(ctx context.Context, sql string, args ...any) (list []WaitingWebhook, err error) {
	after, upTo := lease.Living(s.db.Now())
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		list = nil
		return tx.Query(sql, func(r engine.Row) error {
			w := WaitingWebhook{WebhookKey: WebhookKey{access.OrgNo(r.Int(0)), r.Int(1)}, Head: journal.Pos(r.Int(2)), Token: r.Int(4), Node: r.Int(6)}
			if !r.IsNull(3) {
				w.Due = engine.FromMillis(r.Int(3))
			}
			w.Held = w.Token != 0 && !r.IsNull(5) && r.Int(5) > after && r.Int(5) <= upTo
			list = append(list, w)
			return nil
		}, args...)
	})
	return list, err
}

// WebhooksOf gives the enabled endpoints of an organisation, whether or not
// there is work for them.
func (s System) WebhooksOf(ctx context.Context, org access.OrgNo) ([]WaitingWebhook, error) {
	return s.waiting(ctx, waitingOf, int64(org))
}

// WaitingWebhooks gives the endpoints of all organisations that may have work;
// of those that a node has claimed itself only the ones with a delivery that is
// due. It looks at every endpoint.
func (s System) WaitingWebhooks(ctx context.Context, node int64) ([]WaitingWebhook, error) {
	return s.waiting(ctx, waitingAll, engine.Millis(s.db.Now()), node)
}

// DuePage is how many endpoints DueWebhooks gives at a time.
const DuePage = 500

// DuePlace is a place in the order in which endpoints are due. The zero value
// is before all of them.
type DuePlace struct {
	At time.Time
	WebhookKey
}

// Place is where an endpoint that DueWebhooks gave stands.
func (w *WaitingWebhook) Place() DuePlace { return DuePlace{w.Due, w.WebhookKey} }

// DueAfter is the place behind all endpoints that were due by a moment.
func DueAfter(t time.Time) DuePlace {
	return DuePlace{t, WebhookKey{Org: math.MaxInt64, No: math.MaxInt64}}
}

// DueWebhooks gives the endpoints behind a place that have a delivery due by a
// moment, in the order in which they are due, up to DuePage of them. What it
// costs does not grow with the endpoints before the place, such as those that
// are being worked on.
func (s System) DueWebhooks(ctx context.Context, after DuePlace, by time.Time) ([]WaitingWebhook, error) {
	from := int64(0)
	if !after.At.IsZero() {
		from = engine.Millis(after.At)
	}
	return s.waiting(ctx, waitingDue, from, int64(after.Org), after.No, engine.Millis(by), DuePage)
}

// NextDue says when the first delivery after a moment is due, of all endpoints;
// zero when none is.
func (s System) NextDue(ctx context.Context, after time.Time) (at time.Time, err error) {
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		_, err := engine.One(tx, firstDue, func(r engine.Row) { at = engine.FromMillis(r.Int(0)) }, engine.Millis(after))
		return err
	})
	return at, err
}

// JournalHeads calls each for every organisation and the end of its journal.
func (s System) JournalHeads(ctx context.Context, each func(access.OrgNo, journal.Pos)) error {
	return s.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT org_no, pos FROM journal_head`, func(r engine.Row) error {
			each(access.OrgNo(r.Int(0)), journal.Pos(r.Int(1)))
			return nil
		})
	})
}

// JournalSize is the number of entries in the journals of all organisations:
// whether any has grown.
func (s System) JournalSize(ctx context.Context) (entries int64, err error) {
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		_, err := engine.One(tx, `SELECT CAST(coalesce(sum(pos), 0) AS BIGINT) FROM journal_head`, func(r engine.Row) { entries = r.Int(0) })
		return err
	})
	return entries, err
}

// WebhookClaim is the right of one node to deliver to an endpoint. All that is
// written under it carries its token, and is refused once there is another, so
// that a node that slept cannot move the cursor of one that took over.
type WebhookClaim struct {
	WebhookKey
	Token int64
	// ID and OrgID name the endpoint and its organisation to people.
	ID    id.Webhook
	OrgID id.Org
	// Pos is how far the endpoint has come; Open are the positions up to it
	// whose outcome is not known, and which are to be sent again.
	Pos  journal.Pos
	Open []journal.Pos
	// FailingSince is when the first attempt failed after which none
	// succeeded; zero when the last one succeeded.
	FailingSince time.Time
	// Due is when a delivery is due; zero when none is waiting.
	Due time.Time
}

// HoldWebhooks renews the lease of a node until a moment, and with it all its
// claims.
func (s System) HoldWebhooks(ctx context.Context, node int64, until time.Time) error {
	return s.db.Write(ctx, func(tx engine.Tx) error { return tx.Many(holdNode(node, until)) })
}

func holdNode(node int64, until time.Time) engine.Stmt {
	return engine.Stmt{SQL: `INSERT INTO webhook_node (node, lease_until) VALUES ($1, $2) ON CONFLICT (node) DO UPDATE SET lease_until = excluded.lease_until`,
		Args: []any{node, engine.Millis(until)}}
}

// ReleaseWebhooks gives all claims of a node up.
func (s System) ReleaseWebhooks(ctx context.Context, node int64) error {
	return s.db.Write(ctx, func(tx engine.Tx) error {
		_, err := tx.Exec(`DELETE FROM webhook_node WHERE node = $1`, node)
		return err
	})
}

// ClaimWebhooks claims those endpoints that are enabled and that no living
// node has, and holds the node until a moment. newToken makes tokens that
// nobody else makes.
func (s System) ClaimWebhooks(ctx context.Context, node int64, until time.Time, newToken func() int64, keys []WebhookKey) (claims []*WebhookClaim, err error) {
	after, upTo := lease.Living(s.db.Now())
	// Two nodes that lock the same rows do so in the same order.
	keys = slices.SortedFunc(slices.Values(keys), func(a, b WebhookKey) int {
		return cmp.Or(cmp.Compare(a.Org, b.Org), cmp.Compare(a.No, b.No))
	})
	tokens := make([]int64, len(keys))
	for i := range tokens {
		tokens[i] = newToken()
	}
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		claims = nil
		stmts := make([]engine.Stmt, 0, 1+2*len(keys))
		stmts = append(stmts, holdNode(node, until))
		for i, key := range keys {
			// The row is locked before it is judged: an UPDATE that waits for
			// another node's claim would see the claim, but not that node's lease.
			stmts = append(stmts, engine.Stmt{SQL: `SELECT 1 FROM webhook_cursor WHERE org_no = $1 AND webhook_no = $2 /*FOR UPDATE*/`,
				Args: []any{int64(key.Org), key.No}, Each: func(engine.Row) error { return nil }})
			stmts = append(stmts, engine.Stmt{SQL: `UPDATE webhook_cursor SET node = $3, claim = $4 WHERE org_no = $1 AND webhook_no = $2
				AND (node IS NULL OR node = $3 OR claim = 0
					OR NOT EXISTS (SELECT 1 FROM webhook_node n WHERE n.node = webhook_cursor.node AND n.lease_until > $5 AND n.lease_until <= $6))
				AND EXISTS (SELECT 1 FROM webhook w WHERE w.org_no = $1 AND w.webhook_no = $2 AND w.enabled = 1)
				RETURNING pos, open, failing_since, due_at, (SELECT id FROM webhook w WHERE w.org_no = $1 AND w.webhook_no = $2),
					(SELECT id FROM org o WHERE o.org_no = $1)`,
				Args: []any{int64(key.Org), key.No, node, tokens[i], after, upTo},
				Each: func(r engine.Row) (err error) {
					c := &WebhookClaim{WebhookKey: key, Token: tokens[i], Pos: journal.Pos(r.Int(0)), Open: unpackPositions(r.Raw(1))}
					if !r.IsNull(2) {
						c.FailingSince = engine.FromMillis(r.Int(2))
					}
					if !r.IsNull(3) {
						c.Due = engine.FromMillis(r.Int(3))
					}
					if c.ID, err = id.FromBytes[id.WebhookKind](r.Raw(4)); err != nil {
						return err
					}
					c.OrgID, err = id.FromBytes[id.OrgKind](r.Raw(5))
					claims = append(claims, c)
					return err
				}})
		}
		return tx.Many(stmts...)
	})
	return claims, err
}
