package reports

import (
	"context"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/lease"
)

// maxReportTries is how often a job is started before it fails. Attempts
// interrupted by an orderly shutdown do not count.
const maxReportTries = 5

// ErrClaimLost reports that a node no longer owns a job: its lease expired
// and another node has taken over, or the job was deleted.
var ErrClaimLost = errors.New("another node has taken over, or it was deleted")

// Claim is a job that this node does. Everything it writes carries the fence of
// the claim and is rejected once there is a newer one, so that a node that was
// suspended cannot overwrite the work of its successor.
type Claim struct {
	// Tries counts the claims, including this one.
	Tries int
	of    work
	j     *Job // of the same
	org   Org
}

// ReportClaim is a report that this node generates.
type ReportClaim struct {
	Report
	*Claim
}

// OrgNo returns the job's organisation.
func (c *Claim) OrgNo() access.OrgNo { return c.org.org }

// Resource returns the identifier of the report or export.
func (c *Claim) Resource() string { return c.of.resource() }

// ReportQueued returns a channel that is closed when this process queues a
// report or an export.
func (s System) ReportQueued() <-chan struct{} { return s.reportQueued.Wait() }

// nextJob selects the first job of a range of types in the queue that no node
// is working on.
const nextJob = `SELECT org_no, tries, ` + reportColumns + ` FROM report WHERE status <= 1 AND (lease_until <= $1 OR lease_until > $2) AND report_type BETWEEN $3 AND $4 ORDER BY queued_at LIMIT 1`

// ClaimReport claims the next report of any organisation. It returns nil if
// there is none. No other node claims the report until the lease ends.
func (s System) ClaimReport(ctx context.Context, node string, term time.Duration) (claimed *ReportClaim, err error) {
	c, err := s.claimNext(ctx, node, term, allReportTypes, func(r engine.Row) (work, error) {
		rep, err := scanReport(r)
		claimed = &ReportClaim{Report: rep}
		return &claimed.Report, err
	})
	if c == nil {
		return nil, err
	}
	claimed.Claim = c
	return claimed, err
}

// claimNext claims the next job of a range of types.
func (s System) claimNext(ctx context.Context, node string, term time.Duration, types span, scan func(engine.Row) (work, error)) (claim *Claim, err error) {
	for {
		// Usually there is none; that must not cost a write.
		waits := false
		after, upTo := lease.Living(s.db.Now())
		if err := s.db.Read(ctx, func(tx engine.Tx) error {
			waits, err = engine.One(tx, nextJob, func(engine.Row) {}, after, upTo, types.first, types.last)
			return err
		}); err != nil || !waits {
			return nil, err
		}
		if err := s.db.Write(ctx, func(tx engine.Tx) (err error) {
			claim, err = s.claim(tx, node, term, types, scan)
			return err
		}); err != nil || claim == nil {
			return nil, err
		}
		if claim.Tries <= maxReportTries {
			return claim, nil
		}
		if err := claim.Fail(ctx, "It was started five times and never finished, because servers stopped or the database was unavailable. Create it again, perhaps with a shorter period."); err != nil {
			return nil, err
		}
	}
}

// claim is the transaction of claimNext.
func (s System) claim(tx engine.Tx, node string, term time.Duration, types span, scan func(engine.Row) (work, error)) (claim *Claim, err error) {
	now := s.db.Now()
	after, upTo := lease.Living(now)
	if err := tx.Query(nextJob+` /*FOR UPDATE SKIP LOCKED*/`, func(r engine.Row) error {
		of, err := scan(engine.Shift(r, 2))
		claim = &Claim{of: of, j: of.job(), Tries: int(r.Int(1)) + 1, org: s.of(access.OrgNo(r.Int(0)))}
		return err
	}, after, upTo, types.first, types.last); err != nil || claim == nil {
		return nil, err
	}
	tx.Last(claim.org.countReports(claim.of.typeCode(), claim.j.Status, Processing)...)
	if claim.j.fence > 0 {
		tx.Last(claim.org.discard(claim.j.no, claim.j.fence))
	}
	claim.j.fence++
	claim.j.Status = Processing
	if claim.j.StartedAt.IsZero() {
		claim.j.StartedAt = now
	}
	tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3, progress = 0, started_at = $4, node = $5, lease_until = $6, fence = $7, tries = $8
		WHERE org_no = $1 AND report_no = $2`,
		Args: []any{int64(claim.org.org), claim.j.no, Processing.code(), engine.Millis(claim.j.StartedAt), node, engine.Millis(now.Add(term)), claim.j.fence, claim.Tries}})
	return claim, nil
}

// held locks the job and returns ErrClaimLost if the claim is no longer the
// newest.
func (c *Claim) held(tx engine.Tx) error {
	found, err := engine.One(tx, `SELECT report_no FROM report WHERE org_no = $1 AND report_no = $2 AND fence = $3 AND status = $4 /*FOR UPDATE*/`, func(engine.Row) {},
		int64(c.org.org), c.j.no, c.j.fence, Processing.code())
	if err == nil && !found {
		err = ErrClaimLost
	}
	return err
}

// Renew extends the lease and stores the progress.
func (c *Claim) Renew(ctx context.Context, lease time.Duration, progress int) error {
	until := c.org.db.Now().Add(lease)
	return c.org.db.Write(ctx, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE report SET lease_until = $3, progress = $4 WHERE org_no = $1 AND report_no = $2`,
			int64(c.org.org), c.j.no, engine.Millis(until), progress)
		return err
	})
}

