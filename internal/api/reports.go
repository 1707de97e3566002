package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/strictjson"
)

// ReadReport parses a report request; internal/report implements it. The type
// of the result is valid or "", even if there is an error.
type ReadReport func(body *strictjson.Object, now time.Time) (reports.ReportRequest, error)

// mayRead returns an error if the token lacks a scope of the report's data, or
// if the type is unknown.
func (x *exchange) mayRead(t reporttype.Type) error {
	declared, known := reporttype.Of(t)
	if !known || declared.Scopes == 0 {
		return fmt.Errorf("the scopes of reports of type %q are not defined", t)
	}
	if need := x.route.scope | declared.Scopes; !x.principal.Scopes.Has(need) {
		return forbidden(need, x.principal.Scopes)
	}
	return nil
}

// report returns the report named by a path without parameters.
func (x *exchange) report() (reports.Report, error) { return readItem(x, "report", x.org.Report) }

// noPatientOf turns the error for a patient that does not exist into one about
// the parameter.
func noPatientOf(wanted reports.ReportRequest, err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.Parameter("parameters.patient_id", wanted.Patient.String(), "parameters.patient_id is not the identifier of a patient.")
	}
	return err
}

func (a *API) createReport(x *exchange) (answer, error) {
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	wanted, err := a.ReadReport(object, x.now)
	if wanted.Type != "" {
		if err := x.mayRead(wanted.Type); err != nil {
			return answer{}, err
		}
	}
	if err != nil {
		return answer{}, err
	}
	if !wanted.Patient.IsZero() {
		if _, err := x.org.BirthDate(x.ctx(), wanted.Patient); err != nil {
			return answer{}, noPatientOf(wanted, err)
		}
	}
	rep := reports.NewReport(wanted, x.principal.ClientID, x.now)
	location := "/v1/reports/" + rep.ID.String()
	change := journal.Change{Audit: x.line(audit.ReportCreate, rep.ID.String())}
	change.Audit.Details = rep.Details()
	x.buf = appendReport(x.buf, &rep, x.now)
	out, err := x.org.CreateReport(x.ctx(), &rep, change, key, idempotency.Outcome{Status: http.StatusCreated, Location: location, Body: x.buf})
	if err != nil {
		return answer{}, noPatientOf(wanted, err)
	}
	done := x.outcome(out)
	if out.Replayed {
		done.line = x.saw(audit.ReportRead, strings.TrimPrefix(out.Location, "/v1/reports/"))
	}
	return done, nil
}

func (a *API) listReports(x *exchange) (answer, error) {
	q := x.readQuery("page", "limit", "status", "type")
	p := q.page()
	wanted := reports.ReportQuery{Page: p.number, Limit: p.limit}
	wanted.Status = reports.Status(q.word("status", "", texts(reports.Statuses)...))
	wanted.Type = reporttype.Type(q.word("type", "", texts(reporttype.Types())...))
	return listJobs(x, q, p, "/v1/reports", audit.ReportRead, appendReport, func(each func(*reports.Report)) (int64, error) {
		return x.org.Reports(x.ctx(), wanted, each)
	})
}

// listJobs answers a request for a page of reports or exports, unless its query
// is invalid. read calls each for every job of the page and returns the number
// of all jobs.
func listJobs[T any](x *exchange, q *query, p page, path string, action audit.Action, write func([]byte, *T, time.Time) []byte, read func(each func(*T)) (int64, error)) (answer, error) {
	if err := q.err(); err != nil {
		return answer{}, err
	}
	b, shown := append(x.buf, `{"data":[`...), 0
	total, err := read(func(job *T) {
		if shown > 0 {
			b = append(b, ',')
		}
		shown++
		b = write(b, job, x.now)
	})
	if err != nil {
		return answer{}, err
	}
	x.buf = p.appendPagination(b, total)
	line := x.saw(action, "")
	line.Details = countOf(shown)
	return answer{status: http.StatusOK, body: x.buf, link: p.link(path, total, q.besidesPage()), line: line}, nil
}

// texts converts words to strings.
func texts[T ~string](words []T) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

func (a *API) getReport(x *exchange) (answer, error) {
	rep, err := x.report()
	if err != nil {
		return answer{}, err
	}
	x.buf = appendReport(x.buf, &rep, x.now)
	return answer{status: http.StatusOK, body: x.buf, line: x.saw(audit.ReportRead, rep.ID.String())}, nil
}

func (a *API) deleteReport(x *exchange) (answer, error) {
	return deleteItem(x, "report", x.org.DeleteReport, audit.ReportDelete)
}
