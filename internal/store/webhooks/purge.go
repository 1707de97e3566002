package webhooks

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

// deliveriesSince returns a bound for delivery identifiers: those of events
// before t are below it.
func deliveriesSince(t time.Time) []byte {
	var clock [8]byte
	binary.BigEndian.PutUint64(clock[:], uint64(engine.Millis(t)))
	return append(make([]byte, 0, 16), append(clock[2:], make([]byte, 10)...)...)
}

// allDeliveries is greater than every identifier.
var allDeliveries = []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")

// PurgeWebhooks deletes deliveries after DeliveriesKept, and the remains of
// deleted endpoints. It does not write if there is nothing to delete.
func (s System) PurgeWebhooks(ctx context.Context, now time.Time) error {
	old := deliveriesSince(now.Add(-DeliveriesKept))
	type purge struct {
		Key
		deleted bool
	}
	list, errs := engine.List(ctx, s.db, `SELECT c.org_no, c.webhook_no, w.id FROM webhook_cursor c
		LEFT JOIN webhook w ON w.org_no = c.org_no AND w.webhook_no = c.webhook_no /*AND w.org_no = ANY($2)*/
		WHERE (w.id IS NULL OR EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.org_no = c.org_no AND d.webhook_no = c.webhook_no AND d.id < $1 /*AND d.org_no = ANY($2)*/))
		/*AND c.org_no = ANY($2)*/`,
		func(r engine.Row) (purge, error) {
			return purge{Key{access.OrgNo(r.Int(0)), r.Int(1)}, r.IsNull(2)}, nil
		}, old)
	for _, p := range list {
		before, hour := old, hourOf(now.Add(-DeliveriesKept))
		if p.deleted {
			before, hour = allDeliveries, hourOf(now)+1
		}
		for more := true; more; {
			if err := s.db.Write(ctx, func(tx engine.Tx) (err error) {
				more, err = purgeSliceOf(tx, p.Key, before, hour, p.deleted)
				return err
			}); err != nil {
				errs = errors.Join(errs, err) // the others go on
				break
			}
		}
	}
	return errs
}

// purgeSliceOf deletes a slice of an endpoint's deliveries, and after the last
// one its other outdated rows.
func purgeSliceOf(tx engine.Tx, key Key, before []byte, hour int64, deleted bool) (more bool, err error) {
	gone, pending := int64(0), int64(0)
	if err := tx.Query(`DELETE FROM webhook_delivery WHERE org_no = $1 AND webhook_no = $2 AND id <= (SELECT id FROM
		(SELECT id FROM webhook_delivery WHERE org_no = $1 AND webhook_no = $2 AND id < $3 ORDER BY id LIMIT $4) AS first ORDER BY id DESC LIMIT 1) RETURNING status`,
		func(r engine.Row) error {
			gone++
			pending += number(DeliveryStatus(r.Int(0)) == Pending)
			return nil
		}, int64(key.Org), key.No, before, engine.PurgeSlice); err != nil {
		return false, err
	}
	if pending > 0 {
		tx.Last(engine.Stmt{SQL: `UPDATE webhook_cursor SET pending = pending - $3 WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(key.Org), key.No, pending}},
			nextDue(key))
	}
	if gone == engine.PurgeSlice {
		return true, nil
	}
	tx.Last(engine.Stmt{SQL: `DELETE FROM webhook_hour WHERE org_no = $1 AND webhook_no = $2 AND hour < $3`, Args: []any{int64(key.Org), key.No, hour}})
	if deleted {
		tx.Last(engine.Stmt{SQL: `DELETE FROM webhook_cursor WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(key.Org), key.No}})
	}
	return false, nil
}

// Backlog is the state of the endpoints of all organisations.
type Backlog struct {
	// Disabled is the number of disabled endpoints, and Pending that of
	// deliveries waiting for another attempt. OldestPending is the time of the
	// oldest of their events, or zero if there is none.
	Disabled, Pending int64
	OldestPending     time.Time
}

// WebhookBacklog returns the backlog of all organisations. It reads only
// endpoints that have something pending. If a part of the database is unavailable,
// it returns the backlog of the others with an error that wraps [engine.ErrPart].
func (s System) WebhookBacklog(ctx context.Context) (b Backlog, err error) {
	err = s.db.EachPart(ctx, func(ctx context.Context, p engine.Part) error {
		some, err := engine.Get(ctx, s.db, func(tx engine.Tx) (Backlog, error) { return backlog(tx, p) })
		if err != nil {
			return err
		}
		b.Disabled, b.Pending = b.Disabled+some.Disabled, b.Pending+some.Pending
		if b.OldestPending.IsZero() || !some.OldestPending.IsZero() && some.OldestPending.Before(b.OldestPending) {
			b.OldestPending = some.OldestPending
		}
		return nil
	})
	return b, err
}

func backlog(tx engine.Tx, p engine.Part) (b Backlog, err error) {
	return b, tx.Many(
		engine.Stmt{SQL: p.SQL(`SELECT count(*) FROM webhook WHERE enabled = 0 /*AND org_no = ANY($1)*/`), Args: p.Args(), Each: func(r engine.Row) error {
			b.Disabled = r.Int(0)
			return nil
		}},
		engine.Stmt{SQL: p.SQL(`SELECT c.pending, (SELECT d.id FROM webhook_delivery d WHERE d.org_no = c.org_no AND d.webhook_no = c.webhook_no
				AND d.status = 0 AND d.status <> 1 /*AND d.org_no = ANY($1)*/ ORDER BY d.id LIMIT 1)
			FROM webhook_cursor c JOIN webhook w ON w.org_no = c.org_no AND w.webhook_no = c.webhook_no WHERE c.pending > 0 AND w.enabled = 1
				/*AND c.org_no = ANY($1) AND w.org_no = ANY($1)*/`), Args: p.Args(), Each: func(r engine.Row) error {
			b.Pending += r.Int(0)
			if oldest := r.Raw(1); len(oldest) == 16 {
				at := engine.FromMillis(int64(binary.BigEndian.Uint64(oldest) >> 16))
				if b.OldestPending.IsZero() || at.Before(b.OldestPending) {
					b.OldestPending = at
				}
			}
			return nil
		}})
}
