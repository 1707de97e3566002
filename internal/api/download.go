package api

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"

	"anodyne.example/anodyne/internal/audit"
)

// downloadReport sends the file of a report.
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
	line := x.saw(audit.ReportDownload, rep.ID.String())
	if !rep.Patient.IsZero() { // so that the entry is found by patient
		line.Resource = rep.Patient.String()
	}
	line.Details = rep.Details()
	return x.download(download{
		size: rep.Size, sum: hex.EncodeToString(rep.SHA256), name: rep.FileName(), media: rep.Format.MediaType(), line: line,
		bytes: func(from, to int64, send func([]byte) error) error {
			return x.org.ReportBytes(x.r.Context(), &rep, from, to, send)
		},
	})
}

// download is a file to be sent.
type download struct {
	size             int64
	sum, name, media string
	line             *audit.Entry
	// bytes calls send with the bytes between two offsets.
	bytes func(from, to int64, send func([]byte) error) error
}

// download sends a file, or the requested range of it, in chunks.
func (x *exchange) download(d download) (answer, error) {
	tag := `"` + d.sum + `"`
	if err := guard(x.r.Header, tag); err != nil {
		return answer{}, err
	}
	if notModified(x.r.Header, tag) {
		return answer{status: http.StatusNotModified, etag: tag}, nil
	}
	part, err := x.rangeOf(d.size, tag)
	if err != nil {
		x.h["Content-Range"] = []string{"bytes */" + strconv.FormatInt(d.size, 10)}
		return answer{}, err
	}
	status := http.StatusOK
	if part.partial {
		status = http.StatusPartialContent
		x.h["Content-Range"] = []string{fmt.Sprintf("bytes %d-%d/%d", part.from, part.to-1, d.size)}
	}
	x.h["Accept-Ranges"] = []string{"bytes"}
	x.h["Content-Disposition"] = []string{`attachment; filename="` + d.name + `"`}
	return answer{status: status, etag: tag, contentType: d.media, line: d.line, file: &file{
		size: part.to - part.from,
		each: func(send func([]byte) error) error { return d.bytes(part.from, part.to, send) },
	}}, nil
}
