package reports

import (
	"bytes"
	"context"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// ReportType is the type of a report.
type ReportType = reporttype.Type

// ReportFormat is the file format of a report.
type ReportFormat string

// The formats of reports.
const (
	PDF  ReportFormat = "pdf"
	CSV  ReportFormat = "csv"
	JSON ReportFormat = "json"
	XLSX ReportFormat = "xlsx"
)

// ReportStatus is the status of a report.
type ReportStatus string

// The statuses. Pending and processing reports are in the queue.
const (
	ReportPending    ReportStatus = "pending"
	ReportProcessing ReportStatus = "processing"
	ReportCompleted  ReportStatus = "completed"
	ReportFailed     ReportStatus = "failed"
	ReportExpired    ReportStatus = "expired"
)

// The stored number of a value is its index here. Lists may only be appended
// to, and indexes of the schema depend on the first three statuses.
var (
	ReportTypes    = reporttype.Types()
	ReportFormats  = []ReportFormat{PDF, CSV, JSON, XLSX}
	ReportStatuses = []ReportStatus{ReportPending, ReportProcessing, ReportCompleted, ReportFailed, ReportExpired}
)

func (f ReportFormat) code() int64 { return int64(slices.Index(ReportFormats, f)) }
func (s ReportStatus) code() int64 { return int64(slices.Index(ReportStatuses, s)) }

// ReportRequest is a request for a report.
type ReportRequest struct {
	Type   ReportType
	Format ReportFormat
	Title  string
	// Parameters is a JSON object with all effective parameters.
	Parameters string
	// Patient is the patient that the report is about, or zero if there is
	// none.
	Patient id.Patient
	// AsOf is the time as of which the report is made.
	AsOf time.Time
}

// Report is a report with its status. Until they are known, times are zero and
// Size is -1.
type Report struct {
	ReportRequest
	ID        id.Report
	Client    id.Client // the client that requested it
	Status    ReportStatus
	Progress  int // percent
	CreatedAt time.Time
	StartedAt time.Time
	// CompletedAt is when it ended, completed or failed.
	CompletedAt time.Time
	ExpiresAt   time.Time
	Size        int64
	SHA256      []byte
	Error       string // why it failed, as a message for people

	no, fence int64
}

// NewReport returns a report that is ready to be queued.
func NewReport(q ReportRequest, client id.Client, now time.Time) Report {
	return Report{ReportRequest: q, ID: id.New[id.ReportKind](now), Client: client, Status: ReportPending, CreatedAt: now.UTC().Truncate(time.Second), Size: -1}
}

const reportColumns = `report_no, id, client_id, report_type, format, title, parameters, patient_id, status, progress, as_of,
	created_at, started_at, completed_at, expires_at, size, sha256, error, fence`

func scanReport(r engine.Row) (rep Report, err error) {
	moment := func(column int) time.Time {
		if r.IsNull(column) {
			return time.Time{}
		}
		return engine.FromMillis(r.Int(column))
	}
	rep = Report{
		ReportRequest: ReportRequest{
			Type: ReportTypes[r.Int(3)], Format: ReportFormats[r.Int(4)], Title: r.Text(5), Parameters: r.Text(6), AsOf: engine.FromMillis(r.Int(10)),
		},
		Status: ReportStatuses[r.Int(8)], Progress: int(r.Int(9)),
		CreatedAt: engine.FromMillis(r.Int(11)), StartedAt: moment(12), CompletedAt: moment(13), ExpiresAt: moment(14),
		Size: -1, SHA256: bytes.Clone(r.Raw(16)), Error: r.Text(17), no: r.Int(0), fence: r.Int(18),
	}
	if !r.IsNull(15) {
		rep.Size = r.Int(15)
	}
	if !r.IsNull(7) {
		if rep.Patient, err = id.FromBytes[id.PatientKind](r.Raw(7)); err != nil {
			return rep, err
		}
	}
	if rep.Client, err = id.FromBytes[id.ClientKind](r.Raw(2)); err == nil {
		rep.ID, err = id.FromBytes[id.ReportKind](r.Raw(1))
	}
	return rep, err
}

// fairness is how far a report is moved back in the queue for each other
// waiting one of its organisation, so that an organisation that requests a
// thousand does not hold up the others. It affects only the order of the queue.
const fairness = 5 * time.Second

// CreateReport queues a report and returns the outcome, or that of an earlier
// request with the same key.
func (o Org) CreateReport(ctx context.Context, rep *Report, c journal.Change, key *idempotency.Once, out idempotency.Outcome) (idempotency.Outcome, error) {
	var patient any
	if !rep.Patient.IsZero() {
		patient = rep.Patient.Bytes()
	}
	out, err := o.once.Do(ctx, key, rep.CreatedAt, func(tx engine.Tx) (idempotency.Outcome, error) {
		waiting := int64(0)
		if _, err := engine.One(tx, `SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM report_count WHERE org_no = $1 AND status = $2`,
			func(r engine.Row) { waiting = r.Int(0) }, int64(o.org), ReportPending.code()); err != nil {
			return idempotency.Outcome{}, err
		}
		queued := rep.CreatedAt.Add(time.Duration(waiting) * fairness)
		tx.Last(o.journal.Entry(o.org, c)...)
		tx.Last(o.countReports(rep.Type, "", ReportPending)...)
		// The number is assigned last, so that reports become visible in order.
		tx.Last(
			engine.Stmt{SQL: `INSERT INTO report_counter (org_no, reports) VALUES ($1, 1) ON CONFLICT (org_no) DO UPDATE SET reports = report_counter.reports + 1`,
				Args: []any{int64(o.org)}},
			engine.Stmt{SQL: `INSERT INTO report (org_no, report_no, id, client_id, report_type, format, title, parameters, patient_id, status, progress,
				as_of, created_at, error, queued_at, node, lease_until, fence, tries)
				SELECT $1, reports, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11, '', $12, '', 0, 0, 0 FROM report_counter WHERE org_no = $1`,
				Args: []any{int64(o.org), rep.ID.Bytes(), rep.Client.Bytes(), rep.Type.Code(), rep.Format.code(), rep.Title, rep.Parameters, patient,
					ReportPending.code(), engine.Millis(rep.AsOf), engine.Millis(rep.CreatedAt), engine.Millis(queued)}},
		)
		return out, nil
	})
	if err == nil {
		o.reportQueued.Broadcast()
	}
	return out, err
}

// countReports returns the statements that move a report from one status to
// another in the counters. Either may be "" for none. Rows are locked in a
// fixed order to avoid deadlocks.
func (o Org) countReports(t ReportType, from, to ReportStatus) []engine.Stmt {
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
				Args: []any{int64(o.org), t.Code(), s.status.code(), s.change}})
		}
	}
	return stmts
}

