package portal

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/export"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/strictjson"
)

type exportsPage struct {
	Rows    []reports.Export
	Waiting bool
	Form    exportForm
	pager
}

type exportForm struct {
	Format, Since string
	Deidentify    bool
	Wrong         []string
}

// Formats lists the choices.
func (exportForm) Formats() []reports.ExportFormat { return reports.ExportFormats }

func (p *Portal) exports(v *visit) error { return v.showExports(exportForm{}) }

// showExports shows the form and the exports, newest first.
func (v *visit) showExports(form exportForm) (err error) {
	page := exportsPage{Form: form}
	if page.pager, err = v.pager(nil); err != nil {
		return err
	}
	if page.Total, err = v.org.Exports(v.r.Context(), reports.ExportQuery{Page: 1, Limit: 1}, func(*reports.Export) {}); err != nil {
		return err
	}
	// The store lists the oldest first, so the newest are on its last page.
	if from := page.Pages() - page.Page + 1; from >= 1 {
		if _, err := v.org.Exports(v.r.Context(), reports.ExportQuery{Page: from, Limit: pageSize}, func(e *reports.Export) {
			page.Rows = append(page.Rows, *e)
			page.Waiting = page.Waiting || e.Job.Waiting()
		}); err != nil {
			return err
		}
		slices.Reverse(page.Rows)
	}
	return v.show("exports", "Exports", page)
}

// createExport requests an export under the rules of the API.
func (p *Portal) createExport(v *visit) error {
	form := exportForm{Format: v.form("format"), Since: v.form("since"), Deidentify: v.form("deidentify") != ""}
	body, err := json.Marshal(map[string]any{"format": form.Format, "since": form.Since, "deidentify": form.Deidentify})
	if err != nil {
		return err
	}
	object, err := strictjson.Parse(body)
	if err != nil {
		return err
	}
	options, err := export.Read(object, v.now)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.InvalidParameter {
		form.Wrong, v.status = []string{f.Message}, http.StatusUnprocessableEntity
		return v.showExports(form)
	} else if err != nil {
		return err
	}
	wanted, err := options.Request()
	if err != nil {
		return err
	}
	e := reports.NewExport(wanted, id.Client{}, v.now)
	change := v.change(audit.ExportCreate, e.ID.String())
	change.Audit.Details = e.Details()
	if _, err := v.org.CreateExport(v.r.Context(), &e, change, nil, idempotency.Outcome{}); err != nil {
		return err
	}
	v.redirect("/portal/exports/" + e.ID.String())
	return nil
}

type exportPage struct {
	reports.Export
	Ready bool
}

// Asked returns the parameters as names and values.
func (e exportPage) Asked() []fact { return told(e.Parameters) }

func (p *Portal) export(v *visit) error {
	e, err := v.findExport()
	if err != nil {
		return err
	}
	return v.show("export", "Export", exportPage{e, e.Downloadable(v.now) == nil})
}

func (v *visit) findExport() (reports.Export, error) { return readItem(v, "export", v.org.Export) }

// downloadExport sends a file of an export.
func (p *Portal) downloadExport(v *visit) error {
	e, err := v.findExport()
	if err != nil {
		return err
	}
	if err := e.Downloadable(v.now); err != nil {
		return err
	}
	f := e.File(v.r.PathValue("name"))
	if f == nil {
		return fault.Missing("file", "")
	}
	line := v.line()
	line.Action, line.Resource, line.Details = audit.ExportDownload, e.ID.String(), e.Details()
	if err := v.org.Saw(&line); err != nil {
		return err
	}
	return v.stream(f.Name, f.MediaType(), f.Size, func(send func([]byte) error) error {
		return v.org.ExportBytes(v.r.Context(), &e, f, 0, f.Size, send)
	})
}

func (p *Portal) deleteExport(v *visit) error {
	e, err := v.findExport()
	if err != nil {
		return err
	}
	change := v.change(audit.ExportDelete, e.ID.String())
	change.Audit.Details = e.Details()
	if err := v.org.DeleteExport(v.r.Context(), e.ID, change); err != nil {
		return err
	}
	v.redirect("/portal/exports")
	return nil
}
