package webhooks

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// switchWebhook returns the statement that enables or disables work on an
// endpoint. Enabling starts at the head of the journal, and ends the claim of a
// node that still has attempts in progress from before.
func switchWebhook(org access.OrgNo, no int64, enable bool) engine.Stmt {
	if !enable {
		return engine.Stmt{SQL: `UPDATE webhook_cursor SET due_at = NULL, recover_since = NULL, recover_pos = NULL, recover_end = NULL
			WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(org), no}}
	}
	return engine.Stmt{SQL: `UPDATE webhook_cursor SET pos = (SELECT pos FROM journal_head WHERE org_no = $1), open = $3, failing_since = NULL, claim = 0,
		due_at = (SELECT min(next_attempt_at) FROM webhook_delivery WHERE org_no = $1 AND webhook_no = $2 AND next_attempt_at IS NOT NULL)
		WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(org), no, []byte{}}}
}

// dueNow makes an endpoint due now, with more additional pending deliveries. If
// it is due already, perhaps because of a delivery in progress, the time still
// changes, so that the node working on it notices.
func dueNow(org access.OrgNo, no, more int64, now time.Time) engine.Stmt {
	return engine.Stmt{SQL: `UPDATE webhook_cursor SET pending = pending + $3,
		due_at = CASE WHEN due_at <= $4 THEN due_at - 1 ELSE $4 END WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(org), no, more, engine.Millis(now)}}
}

// enabledWebhook returns the number of an endpoint, or an error if it is
// disabled.
func (o Org) enabledWebhook(tx engine.Tx, webhookID id.Webhook) (no int64, err error) {
	w, no, err := o.webhookToChange(tx, webhookID)
	if err == nil {
		err = mustBeEnabled(&w)
	}
	return no, err
}

func mustBeEnabled(w *Webhook) error {
	if w.Enabled {
		return nil
	}
	return fault.New(fault.Conflict, "The webhook is disabled; enable it first.", "status", "disabled", "disabled_reason", w.DisabledReason)
}

// TestWebhook sends an event that is not in the journal to one endpoint. It
// returns the outcome, or that of an earlier request with the same key.
func (o Org) TestWebhook(ctx context.Context, webhookID id.Webhook, e *event.Event, c journal.Change, key *idempotency.Once, answer func(*Delivery) idempotency.Outcome) (idempotency.Outcome, error) {
	d := Delivery{Event: e.ID, EventType: e.Type, CreatedAt: e.At, NextAttemptAt: e.At, Payload: e.Append(nil)}
	return o.once.Do(ctx, key, e.At, func(tx engine.Tx) (idempotency.Outcome, error) {
		no, err := o.enabledWebhook(tx, webhookID)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		head := journal.Pos(0)
		if _, err := engine.One(tx, `SELECT pos FROM journal_head WHERE org_no = $1`, func(r engine.Row) { head = journal.Pos(r.Int(0)) }, int64(o.org)); err != nil {
			return idempotency.Outcome{}, err
		}
		d.ID = testDeliveryID(e.ID, head+1) // usually the position of its audit line
		tx.Last(
			engine.Stmt{SQL: `INSERT INTO webhook_delivery (org_no, webhook_no, id, pos, event_id, event_type, status, created_at, next_attempt_at, tries, attempts, payload)
				VALUES ($1, $2, $3, 0, $4, $5, 0, $6, $6, 0, $7, $8)`,
				Args: []any{int64(o.org), no, d.ID.Bytes(), e.ID.Bytes(), string(e.Type), engine.Millis(e.At), []byte{}, string(d.Payload)}},
			dueNow(o.org, no, 1, e.At),
		)
		tx.Last(o.journal.Entry(o.org, c)...)
		return answer(&d), nil
	})
}

const selectDelivery = readDelivery + ` /*FOR UPDATE*/`

// Redeliver sends a delivery again, with a new schedule and whatever its
// status. It returns the outcome, or that of an earlier request with the same
// key.
func (o Org) Redeliver(ctx context.Context, webhookID id.Webhook, deliveryID id.Delivery, c journal.Change, key *idempotency.Once, now time.Time, answer func(*Delivery) idempotency.Outcome) (idempotency.Outcome, error) {
	return o.once.Do(ctx, key, now, func(tx engine.Tx) (idempotency.Outcome, error) {
		w, no, err := o.webhookToChange(tx, webhookID)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		d, err := o.delivery(tx, selectDelivery, no, deliveryID)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		if err := mustBeEnabled(&w); err != nil {
			return idempotency.Outcome{}, err
		}
		more := number(d.Status != Pending)
		d.Status, d.NextAttemptAt = Pending, engine.FromMillis(engine.Millis(now))
		tx.Last(
			engine.Stmt{SQL: `UPDATE webhook_delivery SET status = 0, tries = 0, next_attempt_at = $4 WHERE org_no = $1 AND webhook_no = $2 AND id = $3`,
				Args: []any{int64(o.org), no, deliveryID.Bytes(), engine.Millis(now)}},
			dueNow(o.org, no, more, now),
		)
		tx.Last(o.journal.Entry(o.org, c)...)
		return answer(&d), nil
	})
}

// RecoverWebhook sends again every event since a time that was not delivered,
// including those of a time when the endpoint was disabled. It returns the
// outcome, or that of an earlier request with the same key. The worker finds
// the events in slices; see RecoverSlice. Events older than DeliveriesKept are
// not included, because their deliveries are no longer stored.
func (o Org) RecoverWebhook(ctx context.Context, webhookID id.Webhook, since time.Time, c journal.Change, key *idempotency.Once, now time.Time, out idempotency.Outcome) (idempotency.Outcome, error) {
	if oldest := now.Add(-DeliveriesKept); since.Before(oldest) {
		since = oldest
	}
	return o.once.Do(ctx, key, now, func(tx engine.Tx) (idempotency.Outcome, error) {
		no, err := o.enabledWebhook(tx, webhookID)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		from, err := o.positionAt(tx, since)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		tx.Last(
			engine.Stmt{SQL: `UPDATE webhook_cursor SET recover_since = CASE WHEN recover_since < $3 THEN recover_since ELSE $3 END,
				recover_pos = CASE WHEN recover_pos < $4 THEN recover_pos ELSE $4 END, recover_end = pos
				WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(o.org), no, engine.Millis(since), int64(from)}},
			dueNow(o.org, no, 0, now),
		)
		tx.Last(o.journal.Entry(o.org, c)...)
		return out, nil
	})
}

// outOfOrder is how far the times of neighbouring journal entries may be out of
// order, because several nodes write.
const outOfOrder = time.Minute

// positionAt returns a position before all entries since a time. It is a binary
// search in the database: positions are dense, and times increase with them
// except for outOfOrder.
func (o Org) positionAt(tx engine.Tx, since time.Time) (before journal.Pos, err error) {
	_, err = engine.One(tx, `WITH RECURSIVE halved (low, high) AS (
			SELECT CAST(0 AS BIGINT), pos FROM journal_head WHERE org_no = $1
			UNION ALL
			SELECT CASE WHEN j.at >= $2 THEN h.low ELSE j.pos END, CASE WHEN j.at >= $2 THEN j.pos - 1 ELSE h.high END
			FROM halved h JOIN journal j ON j.org_no = $1 AND j.pos = (h.low + h.high) / 2 + 1 WHERE h.low < h.high
		) SELECT coalesce(max(low), 0) FROM halved`,
		func(r engine.Row) { before = journal.Pos(r.Int(0)) }, int64(o.org), engine.Millis(since.Add(-outOfOrder)))
	return before, err
}
