package api

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"anodyne/internal/audit"
	"anodyne/internal/fault"
	"anodyne/internal/store"
)

// mediaTypes are those of the files.
var mediaTypes = map[store.ReportFormat]string{
	store.PDF:  "application/pdf",
	store.CSV:  "text/csv; charset=utf-8; header=present",
	store.JSON: "application/json",
	store.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

// downloadReport sends the file, or the part of it that is asked for, as it is
// read, chunk by chunk.
func (a *API) downloadReport(x *exchange) (answer, error) {
	rep, err := x.report()
	if err != nil {
		return answer{}, err
	}
	if err := x.mayRead(rep.Type); err != nil {
		return answer{}, err
	}
	if err := downloadable(&rep, x.now); err != nil {
		return answer{}, err
	}
	tag := `"` + hex.EncodeToString(rep.SHA256) + `"`
	if err := guard(x.r.Header, tag); err != nil {
		return answer{}, err
	}
	if notModified(x.r.Header, tag) {
		return answer{status: http.StatusNotModified, etag: tag}, nil
	}
	part, err := x.rangeOf(rep.Size, tag)
	if err != nil {
		x.h["Content-Range"] = []string{"bytes */" + strconv.FormatInt(rep.Size, 10)}
		return answer{}, err
	}
	status := http.StatusOK
	if part.partial {
		status = http.StatusPartialContent
		x.h["Content-Range"] = []string{fmt.Sprintf("bytes %d-%d/%d", part.from, part.to-1, rep.Size)}
	}
	x.h["Accept-Ranges"] = []string{"bytes"}
	x.h["Content-Disposition"] = []string{`attachment; filename="` + fileName(&rep) + `"`}
	line := x.line(audit.ReportDownload, rep.ID.String())
	if !rep.Patient.IsZero() { // who looks for the patient finds it
		line.Resource = rep.Patient.String()
	}
	line.Details = reportDetails(&rep)
	return answer{status: status, etag: tag, contentType: mediaTypes[rep.Format], line: &line, file: &file{
		size: part.to - part.from,
		each: func(send func([]byte) error) error { return x.org.ReportBytes(x.ctx(), &rep, part.from, part.to, send) },
	}}, nil
}

// downloadable says why there is no file, if there is none.
func downloadable(rep *store.Report, now time.Time) error {
	switch {
	case rep.HasExpired(now):
		return fault.New(fault.ReportExpired, "The file has been removed at the end of its retention; ask for the report again.")
	case rep.Status == store.ReportFailed:
		return fault.New(fault.ReportFailed, "The report could not be made. "+rep.Error, "status", rep.Status)
	case rep.Status != store.ReportCompleted:
		e := fault.New(fault.ReportNotReady, "The report is not ready yet.", "status", rep.Status)
		e.RetryAfter = time.Second
		return e
	}
	return nil
}

// fileName names no patient: it ends up in folders, mails and logs of others.
func fileName(rep *store.Report) string {
	return strings.ReplaceAll(string(rep.Type), "_", "-") + "-" + rep.AsOf.UTC().Format(time.DateOnly) + "." + string(rep.Format)
}