const (
	selectReport = `SELECT ` + reportColumns + ` FROM report WHERE org_no = $1 AND id = $2`
	lockReport   = selectReport + ` /*FOR UPDATE*/`
)

// Report reads one report.
func (o Org) Report(ctx context.Context, reportID id.Report) (rep Report, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		rep, err = o.report(tx, selectReport, reportID)
		return err
	})
	return rep, err
}

func (o Org) report(tx engine.Tx, sql string, reportID id.Report) (rep Report, err error) {
	found := false
	err = tx.Query(sql, func(r engine.Row) (err error) {
		found = true
		rep, err = scanReport(r)
		return err
	}, int64(o.org), reportID.Bytes())
	if err == nil && !found {
		err = fault.Missing("report", reportID.String())
	}
	return rep, err
}

// DeleteReport deletes a report with its file. If it is being generated, its
// claim is lost.
func (o Org) DeleteReport(ctx context.Context, reportID id.Report, c journal.Change) error {
	return o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		rep, err := o.report(tx, lockReport, reportID)
		if err != nil {
			return err
		}
		tx.Last(o.discard(rep.no, rep.fence))
		tx.Last(o.countReports(rep.Type, rep.Status, "")...)
		tx.Last(engine.Stmt{SQL: `DELETE FROM report WHERE org_no = $1 AND report_no = $2`, Args: []any{int64(o.org), rep.no}})
		tx.Last(o.journal.Entry(o.org, c)...)
		return nil
	})
}

// discard returns the statement that hands the chunks of a claim to the purge.
func (o Org) discard(reportNo, fence int64) engine.Stmt {
	return engine.Stmt{SQL: `INSERT INTO report_garbage (org_no, report_no, fence) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		Args: []any{int64(o.org), reportNo, fence}}
}
