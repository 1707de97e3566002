package journal

import (
	"context"
	"errors"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

const (
	// sequenceLock locks the sequences of organisations, in order, so that nodes
	// cannot deadlock. Its keys have two numbers: this one, and that of the
	// organisation.
	sequenceLock = `SELECT pg_advisory_xact_lock(1936028021, CAST(org % 2147483648 AS INTEGER)) FROM unnest(CAST($1 AS BIGINT[])) AS org`
	// sequencePatience is how long the entries of several organisations wait for
	// a lock of one of them, before each is tried separately.
	sequencePatience = `SET LOCAL lock_timeout = 1000`

	// sequenceOrgs and sequenceEntries bound one transaction.
	sequenceOrgs    = 100
	sequenceEntries = 5000
)

// sequence assigns positions to committed entries in their organisation's log.
// Positions are assigned after the commit and under a lock, so that a reader
// that follows the log by position misses nothing: entries that it does not see
// yet will get higher positions than those it has seen. The primary key of the
// journal prevents two nodes from assigning the same position.
//
// PostgreSQL only; on SQLite the writer assigns positions.
//
// The first form is for one organisation, the second for a list.
var (
	sequence     = sequenceWhere("org_no = $1")
	sequenceList = sequenceWhere("org_no = ANY($1)")
)

func sequenceWhere(condition string) string {
	return `WITH taken AS (
		DELETE FROM journal_pending WHERE ` + condition + ` AND seq <=
			(SELECT max(seq) FROM (SELECT seq FROM journal_pending WHERE ` + condition + ` ORDER BY seq LIMIT $2) AS first)
		RETURNING seq, org_no, at, subject, event_id, event_type, event_data, audit, packed
	), counted AS (
		SELECT org_no, count(*) AS n, min(packed) AS reads FROM taken GROUP BY org_no
	), heads AS (
		INSERT INTO journal_head AS h (org_no, pos) SELECT org_no, n FROM counted ORDER BY org_no
		ON CONFLICT (org_no) DO UPDATE SET pos = h.pos + excluded.pos RETURNING org_no, pos
	), placed AS (
		INSERT INTO journal (org_no, pos, at, subject, event_id, event_type, event_data, audit, packed)
		SELECT t.org_no, heads.pos - counted.n + row_number() OVER (PARTITION BY t.org_no ORDER BY t.seq),
			t.at, t.subject, t.event_id, t.event_type, t.event_data, t.audit, t.packed
		FROM taken t JOIN heads ON heads.org_no = t.org_no JOIN counted ON counted.org_no = t.org_no
	)
	SELECT org_no, n, reads FROM counted`
}

// sequenceOnce assigns positions to pending entries of some organisations, in
// one transaction. It returns how many, and the organisations that had any other
// than audit lines of reads.
func (s *Journal) sequenceOnce(ctx context.Context, orgs []access.OrgNo) (given int64, changed []access.OrgNo, err error) {
	numbers := make([]int64, len(orgs))
	for i, org := range orgs {
		numbers[i] = int64(org)
	}
	slices.Sort(numbers)
	sql, which := sequence, any(numbers[0])
	if len(numbers) > 1 {
		sql, which = sequenceList, numbers
	}
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		given, changed = 0, nil
		if len(numbers) > 1 {
			tx.Last(engine.Stmt{SQL: sequencePatience})
		}
		tx.Last(
			engine.Stmt{SQL: sequenceLock, Args: []any{numbers}, Each: func(engine.Row) error { return nil }},
			engine.Stmt{SQL: sql, Args: []any{which, sequenceEntries}, Each: func(r engine.Row) error {
				given += r.Int(1)
				if r.Int(2) == 0 {
					changed = append(changed, access.OrgNo(r.Int(0)))
				}
				return nil
			}},
		)
		return nil
	})
	return given, changed, err
}

// sequenceAll assigns positions to all pending entries of some organisations.
func (s System) sequenceAll(ctx context.Context, orgs []access.OrgNo) error {
	if s.j.db.Dialect().Distributed {
		return s.sequenceApart(ctx, orgs)
	}
	for {
		given, changed, err := s.j.sequenceOnce(ctx, orgs)
		if given > 0 && err == nil {
			s.announce(ctx, changed)
		}
		if err != nil || given < sequenceEntries {
			return err
		}
	}
}

// sequenceOrg is sequenceAll for one organisation.
func (s System) sequenceOrg(ctx context.Context, org access.OrgNo) error {
	return s.sequenceAll(ctx, []access.OrgNo{org})
}

