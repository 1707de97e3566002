package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// NewReport is the input of [Client.CreateReport]. Type is required.
type NewReport struct {
	Type       ReportType       `json:"type"`
	Format     ReportFormat     `json:"format,omitempty"` // defaults to PDF
	Title      string           `json:"title,omitempty"`
	Parameters ReportParameters `json:"parameters"`
}

// Report is a report and its status. Times and size are nil until known.
type Report struct {
	ID          string           `json:"id"`
	Type        ReportType       `json:"type"`
	Format      ReportFormat     `json:"format"`
	Title       string           `json:"title"`
	Status      ReportStatus     `json:"status"`
	Progress    int              `json:"progress"` // percent
	Parameters  ReportParameters `json:"parameters"`
	CreatedAt   time.Time        `json:"created_at"`
	StartedAt   *time.Time       `json:"started_at"`
	CompletedAt *time.Time       `json:"completed_at"`
	ExpiresAt   *time.Time       `json:"expires_at"`
	SizeBytes   *int64           `json:"size_bytes"`
	SHA256      string           `json:"sha256"`
	Error       string           `json:"error"`
	DownloadURL string           `json:"download_url"`
}

// ReportQuery selects reports. Zero fields use the service's defaults.
type ReportQuery struct {
	Page   int // starts at 1
	Limit  int // reports per page, up to 100
	Status ReportStatus
	Type   ReportType
}

// CreateReport requests a report, which is generated in the background; see
// [Client.WaitReport]. It needs the scope reports:write and the scopes of the
// data in the report.
func (c *Client) CreateReport(ctx context.Context, report NewReport, opts ...CallOption) (*Report, error) {
	return answered[Report](ctx, c, &call{op: "create report", method: http.MethodPost, path: []string{"v1", "reports"}, body: report}, opts)
}

// Report returns a report. It needs the scope reports:read.
func (c *Client) Report(ctx context.Context, id string) (*Report, error) {
	return answered[Report](ctx, c, &call{op: "get report", method: http.MethodGet, path: []string{"v1", "reports", id}}, nil)
}

// Reports returns one page of reports in creation order. It needs the scope
// reports:read.
func (c *Client) Reports(ctx context.Context, query ReportQuery) (*Page[Report], error) {
	q := pageQuery(query.Page, query.Limit)
	setText(q, "status", string(query.Status))
	setText(q, "type", string(query.Type))
	return answered[Page[Report]](ctx, c, &call{op: "list reports", method: http.MethodGet, path: []string{"v1", "reports"}, query: q}, nil)
}

// AllReports yields all matching reports, fetching page by page from
// query.Page. It stops after the first error.
func (c *Client) AllReports(ctx context.Context, query ReportQuery) iter.Seq2[Report, error] {
	return walkFrom(query.Page, query.Limit, func(page, limit int) (*Page[Report], error) {
		query.Page, query.Limit = page, limit
		return c.Reports(ctx, query)
	})
}

// DeleteReport cancels a report or deletes it and its file. It needs the scope
// reports:write.
func (c *Client) DeleteReport(ctx context.Context, id string) error {
	_, err := c.do(ctx, &call{op: "delete report", method: http.MethodDelete, path: []string{"v1", "reports", id}}, nil)
	return err
}

// ErrReportFailed is wrapped by the error that [Client.WaitReport] returns for
// a failed report. That error's message gives the reason.
var ErrReportFailed = errors.New("the report could not be made")

// WaitReport polls until a report has completed or failed, or the context
// ends. An application with a webhook can use report.completed instead.
func (c *Client) WaitReport(ctx context.Context, id string) (*Report, error) {
	return waitJob(ctx, "report", ErrReportFailed,
		func() (*Report, error) { return c.Report(ctx, id) },
		func(r *Report) (ReportStatus, string) { return r.Status, r.Error })
}

// The shortest and longest pause between two polls of a report or export.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = 2 * time.Second
)

// waitJob polls a report or export until it has completed or failed. state
// returns its status and error.
func waitJob[T any](ctx context.Context, what string, failed error, get func() (*T, error), state func(*T) (ReportStatus, string)) (*T, error) {
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		job, err := get()
		if err != nil {
			return nil, err
		}
		switch status, reason := state(job); status {
		case ReportPending, ReportProcessing:
		case ReportFailed:
			return job, fmt.Errorf("anodyne: %w: %s", failed, reason)
		default:
			return job, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return job, fmt.Errorf("anodyne: wait for %s: %w", what, err)
		}
	}
}
