package api

import (
	"net/http"
	"strings"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/export"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/reports"
)

// mayExport returns an error if the token lacks a scope of the included data.
func (x *exchange) mayExport(o *export.Options) error {
	if need := x.route.scope | o.Scopes(); !x.principal.Scopes.Has(need) {
		return forbidden(need, x.principal.Scopes)
	}
	return nil
}

// export returns the export named by a path without parameters.
func (x *exchange) export() (reports.Export, error) { return readItem(x, "export", x.org.Export) }

// newExport returns an export for the client, and the change that creates it.
func (x *exchange) newExport(wanted reports.ExportRequest) (reports.Export, journal.Change) {
	e := reports.NewExport(wanted, x.principal.ClientID, x.now)
	change := journal.Change{Audit: x.line(audit.ExportCreate, e.ID.String())}
	change.Audit.Details = e.Details()
	return e, change
}

func (a *API) createExport(x *exchange) (answer, error) {
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	options, err := export.Read(object, x.now)
	if err := x.mayExport(&options); err != nil {
		return answer{}, err
	}
	if err != nil {
		return answer{}, err
	}
	wanted, err := options.Request()
	if err != nil {
		return answer{}, err
	}
	e, change := x.newExport(wanted)
	x.buf = appendExport(x.buf, &e, x.now)
	out, err := x.org.CreateExport(x.ctx(), &e, change, key, idempotency.Outcome{Status: http.StatusCreated, Location: "/v1/exports/" + e.ID.String(), Body: x.buf})
	if err != nil {
		return answer{}, err
	}
	done := x.outcome(out)
	if out.Replayed {
		done.line = x.saw(audit.ExportRead, strings.TrimPrefix(out.Location, "/v1/exports/"))
	}
	return done, nil
}

func (a *API) listExports(x *exchange) (answer, error) {
	q := x.readQuery("page", "limit", "status")
	p := q.page()
	wanted := reports.ExportQuery{Page: p.number, Limit: p.limit}
	wanted.Status = reports.Status(q.word("status", "", texts(reports.Statuses)...))
	return listJobs(x, q, p, "/v1/exports", audit.ExportRead, appendExport, func(each func(*reports.Export)) (int64, error) {
		return x.org.Exports(x.ctx(), wanted, each)
	})
}

func (a *API) getExport(x *exchange) (answer, error) {
	e, err := x.export()
	if err != nil {
		return answer{}, err
	}
	x.buf = appendExport(x.buf, &e, x.now)
	return answer{status: http.StatusOK, body: x.buf, line: x.saw(audit.ExportRead, e.ID.String())}, nil
}

func (a *API) deleteExport(x *exchange) (answer, error) {
	return deleteItem(x, "export", x.org.DeleteExport, audit.ExportDelete)
}

// downloadExport sends a file of an export.
func (a *API) downloadExport(x *exchange) (answer, error) {
	e, err := x.export()
	if err != nil {
		return answer{}, err
	}
	if e.Format == reports.FHIR {
		if _, err := x.mayReadBulk(&e); err != nil {
			return answer{}, err
		}
		return x.sendExportFile(&e, "")
	}
	options, err := export.Stored(&e.ExportRequest, e.CreatedAt)
	if err != nil {
		return answer{}, err
	}
	if err := x.mayExport(&options); err != nil {
		return answer{}, err
	}
	return x.sendExportFile(&e, "")
}

// sendExportFile sends the file in the path. Its media type is that of its
// format, unless it is given.
func (x *exchange) sendExportFile(e *reports.Export, media string) (answer, error) {
	if err := e.Downloadable(x.now); err != nil {
		return answer{}, err
	}
	f := e.File(x.r.PathValue("name"))
	if f == nil {
		return answer{}, fault.Missing("file", clip(x.r.PathValue("name")))
	}
	line := x.saw(audit.ExportDownload, e.ID.String())
	line.Details = e.Details()
	if media == "" {
		media = f.MediaType()
	}
	return x.download(download{
		size: f.Size, sum: f.SHA256, name: f.Name, media: media, line: line,
		bytes: func(from, to int64, send func([]byte) error) error {
			return x.org.ExportBytes(x.r.Context(), e, f, from, to, send)
		},
	})
}
