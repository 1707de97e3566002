package webhooks

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/lease"
)

// Key identifies an endpoint across all organisations.
type Key struct {
	Org access.OrgNo
	No  int64
}

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Org, other.Org), cmp.Compare(k.No, other.No))
}

// WaitingWebhook is an enabled endpoint that may have work: journal entries
// that it has not seen, attempts without a recorded outcome, or deliveries that
// are due.
type WaitingWebhook struct {
	Key
	// Head is the end of the organisation's journal.
	Head journal.Pos
	// Due is when the next delivery is due, or zero if none is waiting.
	Due time.Time
	// Token is that of the current claim, or 0 if the endpoint is free; Node
	// holds the claim, and Held reports whether that node is alive.
	Token, Node int64
	Held        bool
}

const selectWaiting = `SELECT c.org_no, c.webhook_no, h.pos, c.due_at, c.claim, c.node, n.lease_until
	FROM webhook w JOIN webhook_cursor c ON c.org_no = w.org_no AND c.webhook_no = w.webhook_no
	JOIN journal_head h ON h.org_no = w.org_no ` + joinLease + `
	WHERE w.enabled = 1`

// joinLease adds the lease of the node that holds a claim. In a Citus cluster,
// leases are on the coordinator, which would send them to all workers, also to
// those that are down. There, they are read separately.
const joinLease = `LEFT JOIN webhook_node n ON n.node = c.node`

var withoutLease = strings.NewReplacer(joinLease, "", "n.lease_until", "CAST(NULL AS BIGINT)")

const (
	waitingOf  = selectWaiting + ` AND w.org_no = $1`
	waitingAll = selectWaiting + ` AND (h.pos > c.pos OR c.due_at <= $1 OR length(c.open) > 0) AND (c.node IS NULL OR c.node <> $2 OR c.claim = 0 OR c.due_at <= $1)
		/*AND w.org_no = ANY($3) AND c.org_no = ANY($3) AND h.org_no = ANY($3)*/`
	// The second condition makes the database use the index.
	waitingDue = selectWaiting + ` AND (c.due_at, c.org_no, c.webhook_no) > ($1, $2, $3) AND c.due_at >= $1 AND c.due_at <= $4
		/*AND w.org_no = ANY($6) AND c.org_no = ANY($6) AND h.org_no = ANY($6)*/ ORDER BY c.due_at, c.org_no, c.webhook_no LIMIT $5`
	firstDue = `SELECT due_at FROM webhook_cursor WHERE due_at > $1 /*AND org_no = ANY($2)*/ ORDER BY due_at LIMIT 1`
)

// OrgID returns the identifier of an organisation, for the log.
func (s System) OrgID(ctx context.Context, org access.OrgNo) (id.Org, error) {
	return s.db.OrgID(ctx, org)
}

// scanWaiting returns how to read a row of selectWaiting now.
func (s System) scanWaiting(leases map[int64]int64) func(r engine.Row) (WaitingWebhook, error) {
	after, upTo := lease.Living(s.db.Now())
	return func(r engine.Row) (WaitingWebhook, error) {
		w := WaitingWebhook{Key: Key{access.OrgNo(r.Int(0)), r.Int(1)}, Head: journal.Pos(r.Int(2)), Due: engine.Moment(r, 3), Token: r.Int(4), Node: r.Int(5)}
		until, held := leases[w.Node]
		if !r.IsNull(6) {
			until, held = r.Int(6), true
		}
		w.Held = w.Token != 0 && held && until > after && until <= upTo
		return w, nil
	}
}

// waiting returns the endpoints that a form of selectWaiting selects. If a part
// of the database is unavailable, it returns those of the others with an error
// that wraps [engine.ErrPart].
func (s System) waiting(ctx context.Context, sql string, args ...any) ([]WaitingWebhook, error) {
	var leases map[int64]int64
	if s.db.Distributed() {
		sql, leases = withoutLease.Replace(sql), map[int64]int64{}
		if err := s.db.Read(ctx, func(tx engine.Tx) error {
			return tx.Query(`SELECT node, lease_until FROM webhook_node`, func(r engine.Row) error {
				leases[r.Int(0)] = r.Int(1)
				return nil
			})
		}); err != nil {
			return nil, err
		}
	}
	return engine.List(ctx, s.db, sql, s.scanWaiting(leases), args...)
}

