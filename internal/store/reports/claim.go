package reports

import (
	"context"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/lease"
)

// maxReportTries is how often a report is started before it fails. Attempts
// interrupted by an orderly shutdown do not count.
const maxReportTries = 5

// ErrClaimLost reports that a node no longer owns a report: its lease expired
// and another node has taken over, or the report was deleted.
var ErrClaimLost = errors.New("another node has taken over the report, or it was deleted")

// ReportClaim is a report that this node generates. Everything it writes
// carries the fence of the claim and is rejected once there is a newer one, so
// that a node that was suspended cannot overwrite the work of its successor.
type ReportClaim struct {
	Report
	// Tries counts the claims, including this one.
	Tries int
	org   Org
}

// OrgNo returns the report's organisation.
func (c *ReportClaim) OrgNo() access.OrgNo { return c.org.org }

// ReportQueued returns a channel that is closed when this process queues a
// report.
func (s System) ReportQueued() <-chan struct{} { return s.reportQueued.Wait() }

// nextReport selects the first report in the queue that no node is working on.
const nextReport = `SELECT org_no, tries, ` + reportColumns + ` FROM report WHERE status <= 1 AND (lease_until <= $1 OR lease_until > $2) ORDER BY queued_at LIMIT 1`

// ClaimReport claims the next report of any organisation. It returns nil if
// there is none. No other node claims the report until the lease ends.
func (s System) ClaimReport(ctx context.Context, node string, term time.Duration) (claim *ReportClaim, err error) {
	for {
		// Usually there is none; that must not cost a write.
		waits := false
		after, upTo := lease.Living(s.db.Now())
		if err := s.db.Read(ctx, func(tx engine.Tx) error {
			waits, err = engine.One(tx, nextReport, func(engine.Row) {}, after, upTo)
			return err
		}); err != nil || !waits {
			return nil, err
		}
		if err := s.db.Write(ctx, func(tx engine.Tx) (err error) {
			claim, err = s.claimReport(tx, node, term)
			return err
		}); err != nil || claim == nil {
			return nil, err
		}
		if claim.Tries <= maxReportTries {
			return claim, nil
		}
		if err := claim.Fail(ctx, "The report was started five times and never finished, because servers stopped or the database was unavailable. Create it again, perhaps with a shorter period."); err != nil {
			return nil, err
		}
	}
}

// claimReport is the transaction of ClaimReport.
func (s System) claimReport(tx engine.Tx, node string, term time.Duration) (claim *ReportClaim, err error) {
	now := s.db.Now()
	after, upTo := lease.Living(now)
	if err := tx.Query(nextReport+` /*FOR UPDATE SKIP LOCKED*/`, func(r engine.Row) error {
		rep, err := scanReport(engine.Shift(r, 2))
		claim = &ReportClaim{Report: rep, Tries: int(r.Int(1)) + 1, org: s.of(access.OrgNo(r.Int(0)))}
		return err
	}, after, upTo); err != nil || claim == nil {
		return nil, err
	}
	tx.Last(claim.org.countReports(claim.Type, claim.Status, ReportProcessing)...)
	if claim.fence > 0 {
		tx.Last(claim.org.discard(claim.no, claim.fence))
	}
	claim.fence++
	claim.Status = ReportProcessing
	if claim.StartedAt.IsZero() {
		claim.StartedAt = now
	}
	tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3, progress = 0, started_at = $4, node = $5, lease_until = $6, fence = $7, tries = $8
		WHERE org_no = $1 AND report_no = $2`,
		Args: []any{int64(claim.org.org), claim.no, ReportProcessing.code(), engine.Millis(claim.StartedAt), node, engine.Millis(now.Add(term)), claim.fence, claim.Tries}})
	return claim, nil
}

// held locks the report and returns ErrClaimLost if the claim is no longer the
// newest.
func (c *ReportClaim) held(tx engine.Tx) error {
	found, err := engine.One(tx, `SELECT report_no FROM report WHERE org_no = $1 AND report_no = $2 AND fence = $3 AND status = $4 /*FOR UPDATE*/`, func(engine.Row) {},
		int64(c.org.org), c.no, c.fence, ReportProcessing.code())
	if err == nil && !found {
		err = ErrClaimLost
	}
	return err
}

// Renew extends the lease and stores the progress.
func (c *ReportClaim) Renew(ctx context.Context, lease time.Duration, progress int) error {
	until := c.org.db.Now().Add(lease)
	return c.org.db.Write(ctx, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE report SET lease_until = $3, progress = $4 WHERE org_no = $1 AND report_no = $2`,
			int64(c.org.org), c.no, engine.Millis(until), progress)
		return err
	})
}

