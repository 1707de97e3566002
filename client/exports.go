package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"
)

// NewExport is the input of [Client.CreateExport]. Format is required.
type NewExport struct {
	Format ExportFormat `json:"format"`
	// Include lists the parts: patients, clinical_data, summaries, or the name
	// of a data type. The default is everything.
	Include []string `json:"include,omitempty"`
	// Since leaves out records stored before this time.
	Since      *time.Time     `json:"since,omitempty"`
	Deidentify bool           `json:"deidentify,omitempty"`
	Filters    *ExportFilters `json:"filters,omitempty"`
}

// Export is an export, its status and its files. Times and size are nil until
// known.
type Export struct {
	ID          string        `json:"id"`
	Format      ExportFormat  `json:"format"`
	Include     []string      `json:"include"`
	Since       *time.Time    `json:"since"`
	Deidentify  bool          `json:"deidentify"`
	Filters     ExportFilters `json:"filters"`
	Status      ReportStatus  `json:"status"`
	Progress    int           `json:"progress"` // percent
	AsOf        *time.Time    `json:"as_of"`    // the time of the data
	CreatedAt   time.Time     `json:"created_at"`
	StartedAt   *time.Time    `json:"started_at"`
	CompletedAt *time.Time    `json:"completed_at"`
	ExpiresAt   *time.Time    `json:"expires_at"`
	SizeBytes   *int64        `json:"size_bytes"`
	Error       string        `json:"error"`
	Files       []ExportFile  `json:"files"`
}

// ExportFile is a file of a completed export.
type ExportFile struct {
	Name        string `json:"name"`
	Table       string `json:"table"` // "" for the data dictionary
	Rows        int64  `json:"rows"`
	SizeBytes   int64  `json:"size_bytes"`
	SHA256      string `json:"sha256"`
	DownloadURL string `json:"download_url"`
}

// ExportQuery selects exports. Zero fields use the service's defaults.
type ExportQuery struct {
	Page   int // starts at 1
	Limit  int // exports per page, up to 100
	Status ReportStatus
}

// CreateExport requests an export, which is written in the background; see
// [Client.WaitExport]. It needs the scope exports:write and the scopes of the
// data in the export.
func (c *Client) CreateExport(ctx context.Context, export NewExport, opts ...CallOption) (*Export, error) {
	return answered[Export](ctx, c, &call{op: "create export", method: http.MethodPost, path: []string{"v1", "exports"}, body: export}, opts)
}

// Export returns an export. It needs the scope exports:read.
func (c *Client) Export(ctx context.Context, id string) (*Export, error) {
	return answered[Export](ctx, c, &call{op: "get export", method: http.MethodGet, path: []string{"v1", "exports", id}}, nil)
}

// Exports returns one page of exports in creation order. It needs the scope
// exports:read.
func (c *Client) Exports(ctx context.Context, query ExportQuery) (*Page[Export], error) {
	q := pageQuery(query.Page, query.Limit)
	setText(q, "status", string(query.Status))
	return answered[Page[Export]](ctx, c, &call{op: "list exports", method: http.MethodGet, path: []string{"v1", "exports"}, query: q}, nil)
}

// AllExports yields all matching exports, fetching page by page from
// query.Page. It stops after the first error.
func (c *Client) AllExports(ctx context.Context, query ExportQuery) iter.Seq2[Export, error] {
	return walkFrom(query.Page, query.Limit, func(page, limit int) (*Page[Export], error) {
		query.Page, query.Limit = page, limit
		return c.Exports(ctx, query)
	})
}

// DeleteExport cancels an export or deletes it and its files. It needs the scope
// exports:write.
func (c *Client) DeleteExport(ctx context.Context, id string) error {
	_, err := c.do(ctx, &call{op: "delete export", method: http.MethodDelete, path: []string{"v1", "exports", id}}, nil)
	return err
}

// ErrExportFailed is wrapped by the error that [Client.WaitExport] returns for
// a failed export. That error's message gives the reason.
var ErrExportFailed = errors.New("the export could not be written")

// WaitExport polls until an export has completed or failed, or the context
// ends. An application with a webhook can use export.completed instead.
func (c *Client) WaitExport(ctx context.Context, id string) (*Export, error) {
	return waitJob(ctx, "export", ErrExportFailed,
		func() (*Export, error) { return c.Export(ctx, id) },
		func(e *Export) (ReportStatus, string) { return e.Status, e.Error })
}

// DownloadExportFile writes a file of a completed export to w and returns its
// size. It does not hold the file in memory. If the connection breaks, it
// requests the rest of the file; at the end it verifies the checksum. It needs
// the scope exports:read and the scopes of the data in the export.
func (c *Client) DownloadExportFile(ctx context.Context, id, name string, w io.Writer) (int64, error) {
	return c.download(ctx, "download export file", w, "v1", "exports", id, "files", name)
}
