package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/export"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/reports"
)

// bulkPath is where the status and the files of bulk exports are. It is beside
// the resources, so that it cannot be one of them.
const bulkPath = "/fhir/bulk"

// exportSystem, exportPatients and exportGroup start a FHIR bulk export, of the
// three levels of Bulk Data.
func (a *API) exportSystem(x *exchange) (answer, error) {
	return x.startBulk(bulkLevel{types: export.BulkTypes()}, func(*export.Bulk) error { return nil })
}

func (a *API) exportPatients(x *exchange) (answer, error) {
	return x.startBulk(bulkLevel{types: export.PatientTypes(), patients: true}, func(*export.Bulk) error { return nil })
}

func (a *API) exportGroup(x *exchange) (answer, error) {
	return x.startBulk(bulkLevel{types: export.PatientTypes(), patients: true}, x.selectGroup)
}

// selectGroup restricts an export to the group in the path. Filters are applied
// as of today; a list is read with the data.
func (x *exchange) selectGroup(b *export.Bulk) error {
	if err := x.mayFHIR("Group", access.FHIRRead); err != nil {
		return err
	}
	groupID, err := x.groupID()
	if err != nil {
		return err
	}
	group, err := x.org.Cohort(x.ctx(), groupID)
	if err != nil {
		return err
	}
	if group.Filters == "" {
		b.Cohort = groupID
		return nil
	}
	p, err := analytics.StoredParameters([]byte(group.Filters), analytics.ForExports, pain.DateOf(x.now))
	if err != nil {
		return err
	}
	b.Filters = &p
	return x.mayFilter(&p)
}

// groupID reads the identifier of a Group in the path.
func (x *exchange) groupID() (id.Cohort, error) {
	text := x.r.PathValue("id")
	groupID, err := id.Parse[id.CohortKind]("coh_" + strings.ToLower(text))
	if err != nil {
		return groupID, fault.Missing("Group", clip(text))
	}
	return groupID, nil
}

// startBulk queues a bulk export of a level. restrict completes the options.
func (x *exchange) startBulk(level bulkLevel, restrict func(*export.Bulk) error) (answer, error) {
	if x.r.Method == http.MethodHead { // it would start an export
		return answer{}, methodNotAllowed("GET, POST")
	}
	if err := x.acceptsFHIR(); err != nil {
		return answer{}, err
	}
	options, key, err := x.readBulk(level)
	if err != nil {
		return answer{}, err
	}
	if err := restrict(&options); err != nil {
		return answer{}, err
	}
	wanted, err := options.ExportRequest()
	if err != nil {
		return answer{}, err
	}
	e, change := x.newExport(wanted)
	out, err := x.org.CreateExport(x.ctx(), &e, change, key, idempotency.Outcome{Status: http.StatusAccepted, Location: bulkPath + "/" + e.ID.String()})
	if err != nil {
		return answer{}, err
	}
	done, status := x.outcome(out), x.api.base(x.r)+out.Location
	if out.Replayed {
		done.line = x.saw(audit.ExportRead, strings.TrimPrefix(out.Location, bulkPath+"/"))
	}
	x.h["Content-Location"] = []string{status}
	done.location, done.body = "", operationOutcome([]fhir.Issue{{
		Severity: "information", Code: "informational", Text: "The export was queued. Its status is at " + status + "."}})
	return x.asFHIR(done), nil
}

// bulk returns the bulk export in the path, if the token may read the types in
// it.
func (x *exchange) bulk() (e reports.Export, b export.Bulk, err error) {
	if e, err = x.export(); err != nil {
		return e, b, err
	}
	if e.Format != reports.FHIR {
		return e, b, fault.Missing("export", e.ID.String())
	}
	b, err = x.mayReadBulk(&e)
	return e, b, err
}

// retryBulk is how many seconds a client should wait before it asks again for
// the status: briefly at first, because most exports are small.
func retryBulk(e *reports.Export, now time.Time) int {
	return max(1, min(30, int(now.Sub(e.CreatedAt)/(4*time.Second))))
}

