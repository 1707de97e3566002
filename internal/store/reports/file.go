package reports

import (
	"context"
	"errors"
	"fmt"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/engine"
)

// ReportBytes calls each with the bytes of a file between two offsets, a chunk
// at a time. If the report is deleted meanwhile, the error is that of a missing
// report.
func (o Org) ReportBytes(ctx context.Context, rep *Report, from, to int64, each func([]byte) error) error {
	return o.bytes(ctx, &rep.Job, fault.Missing("report", rep.ID.String()), from, to, each)
}

// bytes reads the chunks of a job. No transaction is open while each is called,
// because the reader may be slow; the fence keeps files apart. gone is the
// error if the job was deleted.
func (o Org) bytes(ctx context.Context, j *Job, gone error, from, to int64, each func([]byte) error) error {
	buf := make([]byte, 0, ChunkSize)
	for from < to {
		n, packed, found := from/ChunkSize, false, false
		if err := o.db.Read(ctx, func(tx engine.Tx) (err error) {
			found, err = engine.One(tx, `SELECT bytes, packed FROM report_chunk WHERE org_no = $1 AND report_no = $2 AND fence = $3 AND n = $4`, func(r engine.Row) {
				buf, packed = append(buf[:0], r.Raw(0)...), r.Int(1) != 0
			}, int64(o.org), j.no, j.fence, n)
			return err
		}); err != nil {
			return err
		}
		chunk := buf
		if packed {
			var err error
			if chunk, err = unpacked(buf); err != nil {
				return fmt.Errorf("chunk %d: %w", n, err)
			}
		}
		first := min(from-n*ChunkSize, int64(len(chunk)))
		last := min(to-n*ChunkSize, int64(len(chunk)))
		if !found || first == last {
			return gone
		}
		if err := each(chunk[first:last]); err != nil {
			return err
		}
		from += last - first
	}
	return nil
}

// sweepSteps bounds one call of ExpireReports or PurgeReports, so that the
// caller can get back to the queue.
const sweepSteps = 100

// ExpireReports expires reports and exports at the end of their retention, one
// at a time, so that one that cannot be expired holds up no other. The purge
// deletes their files. If more is true, there may be others, for another call.
func (s System) ExpireReports(ctx context.Context) (more bool, err error) {
	type key struct {
		org access.OrgNo
		no  int64
	}
	now := engine.Millis(s.db.Now())
	due, errs := engine.List(ctx, s.db, `SELECT org_no, report_no FROM report WHERE status = 2 AND expires_at <= $1 /*AND org_no = ANY($3)*/ ORDER BY expires_at LIMIT $2`,
		func(r engine.Row) (key, error) { return key{access.OrgNo(r.Int(0)), r.Int(1)}, nil }, now, sweepSteps)
	for _, k := range due {
		if s.claiming.Ready(k.org) {
			errs = errors.Join(errs, s.claiming.Done(ctx, k.org, s.of(k.org).expire(ctx, k.no, now)))
		}
	}
	return len(due) >= sweepSteps, errs
}

// expire expires a report or an export, unless another node does.
func (o Org) expire(ctx context.Context, no, now int64) error {
	return o.db.Write(ctx, func(tx engine.Tx) error {
		var kind, fence int64
		found, err := engine.One(tx, `SELECT report_type, fence FROM report WHERE org_no = $1 AND report_no = $2 AND status = 2 AND expires_at <= $3 /*FOR UPDATE SKIP LOCKED*/`,
			func(r engine.Row) { kind, fence = r.Int(0), r.Int(1) }, int64(o.org), no, now)
		if err != nil || !found {
			return err
		}
		tx.Last(engine.Stmt{SQL: `UPDATE report SET status = $3 WHERE org_no = $1 AND report_no = $2`, Args: []any{int64(o.org), no, Expired.code()}})
		tx.Last(o.countReports(kind, Completed, Expired)...)
		tx.Last(o.discard(no, fence))
		return nil
	})
}

// chunkSlice bounds one transaction of the purge to a megabyte.
const chunkSlice = (1 << 20) / ChunkSize

// PurgeReports deletes chunks that are no longer needed, a slice at a time. If
// more is true, there may be others, for another call.
func (s System) PurgeReports(ctx context.Context) (more bool, err error) {
	for range sweepSteps {
		if more, err = s.purge(ctx); !more {
			return false, err
		}
	}
	return true, err
}

// PurgeAllReports does so until none are left.
func (s System) PurgeAllReports(ctx context.Context) error {
	for {
		if more, err := s.purge(ctx); !more {
			return err
		}
	}
}

// purge deletes a slice, and reports whether it deleted something. If a part of
// the database is unavailable, it deletes a slice in each of the others, and returns
// the error too.
func (s System) purge(ctx context.Context) (did bool, err error) {
	type garbage struct{ org, no, fence int64 }
	found, err := engine.List(ctx, s.db, `SELECT org_no, report_no, fence FROM report_garbage /*WHERE org_no = ANY($1)*/ ORDER BY org_no, report_no, fence LIMIT 1`,
		func(r engine.Row) (garbage, error) { return garbage{r.Int(0), r.Int(1), r.Int(2)}, nil })
	for _, g := range found {
		purgeErr := s.purgeSlice(ctx, g.org, g.no, g.fence)
		did, err = did || purgeErr == nil, errors.Join(err, purgeErr)
	}
	return did, err
}

func (s System) purgeSlice(ctx context.Context, org, no, fence int64) error {
	return s.db.Write(ctx, func(tx engine.Tx) error {
		gone, err := tx.Exec(`DELETE FROM report_chunk WHERE org_no = $1 AND report_no = $2 AND fence = $3 AND n <= (SELECT max(n) FROM
			(SELECT n FROM report_chunk WHERE org_no = $1 AND report_no = $2 AND fence = $3 ORDER BY n LIMIT $4) AS first)`, org, no, fence, chunkSlice)
		if err == nil && gone < chunkSlice {
			_, err = tx.Exec(`DELETE FROM report_garbage WHERE org_no = $1 AND report_no = $2 AND fence = $3`, org, no, fence)
		}
		return err
	})
}