// WebhooksOf returns the enabled endpoints of an organisation, whether or not
// they have work.
func (s System) WebhooksOf(ctx context.Context, org access.OrgNo) ([]WaitingWebhook, error) {
	scan := s.scanWaiting(nil)
	return engine.Get(ctx, s.db, func(tx engine.Tx) (list []WaitingWebhook, err error) {
		err = tx.Query(waitingOf, func(r engine.Row) error {
			w, err := scan(r)
			list = append(list, w)
			return err
		}, int64(org))
		return list, err
	})
}

// The following methods are about all organisations. If a part of the database
// is unavailable, they return what they could read of the others with an error that
// wraps [engine.ErrPart].

// WaitingWebhooks returns the endpoints of all organisations that may have
// work. It omits those that node has claimed itself, unless a delivery is due.
// It reads every endpoint.
func (s System) WaitingWebhooks(ctx context.Context, node int64) ([]WaitingWebhook, error) {
	return s.waiting(ctx, waitingAll, engine.Millis(s.db.Now()), node)
}

// DuePage is the maximum number of endpoints that DueWebhooks returns.
const DuePage = 500

// DuePlace is a position in the order in which endpoints are due. The zero
// value comes before all of them.
type DuePlace struct {
	At time.Time
	Key
}

// Place returns the position of an endpoint returned by DueWebhooks.
func (w *WaitingWebhook) Place() DuePlace { return DuePlace{w.Due, w.Key} }

// DueAfter returns the position after all endpoints due by t.
func DueAfter(t time.Time) DuePlace {
	return DuePlace{t, Key{Org: math.MaxInt64, No: math.MaxInt64}}
}

// DueWebhooks returns the endpoints after a position that have a delivery due
// by a time, in the order in which they are due, up to DuePage of them. The
// cost does not depend on the endpoints before that position, such as those
// being worked on.
func (s System) DueWebhooks(ctx context.Context, after DuePlace, by time.Time) ([]WaitingWebhook, error) {
	from := int64(0)
	if !after.At.IsZero() {
		from = engine.Millis(after.At)
	}
	list, err := s.waiting(ctx, waitingDue, from, int64(after.Org), after.No, engine.Millis(by), DuePage)
	slices.SortFunc(list, func(a, b WaitingWebhook) int { return cmp.Or(a.Due.Compare(b.Due), a.Key.compare(b.Key)) })
	return list[:min(len(list), DuePage)], err
}

// NextDue returns when the first delivery after a time is due, of all
// endpoints, or zero if none is.
func (s System) NextDue(ctx context.Context, after time.Time) (at time.Time, err error) {
	list, err := engine.List(ctx, s.db, firstDue, func(r engine.Row) (time.Time, error) { return engine.FromMillis(r.Int(0)), nil }, engine.Millis(after))
	if len(list) > 0 {
		at = slices.MinFunc(list, time.Time.Compare)
	}
	return at, err
}

// JournalHeads calls each for every organisation with the end of its journal.
func (s System) JournalHeads(ctx context.Context, each func(access.OrgNo, journal.Pos)) error {
	_, err := engine.List(ctx, s.db, `SELECT org_no, pos FROM journal_head /*WHERE org_no = ANY($1)*/`, func(r engine.Row) (struct{}, error) {
		each(access.OrgNo(r.Int(0)), journal.Pos(r.Int(1)))
		return struct{}{}, nil
	})
	return err
}

// JournalSize returns the number of entries in all journals. It changes when
// any of them grows.
func (s System) JournalSize(ctx context.Context) (entries int64, err error) {
	list, err := engine.List(ctx, s.db, `SELECT CAST(coalesce(sum(pos), 0) AS BIGINT) FROM journal_head /*WHERE org_no = ANY($1)*/`,
		func(r engine.Row) (int64, error) { return r.Int(0), nil })
	for _, n := range list {
		entries += n
	}
	return entries, err
}

// Claim is the right of one node to deliver to an endpoint. Everything
// written under it carries its token and is rejected once there is another
// claim, so that a node that was suspended cannot move the cursor of its
// successor.
type Claim struct {
	Key
	Token int64
	// ID and OrgID identify the endpoint and its organisation in messages.
	ID    id.Webhook
	OrgID id.Org
	// Pos is the position of the endpoint's cursor; Open lists the positions up
	// to it whose outcome is unknown, and which are to be sent again.
	Pos  journal.Pos
	Open []journal.Pos
	// FailingSince is the time of the first failure since the last success, or
	// zero if the last attempt succeeded.
	FailingSince time.Time
	// Due is when the next delivery is due, or zero if none is waiting.
	Due time.Time
}

