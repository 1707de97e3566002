package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
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
	return c.report(ctx, &call{op: "create report", method: http.MethodPost, path: []string{"v1", "reports"}, body: report}, opts...)
}

// Report returns a report. It needs the scope reports:read.
func (c *Client) Report(ctx context.Context, id string) (*Report, error) {
	return c.report(ctx, &call{op: "get report", method: http.MethodGet, path: []string{"v1", "reports", id}})
}

func (c *Client) report(ctx context.Context, call *call, opts ...CallOption) (*Report, error) {
	var report Report
	if _, err := c.do(ctx, call, &report, opts...); err != nil {
		return nil, err
	}
	return &report, nil
}

// Reports returns one page of reports in creation order. It needs the scope
// reports:read.
func (c *Client) Reports(ctx context.Context, query ReportQuery) (*Page[Report], error) {
	q := url.Values{}
	setNumber(q, "page", query.Page)
	setNumber(q, "limit", query.Limit)
	if query.Status != "" {
		q.Set("status", string(query.Status))
	}
	if query.Type != "" {
		q.Set("type", string(query.Type))
	}
	var page Page[Report]
	if _, err := c.do(ctx, &call{op: "list reports", method: http.MethodGet, path: []string{"v1", "reports"}, query: q}, &page); err != nil {
		return nil, err
	}
	return &page, nil
}

// AllReports yields all matching reports, fetching page by page from
// query.Page. It stops after the first error.
func (c *Client) AllReports(ctx context.Context, query ReportQuery) iter.Seq2[Report, error] {
	if query.Limit == 0 {
		query.Limit = maxLimit
	}
	return walkPages(max(query.Page, 1), func(number int) (*Page[Report], error) {
		query.Page = number
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

// The shortest and longest pause between two polls of WaitReport.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = 2 * time.Second
)

// WaitReport polls until a report has completed or failed, or the context
// ends. An application with a webhook can use report.completed instead.
func (c *Client) WaitReport(ctx context.Context, id string) (*Report, error) {
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		report, err := c.Report(ctx, id)
		if err != nil {
			return nil, err
		}
		switch report.Status {
		case ReportPending, ReportProcessing:
		case ReportFailed:
			return report, fmt.Errorf("anodyne: %w: %s", ErrReportFailed, report.Error)
		default:
			return report, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return report, fmt.Errorf("anodyne: wait for report: %w", err)
		}
	}
}
