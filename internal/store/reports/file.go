package reports

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/engine"
)

// ReportBytes calls each with the bytes of a file between two offsets, a chunk
// at a time. No transaction is open in between, because the reader may be slow;
// the fence keeps files apart. If the report is deleted meanwhile, the error is
// that of a missing report.
func (o Org) ReportBytes(ctx context.Context, rep *Report, from, to int64, each func([]byte) error) error {
	buf := make([]byte, 0, min(ReportChunk, to-from))
	for from < to {
		n := from / ReportChunk
		found := false
		if err := o.db.Read(ctx, func(tx engine.Tx) (err error) {
			found, err = engine.One(tx, `SELECT bytes FROM report_chunk WHERE org_no = $1 AND report_no = $2 AND fence = $3 AND n = $4`, func(r engine.Row) {
				chunk := r.Raw(0)
				first := min(from-n*ReportChunk, int64(len(chunk)))
				last := min(to-n*ReportChunk, int64(len(chunk)))
				buf = append(buf[:0], chunk[first:last]...)
			}, int64(o.org), rep.no, rep.fence, n)
			return err
		}); err != nil {
			return err
		}
		if !found || len(buf) == 0 {
			return fault.Missing("report", rep.ID.String())
		}
		if err := each(buf); err != nil {
			return err
		}
		from += int64(len(buf))
	}
	return nil
}

// sweepSteps bounds one call of ExpireReports or PurgeReports, so that the
// caller can get back to the queue. It calls them again soon.
const sweepSteps = 100

// ExpireReports expires reports at the end of their retention, one at a time.
// The purge deletes their files.
func (s System) ExpireReports(ctx context.Context) error {
	const due = `SELECT org_no, report_no, report_type, fence FROM report WHERE status = 2 AND expires_at <= $1 ORDER BY expires_at LIMIT 1`
	now := engine.Millis(s.db.Now())
	for range sweepSteps {
		found := false
		if err := s.db.Read(ctx, func(tx engine.Tx) (err error) {
			found, err = engine.One(tx, due, func(engine.Row) {}, now)
			return err
		}); err != nil || !found {
			return err
		}
		if err := s.db.Write(ctx, func(tx engine.Tx) error {
			var o Org
			var no, fence int64
			var kind ReportType
			found, err := engine.One(tx, due+` /*FOR UPDATE SKIP LOCKED*/`, func(r engine.Row) {
				o = s.of(access.OrgNo(r.Int(0)))
				no, kind, fence = r.Int(1), ReportTypes[r.Int(2)], r.Int(3)
			}, now)
			if err != nil || !found {
				return err
			}
			tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3 WHERE org_no = $1 AND report_no = $2`, Args: []any{int64(o.org), no, ReportExpired.code()}})
			tx.Last(o.countReports(kind, ReportCompleted, ReportExpired)...)
			tx.Last(o.discard(no, fence))
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// chunkSlice bounds one transaction of PurgeReports to a megabyte.
const chunkSlice = (1 << 20) / ReportChunk

// PurgeReports deletes chunks that are no longer needed, a slice at a time.
func (s System) PurgeReports(ctx context.Context) error {
	for range sweepSteps {
		var org, no, fence int64
		found := false
		if err := s.db.Read(ctx, func(tx engine.Tx) (err error) {
			found, err = engine.One(tx, `SELECT org_no, report_no, fence FROM report_garbage ORDER BY org_no, report_no, fence LIMIT 1`, func(r engine.Row) {
				org, no, fence = r.Int(0), r.Int(1), r.Int(2)
			})
			return err
		}); err != nil || !found {
			return err
		}
		if err := s.db.Write(ctx, func(tx engine.Tx) error {
			gone, err := tx.Exec(`DELETE FROM report_chunk WHERE org_no = $1 AND report_no = $2 AND fence = $3 AND n IN
				(SELECT n FROM report_chunk WHERE org_no = $1 AND report_no = $2 AND fence = $3 ORDER BY n LIMIT $4)`, org, no, fence, chunkSlice)
			if err == nil && gone < chunkSlice {
				_, err = tx.Exec(`DELETE FROM report_garbage WHERE org_no = $1 AND report_no = $2 AND fence = $3`, org, no, fence)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// HasExpired reports whether the retention of a file has ended, whether or not
// ExpireReports has noticed.
func (r *Report) HasExpired(now time.Time) bool {
	return r.Status == ReportExpired || r.Status == ReportCompleted && !now.Before(r.ExpiresAt)
}
