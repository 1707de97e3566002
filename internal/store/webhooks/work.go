package webhooks

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// Task is one event to be sent to an endpoint.
type Task struct {
	Delivery id.Delivery
	Event    event.Event
	// Body is the body to send.
	Body []byte
	// Pos is the event's position in the journal, or 0 if it is not in one.
	Pos journal.Pos
	// Again reports whether the delivery already exists, with earlier attempts.
	Again    bool
	Tries    int
	Attempts []Attempt
}

// Work is the work to do for an endpoint.
type Work struct {
	// ID, URL and Secrets are the current ones of the endpoint.
	ID      id.Webhook
	URL     string
	Secrets []string
	// Retries are deliveries that are due, the longest due first; MoreRetries
	// reports whether there are others. Ahead is when the next one after them
	// is due, or zero if none is.
	Retries     []Task
	MoreRetries bool
	Ahead       time.Time
	// Due is when a delivery is due according to the endpoint's row, or zero if
	// none is waiting.
	Due time.Time
	// Events are those after the given position that the endpoint wants.
	Events []Task
	// Next is the position up to which all entries were read; More reports
	// whether there are entries after it.
	Next journal.Pos
	More bool
	// Recovering reports whether a recovery is in progress.
	Recovering bool
}

const (
	// workScan bounds the journal entries read at a time.
	workScan = 2000
	// workBytes is the size after which no more tasks are taken: the event of a
	// large batch has tens of kilobytes.
	workBytes = 256 << 10
)

// selectWork reads the endpoint under its claim.
const selectWork = `SELECT w.id, w.url, w.events, w.secret, w.old_secret, w.old_secret_ends, c.recover_end, h.pos, c.due_at
	FROM webhook w JOIN webhook_cursor c ON c.org_no = w.org_no AND c.webhook_no = w.webhook_no JOIN journal_head h ON h.org_no = w.org_no
	WHERE w.org_no = $1 AND w.webhook_no = $2 AND w.enabled = 1 AND c.claim = $3`

// selectDue reads the deliveries that are due, with their events.
const selectDue = `SELECT d.id, d.pos, d.event_id, d.event_type, d.created_at, d.tries, d.attempts, d.payload, j.at, j.event_data
	FROM webhook_delivery d LEFT JOIN journal j ON j.org_no = d.org_no AND j.pos = d.pos
	WHERE d.org_no = $1 AND d.webhook_no = $2 AND d.next_attempt_at <= $3 ORDER BY d.next_attempt_at LIMIT $4`

const (
	selectEvents = `SELECT pos, at, event_id, event_type, event_data FROM journal
		WHERE org_no = $1 AND pos > $2 AND pos <= $3 AND event_id IS NOT NULL ORDER BY pos LIMIT $4`
	selectEvent = `SELECT pos, at, event_id, event_type, event_data FROM journal WHERE org_no = $1 AND pos = $2 AND event_id IS NOT NULL`
)

// selectAhead reads when the next delivery that is not due yet is due.
const selectAhead = `SELECT next_attempt_at FROM webhook_delivery
	WHERE org_no = $1 AND webhook_no = $2 AND next_attempt_at > $3 ORDER BY next_attempt_at LIMIT 1`

