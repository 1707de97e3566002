package webhooks

import (
	"bytes"
	"context"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

const (
	// recoverScan is the number of journal entries that one slice reads.
	recoverScan = 200
	// recoverAhead is the number of due deliveries above which the next slice
	// waits, so that a recovery does not fill the queue faster than it is
	// emptied.
	recoverAhead = 200
)

// RecoverSlice continues the recovery of an endpoint: it reads the next journal
// entries and makes pending what was not delivered, except for positions with
// an attempt in progress. It does nothing and returns false while many
// deliveries are due, or if the claim is lost.
func (s System) RecoverSlice(ctx context.Context, c *Claim, underWay func(journal.Pos) bool) (looked bool, err error) {
	now := s.db.Now()
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		looked = false
		var since time.Time
		var from, end journal.Pos
		var w Webhook
		held, err := engine.One(tx, `SELECT recover_since, recover_pos, recover_end FROM webhook_cursor
			WHERE org_no = $1 AND webhook_no = $2 AND claim = $3 AND recover_end IS NOT NULL /*FOR UPDATE*/`,
			func(r engine.Row) {
				since, from, end = engine.FromMillis(r.Int(0)), journal.Pos(r.Int(1)), journal.Pos(r.Int(2))
			}, int64(c.Org), c.No, c.Token)
		if err != nil || !held {
			return err
		}
		due := int64(0)
		if _, err := engine.One(tx, `SELECT count(*) FROM (SELECT 1 FROM webhook_delivery
			WHERE org_no = $1 AND webhook_no = $2 AND next_attempt_at <= $3 LIMIT $4) AS due`,
			func(r engine.Row) { due = r.Int(0) }, int64(c.Org), c.No, engine.Millis(now), recoverAhead); err != nil || due >= recoverAhead {
			return err
		}
		if err := tx.Query(`SELECT `+webhookColumns+` FROM webhook WHERE org_no = $1 AND webhook_no = $2`, func(r engine.Row) (err error) {
			w, _, err = scanWebhook(r)
			return err
		}, int64(c.Org), c.No); err != nil {
			return err
		}
		to := min(from+recoverScan, end)
		looked = true
		tasks, err := missedTasks(tx, c, w, from, to, since, underWay)
		if err != nil {
			return err
		}
		again, err := s.revive(tx, c, tasks, now)
		if err != nil {
			return err
		}
		// Set pending and due_at in any case: the next slice, or the
		// deliveries, are due now.
		tx.Last(dueNow(c.Org, c.No, again, now))
		if to < end {
			tx.Last(engine.Stmt{SQL: `UPDATE webhook_cursor SET recover_pos = $3 WHERE org_no = $1 AND webhook_no = $2`, Args: []any{int64(c.Org), c.No, int64(to)}})
			return nil
		}
		tx.Last(
			engine.Stmt{SQL: `UPDATE webhook_cursor SET recover_since = NULL, recover_pos = NULL, recover_end = NULL WHERE org_no = $1 AND webhook_no = $2`,
				Args: []any{int64(c.Org), c.No}},
			nextDue(c.Key),
		)
		return nil
	})
	return looked, err
}

// missedTasks returns the events of a range that the endpoint wants.
func missedTasks(tx engine.Tx, c *Claim, w Webhook, from, to journal.Pos, since time.Time, underWay func(journal.Pos) bool) (tasks []Task, err error) {
	wanted := wantedTypes(w.Events)
	err = tx.Query(selectEvents, func(r engine.Row) error {
		if !wanted(r.Raw(3)) || r.Int(1) < engine.Millis(since) || underWay(journal.Pos(r.Int(0))) {
			return nil
		}
		task, err := scanTask(r, w.ID)
		tasks = append(tasks, task)
		return err
	}, int64(c.Org), int64(from), int64(to), recoverScan)
	return tasks, err
}

// revive makes events pending that have no delivery or a failed one, and
// returns their number.
func (s System) revive(tx engine.Tx, c *Claim, tasks []Task, now time.Time) (again int64, err error) {
	type row struct {
		id     []byte
		status DeliveryStatus
	}
	known := map[id.Delivery]row{}
	stmts := make([]engine.Stmt, len(tasks))
	for i := range tasks {
		task := &tasks[i]
		stmts[i] = engine.Stmt{SQL: `SELECT id, status FROM webhook_delivery WHERE org_no = $1 AND webhook_no = $2 AND id IN ($3, $4)`,
			Args: []any{int64(c.Org), c.No, task.Delivery.Bytes(), oldDeliveryID(c.ID, task.Event.ID).Bytes()},
			Each: func(r engine.Row) error {
				known[task.Delivery] = row{bytes.Clone(r.Raw(0)), DeliveryStatus(r.Int(1))}
				return nil
			}}
	}
	if err := tx.Many(stmts...); err != nil {
		return 0, err
	}
	for i := range tasks {
		task := &tasks[i]
		delivery, found := known[task.Delivery]
		switch {
		case found && delivery.status == Failed:
			tx.Last(engine.Stmt{SQL: `UPDATE webhook_delivery SET status = 0, tries = 0, next_attempt_at = $4 WHERE org_no = $1 AND webhook_no = $2 AND id = $3`,
				Args: []any{int64(c.Org), c.No, delivery.id, engine.Millis(now)}})
		case !found:
			tx.Last(engine.Stmt{SQL: `INSERT INTO webhook_delivery (org_no, webhook_no, id, pos, event_id, event_type, status, created_at, next_attempt_at, tries, attempts)
				VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $7, 0, $8)`,
				Args: []any{int64(c.Org), c.No, task.Delivery.Bytes(), int64(task.Pos), task.Event.ID.Bytes(), string(task.Event.Type), engine.Millis(now), []byte{}}})
		default:
			continue
		}
		again++
	}
	return again, nil
}
