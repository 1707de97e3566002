package reports

import (
	"cmp"
	"context"
	"errors"
	"slices"
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

// ReportQueued returns channels that are closed when this process queues a
// report or an export, and when another process has jobs that it has no room for.
func (s System) ReportQueued() (here, elsewhere <-chan struct{}) {
	return s.reportQueued.Wait(), s.reportTold.Wait()
}

// Discarded returns a channel that is closed when this process next deletes a
// report or an export, whose files [System.PurgeReports] then removes.
func (s System) Discarded() <-chan struct{} { return s.discarded.Wait() }

// queueChannel notifies nodes of jobs that they can claim.
const queueChannel = "anodyne_reports"

// TellQueued tells other nodes that there are jobs that they can claim.
func (s System) TellQueued(ctx context.Context) {
	if err := s.db.Tell(ctx, queueChannel, ""); err != nil && ctx.Err() == nil {
		s.db.Log.Warn("could not notify other nodes of waiting reports; they will find them by polling", "error", err)
	}
}

// place is the place of a job in the queue.
type place struct {
	at  int64
	org access.OrgNo
	no  int64
}

const (
	// selectFree selects jobs of a range of types that no node is working on, in
	// the order of the queue, after a place in it.
	selectFree = `SELECT queued_at, org_no, report_no FROM report WHERE status <= 1 AND (lease_until <= $1 OR lease_until > $2)
		AND report_type BETWEEN $3 AND $4 AND (queued_at, org_no, report_no) > ($5, $6, $7) /*AND org_no = ANY($9)*/ ORDER BY queued_at, org_no, report_no LIMIT $8`
	// lockFree locks one of them, unless it was taken meanwhile.
	lockFree = `SELECT tries, ` + reportColumns + ` FROM report WHERE org_no = $1 AND report_no = $2
		AND status <= 1 AND (lease_until <= $3 OR lease_until > $4) /*FOR UPDATE SKIP LOCKED*/`
	// freeAtOnce is how many jobs are found at a time.
	freeAtOnce = 20
)

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

// claimNext claims the next job of a range of types. It finds jobs in one
// statement over all organisations, and locks them one by one, so that an
// organisation whose jobs cannot be claimed holds up no other.
func (s System) claimNext(ctx context.Context, node string, term time.Duration, types span, scan func(engine.Row) (work, error)) (*Claim, error) {
	var errs error
	var last place
	for {
		free, err := s.free(ctx, types, last)
		if errs = errors.Join(errs, err); err != nil && !errors.Is(err, engine.ErrPart) {
			return nil, errs
		}
		for _, p := range free {
			if !s.claiming.Ready(p.org) {
				continue
			}
			claim, err := s.claim(ctx, p, node, term, scan)
			if err == nil && claim != nil && claim.Tries > maxReportTries {
				err = claim.Fail(ctx, "It was started five times and never finished, because servers stopped or the database was unavailable. Create it again, perhaps with a shorter period.")
				claim = nil
			}
			errs = errors.Join(errs, s.claiming.Done(ctx, p.org, err))
			if claim != nil {
				return claim, nil
			}
		}
		if len(free) < freeAtOnce || ctx.Err() != nil {
			return nil, errs
		}
		last = free[len(free)-1]
	}
}

// free returns the first jobs after a place in the queue that can be claimed. If
// a part of the database is unavailable, it returns those of the others with the error.
func (s System) free(ctx context.Context, types span, last place) (list []place, err error) {
	after, upTo := lease.Living(s.db.Now())
	list, err = engine.List(ctx, s.db, selectFree, func(r engine.Row) (place, error) {
		return place{r.Int(0), access.OrgNo(r.Int(1)), r.Int(2)}, nil
	}, after, upTo, types.first, types.last, last.at, int64(last.org), last.no, freeAtOnce)
	slices.SortFunc(list, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.org, b.org), cmp.Compare(a.no, b.no))
	})
	return list[:min(len(list), freeAtOnce)], err
}

// claim claims a job. It returns nil if another node was faster.
func (s System) claim(ctx context.Context, p place, node string, term time.Duration, scan func(engine.Row) (work, error)) (claim *Claim, err error) {
	now, o := s.db.Now(), s.of(p.org)
	after, upTo := lease.Living(now)
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		claim = nil
		if err := tx.Query(lockFree, func(r engine.Row) error {
			of, err := scan(engine.Shift(r, 1))
			claim = &Claim{of: of, j: of.job(), Tries: int(r.Int(0)) + 1, org: o}
			return err
		}, int64(p.org), p.no, after, upTo); err != nil || claim == nil {
			return err
		}
		tx.Last(o.countReports(claim.of.typeCode(), claim.j.Status, Processing)...)
		if claim.j.fence > 0 {
			tx.Last(o.discard(claim.j.no, claim.j.fence))
		}
		claim.j.fence++
		claim.j.Status = Processing
		if claim.j.StartedAt.IsZero() {
			claim.j.StartedAt = now
		}
		tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3, progress = 0, started_at = $4, node = $5, lease_until = $6, fence = $7, tries = $8
			WHERE org_no = $1 AND report_no = $2`,
			Args: []any{int64(p.org), p.no, Processing.code(), engine.Millis(claim.j.StartedAt), node, engine.Millis(now.Add(term)), claim.j.fence, claim.Tries}})
		return nil
	})
	if err != nil {
		return nil, err
	}
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
		if wait == 0 {
			System{c.org.tables}.TellQueued(ctx)
		}
	}
	return err
}
