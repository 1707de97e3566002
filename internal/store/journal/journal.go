package journal

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/signal"
	"anodyne.example/anodyne/internal/worker"
)

// Journal stores the logs of all organisations. All readers see the entries of
// a log in the same order.
type Journal struct {
	db       *engine.DB
	auditKey []byte
	spool    *spool
	witness  *witness
	counts   *metrics
	// written is broadcast after a write of this process; positioned is
	// broadcast after any node assigned positions to entries.
	written, positioned *signal.Signal
	// unplaced are the organisations to which this process wrote since the last
	// round of the sequencer; sequencing are those that failed.
	unplaced   orgSet
	sequencing *worker.Orgs
	// sealing are the organisations whose journals could not be sealed, and
	// shipping those whose audit lines of reads could not be stored.
	sealing, shipping *worker.Orgs
	// plans is set if acceptances are stored before what they accept; see
	// [Forgotten.Accept].
	plans bool
	// sequences reports whether the sequencer runs in this process. If it does
	// not, toldWritten is when servers were last notified of new entries.
	sequences   atomic.Bool
	toldWritten atomic.Int64
	// followers are notified of the organisations whose journals have grown.
	followers followers
	// name identifies this process in notifications.
	name string
}

// Open opens the journal, including its files in dir: the spool of audit lines
// of reads, and the record of sealed heads, signed with auditKey.
func Open(db *engine.DB, dir string, auditKey []byte, registry prometheus.Registerer) (*Journal, error) {
	spool, err := openSpool(filepath.Join(dir, spoolFolder), db.Dialect().Gathers)
	if err != nil {
		return nil, err
	}
	j := &Journal{db: db, auditKey: auditKey, spool: spool, witness: newWitness(dir, auditKey), counts: newMetrics(registry, db),
		written: signal.New(), positioned: signal.New(), name: newName(), plans: db.Distributed()}
	j.sealing, j.shipping = worker.NewOrgs(registry, db.Log, "sealer", db.OrgID), worker.NewOrgs(registry, db.Log, "spool", db.OrgID)
	if db.Dialect().Sequenced { // there is no sequencer on SQLite
		j.sequencing = worker.NewOrgs(registry, db.Log, "sequencer", db.OrgID)
	}
	j.hear()
	return j, nil
}

// Close assigns positions to what this process wrote, if no sequencer ran in it,
// and closes the spool. It does not close the database.
func (s *Journal) Close() error {
	if orgs, any := s.unplaced.take(); len(orgs) > 0 || any {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := s.System().SequencePending(ctx); err != nil {
			s.db.Log.Warn("could not assign positions to journal entries; a server will do so", "error", err)
		}
	}
	return s.spool.close()
}

// closeTime bounds how long Close waits for the database.
const closeTime = 5 * time.Second

// Change is what a write adds to the journal: always an audit line, an event if
// it is of interest to others, and the patient it is about.
type Change struct {
	Audit   audit.Entry
	Event   *event.Event
	Subject id.Patient
	// Quiet keeps the event out of the event log and of webhooks: it is stored
	// without an identifier, for those who follow the records it names.
	Quiet bool
}

// Entry returns the statements that append changes to their organisation's log,
// in order. They belong in the transaction of the changes, so that there is
// never one without the other.
func (s *Journal) Entry(org access.OrgNo, changes ...Change) []engine.Stmt {
	rows := make([]Row, len(changes))
	for i := range changes {
		rows[i] = changes[i].Row()
	}
	return s.Rows(org, rows...)
}

// Row is a change in the form in which it is stored.
type Row []any

// Row returns the change as a row, for callers that make it before their
// transaction.
func (c *Change) Row() Row {
	var subject, eventID, eventType, eventData any
	if !c.Subject.IsZero() {
		subject = c.Subject.Bytes()
	}
	if c.Event != nil {
		eventType, eventData = string(c.Event.Type), string(c.Event.Data)
		if !c.Quiet {
			eventID = c.Event.ID.Bytes()
		}
	}
	line := c.Audit.Append(make([]byte, 0, 256))
	return Row{engine.Millis(c.Audit.At), subject, eventID, eventType, eventData, line, int64(0)}
}

// Rows is [Journal.Entry] for changes that are rows already.
func (s *Journal) Rows(org access.OrgNo, rows ...Row) []engine.Stmt {
	d := s.db.Dialect()
	stmts := make([]engine.Stmt, 0, len(rows)+1)
	if d.JournalHead != "" {
		stmts = append(stmts, engine.Stmt{SQL: d.JournalHead, Args: []any{int64(org), int64(len(rows))}})
	}
	for i, columns := range rows {
		args := append(make([]any, 0, len(columns)+2), int64(org))
		args = append(args, columns...)
		if d.JournalHead != "" {
			args = append(args, int64(len(rows)-1-i))
		}
		stmts = append(stmts, engine.Stmt{SQL: d.Journal, Args: args, Alike: 1})
	}
	return stmts
}

// Pos is a position in an organisation's journal. The first entry has position
// 1.
type Pos int64

// Events returns up to limit events after a position, oldest first, and the
// position to continue from. That position is past all entries read, so it
// advances even if there were no events.
func (o Org) Events(ctx context.Context, after Pos, limit int) (events []event.Event, next Pos, err error) {
	var head Pos
	err = o.j.db.Snapshot(ctx, func(tx engine.Tx) error {
		events, next = nil, after
		tx.Last(ReadHead(o.org, &head), engine.Stmt{
			SQL: `SELECT pos, at, event_id, event_type, event_data FROM journal
				WHERE org_no = $1 AND pos > $2 AND event_id IS NOT NULL ORDER BY pos LIMIT $3`,
			Args: []any{int64(o.org), int64(after), limit},
			Each: func(r engine.Row) error {
				eventID, err := id.FromBytes[id.EventKind](r.Raw(2))
				if err != nil {
					return err
				}
				events = append(events, event.Event{ID: eventID, Type: event.Type(r.Text(3)), At: engine.FromMillis(r.Int(1)), Data: []byte(r.Text(4))})
				next = Pos(r.Int(0))
				return nil
			},
		})
		return nil
	})
	if err == nil && len(events) < limit {
		next = max(after, head)
	}
	return events, next, err
}

// lookEvery is how often callers that wait for events check whether to poll, and
// waitingRest is how often they poll while other nodes notify this one.
var lookEvery = time.Second

const waitingRest = 10 * time.Second

// WaitEvents is like Events, but waits for at least one event until the context
// ends.
func (o Org) WaitEvents(ctx context.Context, after Pos, limit int) ([]event.Event, Pos, error) {
	// Another process may write without a notification, so poll as well.
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	poll := o.j.db.NewPoll(waitingRest)
	for {
		changed := o.j.positioned.Wait()
		// The read itself is not cancelled: the events it found must be
		// returned.
		events, next, err := o.Events(context.WithoutCancel(ctx), after, limit)
		if err != nil || len(events) > 0 {
			return events, next, err
		}
		after = next
		for waiting := true; waiting; {
			select {
			case <-changed:
				waiting = false
			case <-tick.C:
				waiting = !poll.Due()
			case <-ctx.Done():
				return nil, after, nil
			}
		}
	}
}

// ReadHead returns the statement that reads the latest position of an
// organisation's journal into head.
func ReadHead(org access.OrgNo, head *Pos) engine.Stmt {
	return engine.Stmt{SQL: `SELECT pos FROM journal_head WHERE org_no = $1`, Args: []any{int64(org)}, Each: func(r engine.Row) error {
		*head = Pos(r.Int(0))
		return nil
	}}
}
