package reports

import (
	"context"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// fairness is how far a job is moved back in the queue for each other waiting
// one of its organisation, so that an organisation that requests a thousand
// does not hold up the others. It affects only the order of the queue.
const fairness = 5 * time.Second

// queued is what is stored of a new job.
type queued struct {
	format            int64
	title, parameters string
	patient           any // the identifier as stored, or nil
	asOf              time.Time
}

// queue stores a new job and returns the outcome, or that of an earlier request
// with the same key.
func (o Org) queue(ctx context.Context, of work, q queued, c journal.Change, key *idempotency.Once, out idempotency.Outcome) (idempotency.Outcome, error) {
	j := of.job()
	out, err := o.once.Do(ctx, key, j.CreatedAt, func(tx engine.Tx) (idempotency.Outcome, error) {
		waiting := int64(0)
		if _, err := engine.One(tx, `SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM report_count WHERE org_no = $1 AND status = $2`,
			func(r engine.Row) { waiting = r.Int(0) }, int64(o.org), ReportPending.code()); err != nil {
			return idempotency.Outcome{}, err
		}
		at := j.CreatedAt.Add(time.Duration(waiting) * fairness)
		tx.Last(o.journal.Entry(o.org, c)...)
		tx.Last(o.countReports(of.typeCode(), "", ReportPending)...)
		// The number is assigned last, so that jobs become visible in order.
		tx.Last(
			engine.Stmt{SQL: `INSERT INTO report_counter (org_no, reports) VALUES ($1, 1) ON CONFLICT (org_no) DO UPDATE SET reports = report_counter.reports + 1`,
				Args: []any{int64(o.org)}},
			engine.Stmt{SQL: `INSERT INTO report (org_no, report_no, id, client_id, report_type, format, title, parameters, patient_id, status, progress,
				as_of, created_at, error, queued_at, node, lease_until, fence, tries)
				SELECT $1, reports, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11, '', $12, '', 0, 0, 0 FROM report_counter WHERE org_no = $1`,
				Args: []any{int64(o.org), of.key(), j.Client.Bytes(), of.typeCode(), q.format, q.title, q.parameters, q.patient,
					ReportPending.code(), engine.Millis(q.asOf), engine.Millis(j.CreatedAt), engine.Millis(at)}},
		)
		return out, nil
	})
	if err == nil {
		o.reportQueued.Broadcast()
	}
	return out, err
}

// countReports returns the statements that move a job from one status to
// another in the counters. Either may be "" for none. Rows are locked in a
// fixed order to avoid deadlocks.
func (o Org) countReports(typeCode int64, from, to ReportStatus) []engine.Stmt {
	steps := []struct {
		status ReportStatus
		change int64
	}{{from, -1}, {to, 1}}
	if from != "" && to != "" && to.code() < from.code() {
		slices.Reverse(steps)
	}
	var stmts []engine.Stmt
	for _, s := range steps {
		if s.status != "" {
			stmts = append(stmts, engine.Stmt{SQL: `INSERT INTO report_count (org_no, report_type, status, reports) VALUES ($1, $2, $3, $4)
				ON CONFLICT (org_no, report_type, status) DO UPDATE SET reports = report_count.reports + excluded.reports`,
				Args: []any{int64(o.org), typeCode, s.status.code(), s.change}})
		}
	}
	return stmts
}

// remove deletes a job with its files. If it is being generated, its claim is
// lost.
func (o Org) remove(tx engine.Tx, of work) {
	j := of.job()
	tx.Last(o.discard(j.no, j.fence))
	tx.Last(o.countReports(of.typeCode(), j.Status, "")...)
	tx.Last(engine.Stmt{SQL: `DELETE FROM report WHERE org_no = $1 AND report_no = $2`, Args: []any{int64(o.org), j.no}})
}

// discard returns the statement that hands the chunks of a claim to the purge.
func (o Org) discard(reportNo, fence int64) engine.Stmt {
	return engine.Stmt{SQL: `INSERT INTO report_garbage (org_no, report_no, fence) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		Args: []any{int64(o.org), reportNo, fence}}
}