func (a *API) bulkStatus(x *exchange) (answer, error) {
	e, b, err := x.bulk()
	if err != nil {
		return answer{}, err
	}
	line := x.saw(audit.ExportRead, e.ID.String())
	if e.Waiting() {
		progress := "queued"
		if e.Status == reports.Processing {
			progress = strconv.Itoa(e.Progress) + "% complete"
		}
		x.h["X-Progress"] = []string{progress}
		x.h["Retry-After"] = []string{strconv.Itoa(retryBulk(&e, x.now))}
		return answer{status: http.StatusAccepted, line: line}, nil
	}
	if e.Status == reports.Failed {
		return answer{}, refuse(http.StatusInternalServerError, "exception", "", "The export failed: "+e.Error)
	}
	if err := e.Downloadable(x.now); err != nil {
		return answer{}, err
	}
	body, err := json.Marshal(manifestOf(&e, &b, x.api.base(x.r)+bulkPath+"/"+e.ID.String()+"/"))
	if err != nil {
		return answer{}, err
	}
	x.h["Expires"] = []string{e.ExpiresAt.UTC().Format(http.TimeFormat)}
	return answer{status: http.StatusOK, body: body, line: line}, nil
}

// bulkManifest is the manifest of a bulk export.
type bulkManifest struct {
	TransactionTime     string       `json:"transactionTime"`
	Request             string       `json:"request"`
	RequiresAccessToken bool         `json:"requiresAccessToken"`
	Output              []bulkOutput `json:"output"`
	Deleted             []bulkOutput `json:"deleted"`
	Error               []bulkOutput `json:"error"`
}

type bulkOutput struct {
	Type  string `json:"type"`
	URL   string `json:"url"`
	Count int64  `json:"count"`
}

// manifestOf returns the manifest; files are below an address.
func manifestOf(e *reports.Export, b *export.Bulk, below string) bulkManifest {
	m := bulkManifest{TransactionTime: e.AsOf.UTC().Format("2006-01-02T15:04:05.000Z"), Request: b.Request, RequiresAccessToken: true,
		Output: []bulkOutput{}, Deleted: []bulkOutput{}, Error: []bulkOutput{}}
	for _, f := range e.Files {
		out := bulkOutput{f.Table, below + f.Name, f.Rows}
		switch {
		case slices.Contains(b.Types, f.Table):
			m.Output = append(m.Output, out)
		case f.Table == export.Deleted:
			out.Type = "Bundle"
			m.Deleted = append(m.Deleted, out)
		default:
			out.Type = "OperationOutcome"
			m.Error = append(m.Error, out)
		}
	}
	return m
}

// cancelBulk deletes a bulk export with its files, whether or not it is
// complete. It is for the client that started it, and those that may delete any
// export.
func (a *API) cancelBulk(x *exchange) (answer, error) {
	e, _, err := x.bulk()
	if err != nil {
		return answer{}, err
	}
	if e.Client != x.principal.ClientID && !x.principal.Scopes.Has(access.ExportsWrite) {
		return answer{}, forbidden(access.ExportsWrite, x.principal.Scopes)
	}
	if err := x.org.DeleteExport(x.ctx(), e.ID, journal.Change{Audit: x.line(audit.ExportDelete, e.ID.String())}); err != nil {
		return answer{}, err
	}
	return x.asFHIR(answer{status: http.StatusAccepted, body: operationOutcome([]fhir.Issue{{Severity: "information", Code: "informational", Text: "The export was cancelled, and its files were deleted."}})}), nil
}

// downloadBulk sends a file of a bulk export.
func (a *API) downloadBulk(x *exchange) (answer, error) {
	e, _, err := x.bulk()
	if err != nil {
		return answer{}, err
	}
	return x.sendExportFile(&e, "application/fhir+ndjson")
}