// HoldWebhooks renews the lease of a node until a time, and with it all its
// claims.
func (s System) HoldWebhooks(ctx context.Context, node int64, until time.Time) error {
	return s.db.Write(ctx, func(tx engine.Tx) error { return tx.Many(holdNode(node, until)) })
}

func holdNode(node int64, until time.Time) engine.Stmt {
	return engine.Stmt{SQL: `INSERT INTO webhook_node (node, lease_until) VALUES ($1, $2) ON CONFLICT (node) DO UPDATE SET lease_until = excluded.lease_until`,
		Args: []any{node, engine.Millis(until)}}
}

// ReleaseWebhooks releases all claims of a node.
func (s System) ReleaseWebhooks(ctx context.Context, node int64) error {
	return s.db.Write(ctx, func(tx engine.Tx) error {
		_, err := tx.Exec(`DELETE FROM webhook_node WHERE node = $1`, node)
		return err
	})
}

// ClaimWebhooks claims those endpoints that are enabled and not claimed by
// another live node, and renews the node's lease until a time. newToken must
// return unique tokens.
func (s System) ClaimWebhooks(ctx context.Context, node int64, until time.Time, newToken func() int64, keys []Key) (claims []*Claim, err error) {
	after, upTo := lease.Living(s.db.Now())
	// Nodes must lock rows in the same order.
	keys = slices.SortedFunc(slices.Values(keys), Key.compare)
	tokens := make([]int64, len(keys))
	for i := range tokens {
		tokens[i] = newToken()
	}
	// The lease comes first, in its own transaction: a node that sees the claim
	// must also see the lease, and the servers of a Citus cluster do not commit
	// at the same moment.
	if err := s.HoldWebhooks(ctx, node, until); err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		claims = nil
		// Lock the rows before judging them: an UPDATE that waits for another
		// node's claim would see the claim, but not that node's lease. The leases
		// are read on their own, because in a Citus cluster they are on another
		// server than the cursors.
		stmts := make([]engine.Stmt, 0, 1+len(keys))
		holders, alive := make([]int64, len(keys)), map[int64]bool{}
		for i, key := range keys {
			stmts = append(stmts, engine.Stmt{SQL: `SELECT node, claim FROM webhook_cursor WHERE org_no = $1 AND webhook_no = $2 /*FOR UPDATE*/`,
				Args: []any{int64(key.Org), key.No}, Each: func(r engine.Row) error {
					if !r.IsNull(0) && r.Int(0) != node && r.Int(1) != 0 {
						holders[i] = r.Int(0)
					}
					return nil
				}})
		}
		stmts = append(stmts, engine.Stmt{SQL: `SELECT node FROM webhook_node WHERE lease_until > $1 AND lease_until <= $2`, Args: []any{after, upTo}, Each: func(r engine.Row) error {
			alive[r.Int(0)] = true
			return nil
		}})
		if err := tx.Many(stmts...); err != nil {
			return err
		}
		stmts = stmts[:0]
		for i, key := range keys {
			if alive[holders[i]] {
				continue
			}
			c := &Claim{Key: key, Token: tokens[i]}
			stmts = append(stmts, claim(c, node, &claims), engine.Stmt{SQL: `SELECT id FROM org WHERE org_no = $1`, Args: []any{int64(key.Org)}, Each: func(r engine.Row) (err error) {
				c.OrgID, err = id.FromBytes[id.OrgKind](r.Raw(0))
				return err
			}})
		}
		if len(stmts) == 0 {
			return nil
		}
		return tx.Many(stmts...)
	})
	return claims, err
}

// claim claims an endpoint if it is enabled, and adds the claim to the list.
func claim(c *Claim, node int64, claims *[]*Claim) engine.Stmt {
	return engine.Stmt{SQL: `UPDATE webhook_cursor SET node = $3, claim = $4 WHERE org_no = $1 AND webhook_no = $2
		AND EXISTS (SELECT 1 FROM webhook w WHERE w.org_no = $1 AND w.webhook_no = $2 AND w.enabled = 1)
		RETURNING pos, open, failing_since, due_at, (SELECT id FROM webhook w WHERE w.org_no = $1 AND w.webhook_no = $2)`,
		Args: []any{int64(c.Org), c.No, node, c.Token},
		Each: func(r engine.Row) (err error) {
			c.Pos, c.Open = journal.Pos(r.Int(0)), unpackPositions(r.Raw(1))
			c.FailingSince = engine.Moment(r, 2)
			c.Due = engine.Moment(r, 3)
			*claims = append(*claims, c)
			c.ID, err = id.FromBytes[id.WebhookKind](r.Raw(4))
			return err
		}}
}