// WebhookWork finds an endpoint's work: up to retries due deliveries, and up to
// events journal entries after a position. Either is skipped if its limit is 0.
// held is false if the claim is lost, or the endpoint is disabled or deleted.
func (s System) WebhookWork(ctx context.Context, c *Claim, after journal.Pos, retries, events int) (work Work, held bool, err error) {
	now := s.db.Now()
	var head journal.Pos
	var wanted func([]byte) bool
	taken, size := 0, 0
	// On PostgreSQL these are sent together, so the others must not depend on
	// the result of the first. Each sees at least the state of the previous
	// one, and journal entries become visible in order.
	stmts := []engine.Stmt{{SQL: selectWork, Args: []any{int64(c.Org), c.No, c.Token}, Each: func(r engine.Row) (err error) {
		held, head = true, journal.Pos(r.Int(7))
		if work.ID, err = id.FromBytes[id.WebhookKind](r.Raw(0)); err != nil {
			return err
		}
		work.URL, work.Recovering = r.Text(1), !r.IsNull(6)
		work.Due = engine.Moment(r, 8)
		wanted = wantedTypes(splitTypes(r.Text(2)))
		work.Secrets, err = s.openSecrets(c.Org, work.ID, r.Raw(3), r.Raw(4), engine.FromMillis(r.Int(5)), now)
		return err
	}}}
	if retries > 0 {
		stmts = append(stmts,
			engine.Stmt{SQL: selectDue, Args: []any{int64(c.Org), c.No, engine.Millis(now), retries}, Each: func(r engine.Row) error {
				if size > workBytes {
					work.MoreRetries = true
					return nil
				}
				task, err := scanDue(r)
				work.Retries = append(work.Retries, task)
				work.MoreRetries = len(work.Retries) == retries
				size += len(task.Body)
				return err
			}},
			engine.Stmt{SQL: selectAhead, Args: []any{int64(c.Org), c.No, engine.Millis(now)}, Each: func(r engine.Row) error {
				work.Ahead = engine.FromMillis(r.Int(0))
				return nil
			}})
	}
	if events > 0 {
		stmts = append(stmts, engine.Stmt{SQL: selectEvents, Args: []any{int64(c.Org), int64(after), int64(after) + workScan, events}, Each: func(r engine.Row) error {
			if size > 2*workBytes { // half of it may be retries
				taken = events // there are more
				return nil
			}
			taken++
			work.Next = journal.Pos(r.Int(0))
			if !held || !wanted(r.Raw(3)) {
				return nil
			}
			task, err := scanTask(r, work.ID)
			work.Events = append(work.Events, task)
			size += len(task.Body)
			return err
		}})
	}
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		work, held, taken, size = Work{Next: after}, false, 0, 0
		return tx.Many(stmts...)
	})
	if taken < events { // all entries of the range were read
		work.Next = max(work.Next, min(head, after+workScan))
	}
	work.More = events > 0 && work.Next < head
	return work, held, err
}

// OpenTasks returns the events of a claim whose outcome is unknown.
func (s System) OpenTasks(ctx context.Context, c *Claim, webhookID id.Webhook) (tasks []Task, err error) {
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		tasks = nil
		stmts := make([]engine.Stmt, len(c.Open))
		for i, pos := range c.Open {
			stmts[i] = engine.Stmt{SQL: selectEvent, Args: []any{int64(c.Org), int64(pos)}, Each: func(r engine.Row) error {
				task, err := scanTask(r, webhookID)
				tasks = append(tasks, task)
				return err
			}}
		}
		return tx.Many(stmts...)
	})
	return tasks, err
}

// scanTask reads a row of selectEvents.
func scanTask(r engine.Row, webhookID id.Webhook) (task Task, err error) {
	task = Task{Pos: journal.Pos(r.Int(0)), Event: event.Event{Type: event.Type(r.Text(3)), At: engine.FromMillis(r.Int(1)), Data: r.Raw(4)}}
	if task.Event.ID, err = id.FromBytes[id.EventKind](r.Raw(2)); err != nil {
		return task, err
	}
	task.Delivery = DeliveryID(webhookID, task.Event.ID, task.Pos)
	task.Body = task.Event.Append(make([]byte, 0, 128+len(task.Event.Data)))
	task.Event.Data = nil // it is the driver's memory
	return task, nil
}

// scanDue reads a row of selectDue.
func scanDue(r engine.Row) (task Task, err error) {
	task = Task{Pos: journal.Pos(r.Int(1)), Again: true, Tries: int(r.Int(5)), Body: []byte(r.Text(7)),
		Event: event.Event{Type: event.Type(r.Text(3)), At: engine.FromMillis(r.Int(4))}}
	if task.Delivery, err = id.FromBytes[id.DeliveryKind](r.Raw(0)); err != nil {
		return task, err
	}
	if task.Event.ID, err = id.FromBytes[id.EventKind](r.Raw(2)); err != nil {
		return task, err
	}
	if task.Attempts, err = unpackAttempts(r.Raw(6)); err != nil {
		return task, err
	}
	if !r.IsNull(8) {
		task.Event.At, task.Event.Data = engine.FromMillis(r.Int(8)), r.Raw(9)
		task.Body = task.Event.Append(nil)
		task.Event.Data = nil
	}
	return task, nil
}
