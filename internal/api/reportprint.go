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
	status := shownStatus(&rep.Job, now)
	b = append(rep.ID.Append(append(b, `{"id":"`...)), '"')
	b = appendTextField(b, "type", string(rep.Type))
	b = appendTextField(b, "format", string(rep.Format))
	b = appendTextField(b, "title", rep.Title)
	b = appendProgress(b, &rep.Job, status)
	b = append(append(b, `,"parameters":`...), rep.Parameters...)
	b = appendTimes(b, &rep.Job)
	b = appendTextField(b, "sha256", hex.EncodeToString(rep.SHA256))
	b = appendTextField(b, "error", rep.Error)
	url := ""
	if status == reports.Completed {
		url = "/v1/reports/" + rep.ID.String() + "/download"
	}
	return append(appendTextField(b, "download_url", url), '}')
}

// shownStatus returns the status to show.
func shownStatus(j *reports.Job, now time.Time) reports.Status {
	if j.HasExpired(now) {
		return reports.Expired
	}
	return j.Status
}

// appendProgress appends the status and the progress of a job.
func appendProgress(b []byte, j *reports.Job, status reports.Status) []byte {
	b = appendTextField(b, "status", string(status))
	return strconv.AppendInt(append(b, `,"progress":`...), int64(j.Progress), 10)
}

// appendTimes appends the times and the size of a job.
func appendTimes(b []byte, j *reports.Job) []byte {
	b = appendMomentField(b, "created_at", j.CreatedAt)
	b = appendMomentField(b, "started_at", j.StartedAt)
	b = appendMomentField(b, "completed_at", j.CompletedAt)
	b = appendMomentField(b, "expires_at", j.ExpiresAt)
	b = append(b, `,"size_bytes":`...)
	if j.Size < 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, j.Size, 10)
}

func appendTextField(b []byte, name, value string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strictjson.AppendString(b, value)
}

// appendMomentField appends a time, or null if it is zero.
func appendMomentField(b []byte, name string, at time.Time) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	if at.IsZero() {
		return append(b, "null"...)
	}
	return append(at.UTC().AppendFormat(append(b, '"'), time.RFC3339), '"')
}
