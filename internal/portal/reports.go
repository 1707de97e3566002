package portal

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/strictjson"
)

type reportsPage struct {
	Rows    []reports.Report
	Waiting bool
	Form    reportForm
	pager
}

type reportForm struct {
	Type, Format, Title, PatientID, StartDate, EndDate string
	Wrong                                              []string
}

// Types and Formats list the choices.
func (reportForm) Types() []reporttype.Type        { return reporttype.Types() }
func (reportForm) Formats() []reports.ReportFormat { return reports.ReportFormats }

func (p *Portal) reports(v *visit) error {
	return v.showReports(reportForm{Type: string(reporttype.PatientSummary), PatientID: v.r.URL.Query().Get("patient_id")})
}

// showReports shows the form and the reports, newest first.
func (v *visit) showReports(form reportForm) (err error) {
	page := reportsPage{Form: form}
	if page.pager, err = v.pager(nil); err != nil {
		return err
	}
	none := func(*reports.Report) {}
	if page.Total, err = v.org.Reports(v.r.Context(), reports.ReportQuery{Page: 1, Limit: 1}, none); err != nil {
		return err
	}
	// The store lists the oldest first, so the newest are on its last page.
	if from := page.Pages() - page.Page + 1; from >= 1 {
		if _, err := v.org.Reports(v.r.Context(), reports.ReportQuery{Page: from, Limit: pageSize}, func(rep *reports.Report) {
			page.Rows = append(page.Rows, *rep)
			page.Waiting = page.Waiting || rep.Waiting()
		}); err != nil {
			return err
		}
		slices.Reverse(page.Rows)
	}
	return v.show("reports", "Reports", page)
}

// createReport requests a report under the rules of the API.
func (p *Portal) createReport(v *visit) error {
	form := reportForm{
		Type: v.form("type"), Format: v.form("format"), Title: v.form("title"), PatientID: v.form("patient_id"), StartDate: v.form("start_date"), EndDate: v.form("end_date"),
	}
	parameters := map[string]string{}
	for name, value := range map[string]string{"start_date": form.StartDate, "end_date": form.EndDate} {
		if value != "" {
			parameters[name] = value
		}
	}
	if declared, _ := reporttype.Of(reporttype.Type(form.Type)); declared.AboutPatient {
		parameters["patient_id"] = form.PatientID
	}
	body, err := json.Marshal(map[string]any{"type": form.Type, "format": form.Format, "title": form.Title, "parameters": parameters})
	if err != nil {
		return err
	}
	wanted, err := p.readReport(v, body)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.InvalidParameter {
		form.Wrong, v.status = []string{f.Message}, http.StatusUnprocessableEntity
		return v.showReports(form)
	} else if err != nil {
		return err
	}
	rep := reports.NewReport(wanted, id.Client{}, v.now)
	change := v.change(audit.ReportCreate, rep.ID.String())
	change.Audit.Details = rep.Details()
	if _, err := v.org.CreateReport(v.r.Context(), &rep, change, nil, idempotency.Outcome{}); err != nil {
		return err
	}
	v.redirect("/portal/reports/" + rep.ID.String())
	return nil
}

func (p *Portal) readReport(v *visit, body []byte) (wanted reports.ReportRequest, err error) {
	object, err := strictjson.Parse(body)
	if err != nil {
		return wanted, err
	}
	if wanted, err = p.ReadReport(object, v.now); err != nil || wanted.Patient.IsZero() {
		return wanted, err
	}
	if _, err = v.org.BirthDate(v.r.Context(), wanted.Patient); fault.Is(err, fault.NotFound) {
		err = fault.Parameter("patient_id", wanted.Patient.String(), "There is no such patient.")
	}
	return wanted, err
}

type reportPage struct {
	reports.Report
	Ready bool
}

// Asked returns the parameters as names and values.
func (r reportPage) Asked() []fact { return told(r.Parameters) }

func (p *Portal) report(v *visit) error {
	rep, err := v.findReport()
	if err != nil {
		return err
	}
	return v.show("report", rep.Title, reportPage{rep, rep.Downloadable(v.now) == nil})
}

func (v *visit) findReport() (reports.Report, error) { return readItem(v, "report", v.org.Report) }

// sendTime limits how long a browser may take to receive a part of a file.
const sendTime = time.Minute

// download sends the file of a report.
func (p *Portal) download(v *visit) error {
	rep, err := v.findReport()
	if err != nil {
		return err
	}
	if err := rep.Downloadable(v.now); err != nil {
		return err
	}
	line := v.line()
	line.Action, line.Resource, line.Details = audit.ReportDownload, rep.ID.String(), rep.Details()
	if !rep.Patient.IsZero() { // so that the entry is found by patient
		line.Resource = rep.Patient.String()
	}
	if err := v.org.Saw(&line); err != nil {
		return err
	}
	return v.stream(rep.FileName(), rep.Format.MediaType(), rep.Size, func(send func([]byte) error) error {
		return v.org.ReportBytes(v.r.Context(), &rep, 0, rep.Size, send)
	})
}

// stream sends a file while reading it. An error before the first part is
// returned, so that the browser gets a page instead of an incomplete file.
func (v *visit) stream(name, media string, size int64, read func(send func([]byte) error) error) error {
	begun := false
	begin := func() {
		begun = true
		h := v.w.Header()
		h.Set("Content-Type", media)
		h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
		h.Set("Content-Length", strconv.FormatInt(size, 10))
		v.w.WriteHeader(http.StatusOK)
	}
	if v.r.Method == http.MethodHead {
		begin()
		return nil
	}
	connection := http.NewResponseController(v.w)
	err := read(func(chunk []byte) error {
		if !begun {
			begin()
		}
		// The write timeout is too short for a large file on a slow connection.
		_ = connection.SetWriteDeadline(time.Now().Add(sendTime)) // not all connections support it
		_, err := v.w.Write(chunk)
		return err
	})
	if err != nil && begun {
		panic(http.ErrAbortHandler) // the file is incomplete, which the browser must notice
	}
	if err == nil && !begun { // the file is empty
		begin()
	}
	return err
}

func (p *Portal) deleteReport(v *visit) error {
	rep, err := v.findReport()
	if err != nil {
		return err
	}
	change := v.change(audit.ReportDelete, rep.ID.String())
	change.Audit.Details = rep.Details()
	if err := v.org.DeleteReport(v.r.Context(), rep.ID, change); err != nil {
		return err
	}
	v.redirect("/portal/reports")
	return nil
}

// sized formats a size for display.
func sized(bytes int64) string {
	switch {
	case bytes < 0:
		return "–"
	case bytes < 10_000:
		return number(bytes) + " bytes"
	}
	return strings.TrimSuffix(strconv.FormatFloat(float64(bytes)/1e6, 'f', 2, 64), "0") + " MB"
}
