package reports

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// fairness is how far a job is moved back in the queue for each other waiting
// one of its organisation, so that an organisation that requests a thousand
// does not hold up the others. It affects only the order of the queue.
const fairness = 5 * time.Second

// mostExports is how many exports of an organisation may wait, be generated or
// be stored, because each may be as large as all data.
const mostExports = 100

// lockQueue returns the statement that keeps others from queueing a job of the
// organisation until the transaction ends, for engines on which writes run in
// parallel. It must come before the locks of rows: of a patient that is erased,
// and of reports.
func (o Org) lockQueue() []engine.Stmt {
	lock := o.db.Dialect().LockKey
	if lock == "" {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "reports %d", o.org))
	return []engine.Stmt{{SQL: lock, Args: []any{int64(binary.BigEndian.Uint64(sum[:]))}}}
}

// admit locks the queue, so that an erasure finds every job that was queued
// before it, and exports are counted exactly. It returns how many jobs of the
// organisation are waiting, or why a new one is rejected.
func (o Org) admit(tx engine.Tx, of work, q queued) (waiting int64, err error) {
	exports, erased := int64(0), false
	stmts := append(o.lockQueue(), engine.Stmt{SQL: `SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM report_count WHERE org_no = $1 AND status = $2`,
		Args: []any{int64(o.org), Pending.code()}, Each: func(r engine.Row) error {
			waiting = r.Int(0)
			return nil
		}})
	if of.typeCode() == exportType {
		stmts = append(stmts, engine.Stmt{SQL: `SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM report_count WHERE org_no = $1 AND report_type = $2 AND status IN ($3, $4, $5)`,
			Args: []any{int64(o.org), int64(exportType), Pending.code(), Processing.code(), Completed.code()}, Each: func(r engine.Row) error {
				exports = r.Int(0)
				return nil
			}})
	}
	if !q.patient.IsZero() {
		stmts = append(stmts, engine.Stmt{SQL: `SELECT 1 FROM patient_gone WHERE org_no = $1 AND id = $2 AND merged_into IS NULL`,
			Args: []any{int64(o.org), q.patient.Bytes()}, Each: func(engine.Row) error {
				erased = true
				return nil
			}})
	}
	switch err := tx.Many(stmts...); {
	case err != nil:
		return 0, err
	case erased:
		return 0, fault.Missing("patient", q.patient.String())
	case exports >= mostExports:
		return 0, fault.New(fault.Conflict, fmt.Sprintf("The organisation has %d exports, which is the maximum. Delete some, or wait until they expire.", exports))
	}
	return waiting, nil
}

// queued is what is stored of a new job.
type queued struct {
	format            int64
	title, parameters string
	patient           id.Patient // zero if it is not about one
	asOf              time.Time
}

// queue stores a new job and returns the outcome, or that of an earlier request
// with the same key.
func (o Org) queue(ctx context.Context, of work, q queued, c journal.Change, key *idempotency.Once, out idempotency.Outcome) (idempotency.Outcome, error) {
	j := of.job()
	out, err := o.once.Do(ctx, key, j.CreatedAt, func(tx engine.Tx) (idempotency.Outcome, error) {
		waiting, err := o.admit(tx, of, q)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		var patient any
		if !q.patient.IsZero() {
			patient = q.patient.Bytes()
		}
		at := j.CreatedAt.Add(time.Duration(waiting) * fairness)
		tx.Last(o.journal.Entry(o.org, c)...)
		tx.Last(o.countReports(of.typeCode(), "", Pending)...)
		// The number is assigned last, so that jobs become visible in order.
		tx.Last(
			engine.Stmt{SQL: `INSERT INTO report_counter (org_no, reports) VALUES ($1, 1) ON CONFLICT (org_no) DO UPDATE SET reports = report_counter.reports + 1`,
				Args: []any{int64(o.org)}},
			engine.Stmt{SQL: `INSERT INTO report (org_no, report_no, id, client_id, report_type, format, title, parameters, patient_id, status, progress,
				as_of, created_at, error, queued_at, node, lease_until, fence, tries)
				SELECT org_no, reports, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11, '', $12, '', 0, 0, 0 FROM report_counter WHERE org_no = $1`,
				Args: []any{int64(o.org), of.key(), j.Client.Bytes(), of.typeCode(), q.format, q.title, q.parameters, patient,
					Pending.code(), engine.Millis(q.asOf), engine.Millis(j.CreatedAt), engine.Millis(at)}},
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
func (o Org) countReports(typeCode int64, from, to Status) []engine.Stmt {
	steps := []struct {
		status Status
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

// delete deletes the job that find locks.
func (o Org) delete(ctx context.Context, c journal.Change, find func(tx engine.Tx) (work, error)) error {
	err := o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		of, err := find(tx)
		if err != nil {
			return err
		}
		o.remove(tx, of)
		tx.Last(o.journal.Entry(o.org, c)...)
		return nil
	})
	if err == nil {
		o.discarded.Broadcast()
	}
	return err
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
