package reports

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// ExportFormat is the format of the files of an export.
type ExportFormat string

// The formats of exports.
const (
	Parquet   ExportFormat = "parquet"
	NDJSON    ExportFormat = "ndjson"
	ExportCSV ExportFormat = "csv"
	// FHIR is that of FHIR bulk exports: one resource a line, one file or more
	// for each resource type.
	FHIR ExportFormat = "fhir"
)

// ExportFormats lists the formats of exports of tables.
var ExportFormats = []ExportFormat{Parquet, NDJSON, ExportCSV}

// storedFormats lists all formats. The stored number of a format is its index
// here, so the list may only be appended to.
var storedFormats = []ExportFormat{Parquet, NDJSON, ExportCSV, FHIR}

func (f ExportFormat) code() int64 { return int64(slices.Index(storedFormats, f)) }

// ExportRequest is a request for an export.
type ExportRequest struct {
	Format ExportFormat
	// Parameters is a JSON object with what the export includes.
	Parameters string
}

// ExportFile is a file of a completed export.
type ExportFile struct {
	Name   string `json:"name"`
	Table  string `json:"table"` // "" for the data dictionary
	Rows   int64  `json:"rows"`
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"`
	// Offset is where the file begins in the chunks of the export.
	Offset int64 `json:"offset"`
}

// Export is an export with its status. Size is that of all files together.
type Export struct {
	ExportRequest
	ID id.Export
	// AsOf is the time of the data, once the export is complete.
	AsOf  time.Time
	Files []ExportFile
	Job
}

// NewExport returns an export that is ready to be queued.
func NewExport(q ExportRequest, client id.Client, now time.Time) Export {
	return Export{ExportRequest: q, ID: id.New[id.ExportKind](now), Job: newJob(client, now)}
}

func scanExport(r engine.Row) (x Export, err error) {
	x.ExportRequest = ExportRequest{Format: storedFormats[r.Int(4)], Parameters: r.Text(6)}
	if x.Job, err = scanJob(r); err != nil {
		return x, err
	}
	if files := r.Raw(19); len(files) > 0 {
		x.AsOf = engine.FromMillis(r.Int(10))
		if err := json.Unmarshal(files, &x.Files); err != nil {
			return x, err
		}
	}
	x.ID, err = id.FromBytes[id.ExportKind](r.Raw(1))
	return x, err
}

func (x *Export) job() *Job        { return &x.Job }
func (x *Export) typeCode() int64  { return exportType }
func (x *Export) key() []byte      { return x.ID.Bytes() }
func (x *Export) resource() string { return x.ID.String() }

func (x *Export) end(at time.Time, completed bool) (audit.Action, *event.Event) {
	if completed {
		return audit.ExportComplete, event.Export(event.ExportCompleted, at, x.ID)
	}
	return audit.ExportFail, event.Export(event.ExportFailed, at, x.ID)
}

func (x *Export) alert() event.Alert {
	return event.Alert{Kind: event.ExportDidFail, Severity: event.Warning, Export: &x.ID}
}

// CreateExport queues an export and returns the outcome, or that of an earlier
// request with the same key.
func (o Org) CreateExport(ctx context.Context, x *Export, c journal.Change, key *idempotency.Once, out idempotency.Outcome) (idempotency.Outcome, error) {
	return o.queue(ctx, x, queued{format: x.Format.code(), parameters: x.Parameters, asOf: x.CreatedAt}, c, key, out)
}

const selectExport = `SELECT ` + reportColumns + ` FROM report WHERE org_no = $1 AND id = $2 AND report_type = 100`

// Export reads one export.
func (o Org) Export(ctx context.Context, exportID id.Export) (Export, error) {
	return engine.Get(ctx, o.db, func(tx engine.Tx) (Export, error) { return o.export(tx, selectExport, exportID) })
}

func (o Org) export(tx engine.Tx, sql string, exportID id.Export) (Export, error) {
	return one(tx, o.org, sql, "export", exportID, scanExport)
}

// DeleteExport deletes an export with its files. If it is being generated, its
// claim is lost.
func (o Org) DeleteExport(ctx context.Context, exportID id.Export, c journal.Change) error {
	return o.delete(ctx, c, func(tx engine.Tx) (work, error) {
		x, err := o.export(tx, selectExport+` /*FOR UPDATE*/`, exportID)
		return &x, err
	})
}

// ExportBytes calls each with the bytes of a file of an export between two
// offsets in the file, a chunk at a time. If the export is deleted meanwhile,
// the error is that of a missing export.
func (o Org) ExportBytes(ctx context.Context, x *Export, f *ExportFile, from, to int64, each func([]byte) error) error {
	return o.bytes(ctx, &x.Job, fault.Missing("export", x.ID.String()), f.Offset+from, f.Offset+to, each)
}

// ExportClaim is an export that this node generates.
type ExportClaim struct {
	Export
	*Claim
}

// ClaimExport claims the next export of any organisation. It returns nil if
// there is none. No other node claims the export until the lease ends.
func (s System) ClaimExport(ctx context.Context, node string, term time.Duration) (claimed *ExportClaim, err error) {
	c, err := s.claimNext(ctx, node, term, allExportTypes, func(r engine.Row) (work, error) {
		x, err := scanExport(r)
		claimed = &ExportClaim{Export: x}
		return &claimed.Export, err
	})
	if c == nil {
		return nil, err
	}
	claimed.Claim = c
	return claimed, err
}

// Append stores chunk n of the files. Chunks of text are compressed.
func (c *ExportClaim) Append(ctx context.Context, n int64, chunk []byte) error {
	if c.Format != Parquet {
		if small := packed(chunk); len(small) < len(chunk) {
			return c.append(ctx, n, small, 1)
		}
	}
	return c.append(ctx, n, chunk, 0)
}

// Complete marks the files as complete. From then on they can be downloaded;
// the event is part of the same transaction. head is how far the journal went
// when the data was read, at asOf, or 0 if others do not continue this export.
func (c *ExportClaim) Complete(ctx context.Context, asOf time.Time, head journal.Pos, files []ExportFile, size int64, sum []byte, retention time.Duration) error {
	list, err := json.Marshal(files)
	if err != nil {
		return err
	}
	var mark []engine.Stmt
	if head > 0 {
		mark = append(mark, c.org.markExport(asOf, head))
	}
	return c.complete(ctx, asOf, size, sum, string(list), retention, mark...)
}

// markExport returns the statement that records how far the journal went when
// the data of an export was read. Of exports with the same time, the earliest
// place counts.
func (o Org) markExport(asOf time.Time, head journal.Pos) engine.Stmt {
	return engine.Stmt{SQL: `INSERT INTO export_mark (org_no, as_of, pos) VALUES ($1, $2, $3)
		ON CONFLICT (org_no, as_of) DO UPDATE SET pos = CASE WHEN excluded.pos < export_mark.pos THEN excluded.pos ELSE export_mark.pos END`,
		Args: []any{int64(o.org), engine.Millis(asOf), int64(head)}}
}

// MarkExport records how far the journal went when the data of an export was
// read that is not stored, so that a later one can continue from there.
func (o Org) MarkExport(ctx context.Context, asOf time.Time, head journal.Pos) error {
	return o.db.Write(ctx, func(tx engine.Tx) error {
		tx.Last(o.markExport(asOf, head))
		return nil
	})
}

// NoteExport records an export that is written to a directory by the command
// line, and is not stored.
func (o Org) NoteExport(ctx context.Context, c journal.Change) error {
	return o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		tx.Last(o.journal.Entry(o.org, c)...)
		return nil
	})
}
