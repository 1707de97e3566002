package journal

import (
	"context"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

// sequenceLock is the advisory lock of the one who gives positions.
const sequenceLock = 0x616e6f64_73657175

// sequence gives committed entries their position in their organisation's
// log. Positions are given after the commit and under a lock, so that a
// reader who walks the log by position can miss nothing: what it does not see
// yet will come behind what it has seen. The primary key of the journal is the
// fence against two who give the same position.
//
// PostgreSQL only; SQLite's writer gives positions itself.
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

// SequenceOnce gives positions to what is pending and says how many it gave,
// and to whom.
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

// FlushReads moves the read lines of this process into the journal and gives
// all that is pending its position: for whoever wants to see them now, and
// for the end, when the sequencer may have stopped.
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

// announce tells those who wait, here and on other nodes, whose entries have
// got their position.
func (s System) announce(ctx context.Context, orgs []access.OrgNo) {
	if len(orgs) == 0 {
		return
	}
	s.j.grew(orgs)
	if err := s.j.notify(ctx, orgs); err != nil && ctx.Err() == nil {
		s.j.db.Log.Warn("could not notify other nodes of new journal entries; they will find them by polling", "error", err)
	}
}

// sequenceEvery is how often the sequencer looks without being told to.
const sequenceEvery = time.Second

// Sequence runs until the context ends: at once after each write of this
// process, and every second for those of a node that died before it could.
// On SQLite there is nothing to do, and it returns.
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
