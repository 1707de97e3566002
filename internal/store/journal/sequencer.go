package journal

import (
	"context"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

// sequenceLock is the key of the advisory lock of the sequencer.
const sequenceLock = 0x616e6f64_73657175

// sequence assigns positions to committed entries in their organisation's log.
// Positions are assigned after the commit and under a lock, so that a reader
// that follows the log by position misses nothing: entries that it does not see
// yet will get higher positions than those it has seen. The primary key of the
// journal prevents two nodes from assigning the same position.
//
// PostgreSQL only; on SQLite the writer assigns positions.
const sequence = `WITH taken AS (
		DELETE FROM journal_pending WHERE seq IN (SELECT seq FROM journal_pending ORDER BY seq LIMIT 5000)
		RETURNING seq, org_no, at, subject, event_id, event_type, event_data, audit, packed
	), counted AS (
		SELECT org_no, count(*) AS n FROM taken GROUP BY org_no
	), heads AS (
		INSERT INTO journal_head AS h (org_no, pos) SELECT org_no, n FROM counted ORDER BY org_no
		ON CONFLICT (org_no) DO UPDATE SET pos = h.pos + excluded.pos RETURNING org_no, pos
	), placed AS (
		INSERT INTO journal (org_no, pos, at, subject, event_id, event_type, event_data, audit, packed)
		SELECT t.org_no, heads.pos - counted.n + row_number() OVER (PARTITION BY t.org_no ORDER BY t.seq),
			t.at, t.subject, t.event_id, t.event_type, t.event_data, t.audit, t.packed
		FROM taken t JOIN heads ON heads.org_no = t.org_no JOIN counted ON counted.org_no = t.org_no
	)
	SELECT org_no, n FROM counted`

// SequenceOnce assigns positions to pending entries. It returns how many, and
// their organisations.
func (s *Journal) SequenceOnce(ctx context.Context) (given int64, orgs []access.OrgNo, err error) {
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		given, orgs = 0, nil
		tx.Last(
			engine.Stmt{SQL: `SELECT pg_advisory_xact_lock($1)`, Args: []any{int64(sequenceLock)}},
			engine.Stmt{SQL: sequence, Each: func(r engine.Row) error {
				given += r.Int(1)
				orgs = append(orgs, access.OrgNo(r.Int(0)))
				return nil
			}},
		)
		return nil
	})
	return given, orgs, err
}

// FlushReads moves the audit lines of reads of this process to the journal and
// assigns positions to all pending entries. It is for callers that need to see
// them now, and for shutdown, when the sequencer may have stopped.
func (s System) FlushReads(ctx context.Context) error {
	return errors.Join(s.ShipReads(ctx), s.sequenceRest(ctx))
}

func (s System) sequenceRest(ctx context.Context) error {
	if !s.j.db.Dialect().Sequenced {
		return nil
	}
	for {
		given, orgs, err := s.j.SequenceOnce(ctx)
		s.announce(ctx, orgs)
		if err != nil || given < 5000 {
			return err
		}
	}
}

// announce notifies waiting callers, here and on other nodes, of the
// organisations whose entries have got a position.
func (s System) announce(ctx context.Context, orgs []access.OrgNo) {
	if len(orgs) == 0 {
		return
	}
	s.j.grew(orgs)
	if err := s.j.notify(ctx, orgs); err != nil && ctx.Err() == nil {
		s.j.db.Log.Warn("could not notify other nodes of new journal entries; they will find them by polling", "error", err)
	}
}

// sequenceEvery is how often the sequencer runs without a notification.
const sequenceEvery = time.Second

// Sequence assigns positions until the context ends: at once after each write
// of this process, and every second for those of a node that died first. On
// SQLite it returns at once.
func (s System) Sequence(ctx context.Context) error {
	if !s.j.db.Dialect().Sequenced {
		return nil
	}
	poll := time.NewTicker(sequenceEvery)
	defer poll.Stop()
	for {
		written := s.j.written.Wait()
		given, orgs, err := s.j.SequenceOnce(ctx)
		if err != nil && ctx.Err() == nil {
			s.j.db.Log.Warn("could not assign positions to journal entries; trying again", "error", err)
		}
		if ctx.Err() == nil {
			s.j.counts.sequenced.Done(err)
		}
		s.announce(ctx, orgs)
		if given >= 5000 {
			continue
		}
		select {
		case <-written:
		case <-poll.C:
		case <-ctx.Done():
			return nil
		}
	}
}
