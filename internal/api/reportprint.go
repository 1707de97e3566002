package api

import (
	"encoding/hex"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/strictjson"
)

// appendReport appends the JSON form of a report. Times and size are null
// until known. A report past its expiry is shown as expired, even if it has
// not been purged yet.
func appendReport(b []byte, rep *reports.Report, now time.Time) []byte {
	status := rep.Status
	if rep.HasExpired(now) {
		status = reports.ReportExpired
	}
	text := func(name, value string) {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = strictjson.AppendString(b, value)
	}
	moment := func(name string, at time.Time) {
		b = append(append(append(b, `,"`...), name...), `":`...)
		if at.IsZero() {
			b = append(b, "null"...)
			return
		}
		b = append(at.UTC().AppendFormat(append(b, '"'), time.RFC3339), '"')
	}
	b = append(rep.ID.Append(append(b, `{"id":"`...)), '"')
	text("type", string(rep.Type))
	text("format", string(rep.Format))
	text("title", rep.Title)
	text("status", string(status))
	b = strconv.AppendInt(append(b, `,"progress":`...), int64(rep.Progress), 10)
	b = append(append(b, `,"parameters":`...), rep.Parameters...)
	moment("created_at", rep.CreatedAt)
	moment("started_at", rep.StartedAt)
	moment("completed_at", rep.CompletedAt)
	moment("expires_at", rep.ExpiresAt)
	b = append(b, `,"size_bytes":`...)
	if rep.Size < 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, rep.Size, 10)
	}
	text("sha256", hex.EncodeToString(rep.SHA256))
	text("error", rep.Error)
	url := ""
	if status == reports.ReportCompleted {
		url = "/v1/reports/" + rep.ID.String() + "/download"
	}
	text("download_url", url)
	return append(b, '}')
}
