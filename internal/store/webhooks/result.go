package webhooks

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// Result is the result of one attempt.
type Result struct {
	Task    *Task
	Attempt Attempt
	Status  DeliveryStatus
	// Next is when the next attempt of a pending delivery is due.
	Next time.Time
}

// Progress is what to write for one endpoint: results, and the resulting
// position.
type Progress struct {
	Claim *Claim
	// Pos and Open are as in Claim.
	Pos          journal.Pos
	Open         []journal.Pos
	Results      []Result
	FailingSince time.Time
	// Disable, if not empty, is the reason to disable the endpoint and raise an
	// alert.
	Disable string
	// Lost is set if the claim was lost and nothing was written.
	Lost bool
}

// WriteProgress writes the progress of several endpoints in one transaction. A
// success takes one row.
func (s System) WriteProgress(ctx context.Context, list []*Progress) error {
	now := s.db.Now()
	var alerted []access.OrgNo
	alerts := map[*Progress]id.Event{}
	for _, p := range list {
		if p.Disable != "" {
			alerted = append(alerted, p.Claim.Org)
			alerts[p] = id.New[id.EventKind](now)
		}
	}
	write := s.db.Write // most results do not concern followers of the journal
	if len(alerted) > 0 {
		write = func(ctx context.Context, fn func(engine.Tx) error) error { return s.journal.ChangeIn(ctx, alerted, fn) }
	}
	return write(ctx, func(tx engine.Tx) error {
		hours := make([]hourTally, len(list))
		stmts := make([]engine.Stmt, 0, 2*len(list))
		for i, p := range list {
			p.Lost = true
			stmts = append(stmts, p.move(), hours[i].read(p, now))
		}
		if err := tx.Many(stmts...); err != nil {
			return err
		}
		for i, p := range list {
			if p.Lost {
				continue
			}
			tx.Last(p.rows()...)
			if len(p.Results) > 0 {
				tx.Last(hours[i].write(p, now))
			}
			if p.Disable != "" {
				if err := s.disable(tx, p, alerts[p], now); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// move returns the statement that checks the claim and moves the endpoint's
// cursor.
func (p *Progress) move() engine.Stmt {
	pending := int64(0)
	var failedAt, failure, failingSince any
	for _, r := range p.Results {
		pending += number(r.Status == Pending) - number(r.Task.Again)
		if r.Attempt.Error != "" {
			failedAt, failure = engine.Millis(r.Attempt.At), plain(r.Attempt.Error)
		}
	}
	if !p.FailingSince.IsZero() {
		failingSince = engine.Millis(p.FailingSince)
	}
	return engine.Stmt{SQL: `UPDATE webhook_cursor SET pos = $4, open = $5, pending = CASE WHEN pending + $6 < 0 THEN 0 ELSE pending + $6 END,
		failing_since = $7, failed_at = coalesce($8, failed_at), failure = coalesce($9, failure)
		WHERE org_no = $1 AND webhook_no = $2 AND claim = $3 RETURNING webhook_no`,
		Args: []any{int64(p.Claim.Org), p.Claim.No, p.Claim.Token, int64(p.Pos), packPositions(p.Open), pending, failingSince, failedAt, failure},
		Each: func(engine.Row) error { p.Lost = false; return nil }}
}

// rows returns the statements that write the results.
func (p *Progress) rows() []engine.Stmt {
	org, no := int64(p.Claim.Org), p.Claim.No
	stmts := make([]engine.Stmt, 0, len(p.Results)+1)
	schedule := false
	for _, r := range p.Results {
		var next any
		if r.Status == Pending {
			next = engine.Millis(r.Next)
		}
		schedule = schedule || r.Task.Again || r.Status == Pending
		attempts := packAttempts(append(r.Task.Attempts, r.Attempt))
		if r.Task.Again {
			stmts = append(stmts, engine.Stmt{SQL: `UPDATE webhook_delivery SET status = $4, next_attempt_at = $5, tries = $6, attempts = $7
				WHERE org_no = $1 AND webhook_no = $2 AND id = $3`,
				Args: []any{org, no, r.Task.Delivery.Bytes(), int64(r.Status), next, r.Task.Tries + 1, attempts}})
			continue
		}
		stmts = append(stmts, engine.Stmt{SQL: `INSERT INTO webhook_delivery (org_no, webhook_no, id, pos, event_id, event_type, status, created_at, next_attempt_at, tries, attempts)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10) ON CONFLICT (org_no, webhook_no, id)
			DO UPDATE SET status = excluded.status, next_attempt_at = excluded.next_attempt_at, tries = excluded.tries, attempts = excluded.attempts`,
			Args: []any{org, no, r.Task.Delivery.Bytes(), int64(r.Task.Pos), r.Task.Event.ID.Bytes(), string(r.Task.Event.Type), int64(r.Status),
				engine.Millis(r.Attempt.At), next, attempts}})
	}
	if schedule {
		stmts = append(stmts, nextDue(p.Claim.Key))
	}
	return stmts
}

// nextDue sets when an endpoint's next delivery is due. It has no effect during
// a recovery, when the endpoint is always due. If nothing is pending, it resets
// the count, which is wrong after a transaction that committed although its
// response was lost.
func nextDue(key Key) engine.Stmt {
	return engine.Stmt{SQL: `UPDATE webhook_cursor SET due_at = (SELECT next_attempt_at FROM webhook_delivery
			WHERE org_no = $1 AND webhook_no = $2 AND next_attempt_at IS NOT NULL ORDER BY next_attempt_at LIMIT 1),
		pending = CASE WHEN EXISTS (SELECT 1 FROM webhook_delivery
			WHERE org_no = $1 AND webhook_no = $2 AND next_attempt_at IS NOT NULL) THEN pending ELSE 0 END
		WHERE org_no = $1 AND webhook_no = $2 AND recover_end IS NULL
		AND EXISTS (SELECT 1 FROM webhook w WHERE w.org_no = $1 AND w.webhook_no = $2 AND w.enabled = 1)`, Args: []any{int64(key.Org), key.No}}
}

// disable disables an endpoint and notifies the organisation's other ones.
func (s System) disable(tx engine.Tx, p *Progress, alertID id.Event, now time.Time) error {
	var webhookID id.Webhook
	enabled := false
	if _, err := engine.One(tx, `SELECT id FROM webhook WHERE org_no = $1 AND webhook_no = $2 AND enabled = 1 /*FOR UPDATE*/`, func(r engine.Row) {
		enabled = true
		webhookID, _ = id.FromBytes[id.WebhookKind](r.Raw(0))
	}, int64(p.Claim.Org), p.Claim.No); err != nil || !enabled {
		return err // it was disabled in the meantime
	}
	details, err := json.Marshal(map[string]string{"status": "disabled", "disabled_reason": p.Disable})
	if err != nil {
		return err
	}
	alert := event.Alert{Kind: event.WebhookDisabled, Severity: event.Warning, Webhook: &webhookID, Reason: p.Disable}.Event(now)
	alert.ID = alertID // generated by the caller, because this may run again
	tx.Last(
		engine.Stmt{SQL: `UPDATE webhook SET enabled = 0, disabled_reason = $3, version = version + 1 WHERE org_no = $1 AND webhook_no = $2`,
			Args: []any{int64(p.Claim.Org), p.Claim.No, p.Disable}},
		switchWebhook(p.Claim.Org, p.Claim.No, false),
	)
	tx.Last(s.journal.Entry(p.Claim.Org, journal.Change{
		Audit: audit.Entry{At: now, Actor: audit.Service, Action: audit.WebhookUpdate, Resource: webhookID.String(), Details: details}, Event: alert,
	})...)
	return nil
}

// hourTally is an endpoint's totals for an hour.
type hourTally struct {
	succeeded, failed int64
	latencies         histogram
}

func (h *hourTally) read(p *Progress, now time.Time) engine.Stmt {
	*h = hourTally{}
	return engine.Stmt{SQL: `SELECT succeeded, failed, latencies FROM webhook_hour WHERE org_no = $1 AND webhook_no = $2 AND hour = $3`,
		Args: []any{int64(p.Claim.Org), p.Claim.No, hourOf(now)}, Each: func(r engine.Row) error {
			h.succeeded, h.failed = r.Int(0), r.Int(1)
			return h.latencies.merge(r.Raw(2))
		}}
}

func (h *hourTally) write(p *Progress, now time.Time) engine.Stmt {
	for _, r := range p.Results {
		h.succeeded += number(r.Status == Delivered)
		h.failed += number(r.Status != Delivered)
		h.latencies.add(r.Attempt.Latency)
	}
	return engine.Stmt{SQL: `INSERT INTO webhook_hour (org_no, webhook_no, hour, succeeded, failed, latencies) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_no, webhook_no, hour) DO UPDATE SET succeeded = excluded.succeeded, failed = excluded.failed, latencies = excluded.latencies`,
		Args: []any{int64(p.Claim.Org), p.Claim.No, hourOf(now), h.succeeded, h.failed, h.latencies.pack()}}
}

// plain returns a text that both engines can store.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}