// ChunkSize is the size of all chunks of a file except the last.
const ChunkSize = 256 << 10

// Append stores chunk n of the file.
func (c *Claim) Append(ctx context.Context, n int64, chunk []byte) error {
	return c.append(ctx, n, chunk, 0)
}

func (c *Claim) append(ctx context.Context, n int64, chunk []byte, packed int64) error {
	return c.org.db.Write(ctx, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO report_chunk (org_no, report_no, fence, n, bytes, packed) VALUES ($1, $2, $3, $4, $5, $6)`,
			int64(c.org.org), c.j.no, c.j.fence, n, chunk, packed)
		return err
	})
}

// Complete marks the file as complete. From then on it can be downloaded; the
// event is part of the same transaction.
func (c *ReportClaim) Complete(ctx context.Context, size int64, sum []byte, retention time.Duration) error {
	return c.complete(ctx, c.AsOf, size, sum, "", retention)
}

func (c *Claim) complete(ctx context.Context, asOf time.Time, size int64, sum []byte, files string, retention time.Duration, more ...engine.Stmt) error {
	now := c.org.db.Now()
	change := c.change(now, true)
	return c.org.journal.Change(ctx, c.org.org, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3, progress = 100, completed_at = $4, expires_at = $5, size = $6, sha256 = $7, files = $8, as_of = $9
			WHERE org_no = $1 AND report_no = $2`,
			Args: []any{int64(c.org.org), c.j.no, Completed.code(), engine.Millis(now), engine.Millis(now.Add(retention)), size, sum, files, engine.Millis(asOf)}})
		tx.Last(c.org.countReports(c.of.typeCode(), Processing, Completed)...)
		tx.Last(more...)
		tx.Last(c.org.journal.Entry(c.org.org, change)...)
		return nil
	})
}

// Fail marks the job as failed, with a message for people.
func (c *Claim) Fail(ctx context.Context, reason string) error {
	now := c.org.db.Now()
	failed := c.change(now, false)
	alert := failed
	alert.Event = c.of.alert().Event(now)
	return c.org.journal.Change(ctx, c.org.org, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3, completed_at = $4, error = $5 WHERE org_no = $1 AND report_no = $2`,
			Args: []any{int64(c.org.org), c.j.no, Failed.code(), engine.Millis(now), reason}})
		tx.Last(c.org.discard(c.j.no, c.j.fence))
		tx.Last(c.org.countReports(c.of.typeCode(), Processing, Failed)...)
		tx.Last(c.org.journal.Entry(c.org.org, failed)...)
		tx.Last(c.org.journal.Entry(c.org.org, alert)...)
		return nil
	})
}

// change returns the journal entry for the end of a job. Its actor is the
// client that requested the job.
func (c *Claim) change(now time.Time, completed bool) journal.Change {
	action, told := c.of.end(now, completed)
	return journal.Change{Audit: audit.Entry{At: now, Actor: c.j.Client.String(), Action: action, Resource: c.of.resource()}, Event: told}
}

// Release puts the job back into the queue, to be claimed again after wait.
// If counted is false, the attempt does not count.
func (c *Claim) Release(ctx context.Context, wait time.Duration, counted bool) error {
	until, tries := c.org.db.Now().Add(wait), c.Tries
	if !counted {
		tries--
	}
	err := c.org.db.Write(ctx, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3, progress = 0, lease_until = $4, tries = $5 WHERE org_no = $1 AND report_no = $2`,
			Args: []any{int64(c.org.org), c.j.no, Pending.code(), engine.Millis(until), tries}})
		tx.Last(c.org.countReports(c.of.typeCode(), Processing, Pending)...)
		return nil
	})
	if err == nil {
		c.org.reportQueued.Broadcast()
	}
	return err
}