// ReportChunk is the size of all chunks of a file except the last.
const ReportChunk = 256 << 10

// Append stores chunk n of the file.
func (c *ReportClaim) Append(ctx context.Context, n int64, chunk []byte) error {
	return c.org.db.Write(ctx, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO report_chunk (org_no, report_no, fence, n, bytes) VALUES ($1, $2, $3, $4, $5)`,
			int64(c.org.org), c.no, c.fence, n, chunk)
		return err
	})
}

// Complete marks the file as complete. From then on it can be downloaded; the
// event is part of the same transaction.
func (c *ReportClaim) Complete(ctx context.Context, size int64, sum []byte, retention time.Duration) error {
	now := c.org.db.Now()
	change := c.change(now, audit.ReportComplete, event.ReportCompleted)
	return c.org.journal.Change(ctx, c.org.org, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3, progress = 100, completed_at = $4, expires_at = $5, size = $6, sha256 = $7
			WHERE org_no = $1 AND report_no = $2`,
			Args: []any{int64(c.org.org), c.no, ReportCompleted.code(), engine.Millis(now), engine.Millis(now.Add(retention)), size, sum}})
		tx.Last(c.org.countReports(c.Type, ReportProcessing, ReportCompleted)...)
		tx.Last(c.org.journal.Entry(c.org.org, change)...)
		return nil
	})
}

// Fail marks the report as failed, with a message for people.
func (c *ReportClaim) Fail(ctx context.Context, reason string) error {
	now := c.org.db.Now()
	failed := c.change(now, audit.ReportFail, event.ReportFailed)
	alert := failed
	alert.Event = event.Alert{Kind: event.ReportDidFail, Severity: event.Warning, Report: &c.ID}.Event(now)
	return c.org.journal.Change(ctx, c.org.org, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3, completed_at = $4, error = $5 WHERE org_no = $1 AND report_no = $2`,
			Args: []any{int64(c.org.org), c.no, ReportFailed.code(), engine.Millis(now), reason}})
		tx.Last(c.org.discard(c.no, c.fence))
		tx.Last(c.org.countReports(c.Type, ReportProcessing, ReportFailed)...)
		tx.Last(c.org.journal.Entry(c.org.org, failed)...)
		tx.Last(c.org.journal.Entry(c.org.org, alert)...)
		return nil
	})
}

// change returns the journal entry for the end of a report. Its actor is the
// client that requested the report.
func (c *ReportClaim) change(now time.Time, action audit.Action, kind event.Type) journal.Change {
	return journal.Change{
		Audit: audit.Entry{At: now, Actor: c.Client.String(), Action: action, Resource: c.ID.String()},
		Event: event.Report(kind, now, c.ID),
	}
}

// Release puts the report back into the queue, to be claimed again after wait.
// If counted is false, the attempt does not count.
func (c *ReportClaim) Release(ctx context.Context, wait time.Duration, counted bool) error {
	until, tries := c.org.db.Now().Add(wait), c.Tries
	if !counted {
		tries--
	}
	err := c.org.db.Write(ctx, func(tx engine.Tx) error {
		if err := c.held(tx); err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3, progress = 0, lease_until = $4, tries = $5 WHERE org_no = $1 AND report_no = $2`,
			Args: []any{int64(c.org.org), c.no, ReportPending.code(), engine.Millis(until), tries}})
		tx.Last(c.org.countReports(c.Type, ReportProcessing, ReportPending)...)
		return nil
	})
	if err == nil {
		c.org.reportQueued.Broadcast()
	}
	return err
}
