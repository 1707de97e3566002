package api

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"

	"anodyne.example/anodyne/internal/audit"
)

// downloadReport sends the file, or the requested range of it, in chunks.
func (a *API) downloadReport(x *exchange) (answer, error) {
	rep, err := x.report()
	if err != nil {
		return answer{}, err
	}
	if err := x.mayRead(rep.Type); err != nil {
		return answer{}, err
	}
	if err := rep.Downloadable(x.now); err != nil {
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
	x.h["Content-Disposition"] = []string{`attachment; filename="` + rep.FileName() + `"`}
	line := x.saw(audit.ReportDownload, rep.ID.String())
	if !rep.Patient.IsZero() { // so that the entry is found by patient
		line.Resource = rep.Patient.String()
	}
	line.Details = rep.Details()
	return answer{status: status, etag: tag, contentType: rep.Format.MediaType(), line: line, file: &file{
		size: part.to - part.from,
		each: func(send func([]byte) error) error {
			return x.org.ReportBytes(x.r.Context(), &rep, part.from, part.to, send)
		},
	}}, nil
}