// pendingOrgs lists the organisations with pending entries. If a part of the
// database is unavailable, it returns those of the others with the error.
func (s System) pendingOrgs(ctx context.Context) ([]access.OrgNo, error) {
	return engine.List(ctx, s.j.db, `SELECT DISTINCT org_no FROM journal_pending /*WHERE org_no = ANY($1)*/`,
		func(r engine.Row) (access.OrgNo, error) { return access.OrgNo(r.Int(0)), nil })
}

// FlushReads moves the audit lines of reads of this process to the journal and
// assigns positions to all pending entries. It is for callers that need to see
// them now, and for shutdown, when the sequencer may have stopped.
func (s System) FlushReads(ctx context.Context) error {
	return errors.Join(s.ShipReads(ctx), s.SequencePending(ctx))
}

// FlushReads moves the audit lines of reads of this process to the journal, and
// assigns positions to the pending entries of the organisation. Entries of
// others cannot hold it up.
func (o Org) FlushReads(ctx context.Context) error {
	s := o.j.System()
	failed, err := s.shipReads(ctx, o.org)
	err = errors.Join(err, failed[o.org])
	if o.j.db.Dialect().Sequenced {
		err = errors.Join(err, s.sequenceOrg(ctx, o.org))
	}
	return err
}

// SequencePending assigns positions to all pending entries.
func (s System) SequencePending(ctx context.Context) error {
	if !s.j.db.Dialect().Sequenced {
		return nil
	}
	orgs, err := s.pendingOrgs(ctx)
	for chunk := range slices.Chunk(orgs, s.together()) {
		err = errors.Join(err, s.sequenceAll(ctx, chunk))
	}
	return err
}

// announce notifies waiting callers, here and on other nodes, that entries have got
// positions. orgs are the organisations that had others than audit lines of reads.
func (s System) announce(ctx context.Context, orgs []access.OrgNo) {
	s.j.grew(append(nowhere, orgs...))
	if err := s.j.notify(ctx, orgs); err != nil && ctx.Err() == nil {
		s.j.db.Log.Warn("could not notify other nodes of new journal entries; they will find them by polling", "error", err)
	}
}

const (
	// sequenceEvery is how often the sequencer checks whether to poll.
	sequenceEvery = time.Second
	// After a round, the sequencer rests for sequenceRest times as long as that
	// took, but at most for longestRest. While many write, it thus assigns many
	// positions at a time, and costs a fraction of what the writes cost.
	sequenceRest = 3
	longestRest  = 10 * time.Millisecond
)

// Sequence assigns positions until the context ends: at once after a write of
// this process, unless it has just done so, and from time to time for those of a
// node that died first. On SQLite it returns at once.
func (s System) Sequence(ctx context.Context) error {
	if !s.j.db.Dialect().Sequenced {
		return nil
	}
	s.j.sequences.Store(true)
	defer s.j.sequences.Store(false)
	tick := time.NewTicker(sequenceEvery)
	defer tick.Stop()
	defer s.j.sequencing.Wait()
	poll := s.j.db.NewPoll(0)
	for {
		written := s.j.written.Wait()
		began := time.Now()
		err := s.sequenceRound(ctx, poll)
		rested := time.After(min(sequenceRest*time.Since(began), longestRest))
		if err != nil && ctx.Err() == nil && !errors.Is(err, engine.ErrPart) { // which the engine logs
			s.j.db.Log.Warn("could not assign positions to journal entries; trying again", "error", err)
		}
		if ctx.Err() == nil {
			s.j.counts.sequenced.Done(engine.IgnorePart(err))
		}
		select {
		case <-written:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		select {
		case <-rested:
		case <-ctx.Done():
			return nil
		}
	}
}

// sequenceRound assigns positions to what this process wrote since the last
// round, and to all entries if it is time to poll. If the entries of several
// organisations fail together, each organisation is tried separately, so that
// only those that fail again wait.
func (s System) sequenceRound(ctx context.Context, poll *engine.Poll) (err error) {
	orgs, all := s.j.unplaced.take()
	if poll.Due() {
		all = true
		s.j.sequencing.Hasten()
	}
	if all {
		var found []access.OrgNo
		if found, err = s.pendingOrgs(ctx); err != nil {
			poll.Again()
		}
		orgs = append(orgs, found...)
		slices.Sort(orgs)
		orgs = slices.Compact(orgs)
	}
	for chunk := range slices.Chunk(s.j.sequencing.Sound(orgs), s.together()) {
		if together := s.sequenceAll(ctx, chunk); together != nil {
			err = errors.Join(err, together)
			s.j.sequencing.Suspect(chunk)
		}
	}
	s.j.sequencing.Retry(ctx, s.sequenceOrg)
	return err
}
