package reports

import (
	"context"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// ReportFormat is the file format of a report.
type ReportFormat string

// The formats of reports.
const (
	PDF  ReportFormat = "pdf"
	CSV  ReportFormat = "csv"
	JSON ReportFormat = "json"
	XLSX ReportFormat = "xlsx"
)

// Status is the status of a report or an export.
type Status string

// The statuses. What is pending or processing is in the queue.
const (
	Pending    Status = "pending"
	Processing Status = "processing"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Expired    Status = "expired"
)

// The stored number of a value is its index here. Lists may only be appended
// to, and indexes of the schema depend on the first three statuses.
var (
	ReportFormats = []ReportFormat{PDF, CSV, JSON, XLSX}
	Statuses      = []Status{Pending, Processing, Completed, Failed, Expired}
)

func (f ReportFormat) code() int64 { return int64(slices.Index(ReportFormats, f)) }
func (s Status) code() int64       { return int64(slices.Index(Statuses, s)) }

// ReportRequest is a request for a report.
type ReportRequest struct {
	Type   reporttype.Type
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

// Report is a report with its status.
type Report struct {
	ReportRequest
	ID id.Report
	Job
}

// NewReport returns a report that is ready to be queued.
func NewReport(q ReportRequest, client id.Client, now time.Time) Report {
	return Report{ReportRequest: q, ID: id.New[id.ReportKind](now), Job: newJob(client, now)}
}

func scanReport(r engine.Row) (rep Report, err error) {
	rep.ReportRequest = ReportRequest{
		Type: reporttype.Types()[r.Int(3)], Format: ReportFormats[r.Int(4)], Title: r.Text(5), Parameters: r.Text(6), AsOf: engine.FromMillis(r.Int(10)),
	}
	if !r.IsNull(7) {
		if rep.Patient, err = id.FromBytes[id.PatientKind](r.Raw(7)); err != nil {
			return rep, err
		}
	}
	if rep.Job, err = scanJob(r); err == nil {
		rep.ID, err = id.FromBytes[id.ReportKind](r.Raw(1))
	}
	return rep, err
}

func (rep *Report) job() *Job        { return &rep.Job }
func (rep *Report) typeCode() int64  { return rep.Type.Code() }
func (rep *Report) key() []byte      { return rep.ID.Bytes() }
func (rep *Report) resource() string { return rep.ID.String() }

func (rep *Report) end(at time.Time, completed bool) (audit.Action, *event.Event) {
	if completed {
		return audit.ReportComplete, event.Report(event.ReportCompleted, at, rep.ID)
	}
	return audit.ReportFail, event.Report(event.ReportFailed, at, rep.ID)
}

func (rep *Report) alert() event.Alert {
	return event.Alert{Kind: event.ReportDidFail, Severity: event.Warning, Report: &rep.ID}
}

// CreateReport queues a report and returns the outcome, or that of an earlier
// request with the same key. It returns NotFound if the patient was erased.
func (o Org) CreateReport(ctx context.Context, rep *Report, c journal.Change, key *idempotency.Once, out idempotency.Outcome) (idempotency.Outcome, error) {
	q := queued{format: rep.Format.code(), title: rep.Title, parameters: rep.Parameters, patient: rep.Patient, asOf: rep.AsOf}
	return o.queue(ctx, rep, q, c, key, out)
}

const (
	selectReport = `SELECT ` + reportColumns + ` FROM report WHERE org_no = $1 AND id = $2 AND report_type < 100`
	lockReport   = selectReport + ` /*FOR UPDATE*/`
)

// Report reads one report.
func (o Org) Report(ctx context.Context, reportID id.Report) (Report, error) {
	return engine.Get(ctx, o.db, func(tx engine.Tx) (Report, error) { return o.report(tx, selectReport, reportID) })
}

func (o Org) report(tx engine.Tx, sql string, reportID id.Report) (Report, error) {
	return one(tx, o.org, sql, "report", reportID, scanReport)
}

// DeleteReport deletes a report with its file. If it is being generated, its
// claim is lost.
func (o Org) DeleteReport(ctx context.Context, reportID id.Report, c journal.Change) error {
	return o.delete(ctx, c, func(tx engine.Tx) (work, error) {
		rep, err := o.report(tx, lockReport, reportID)
		return &rep, err
	})
}
