package reports

import (
	"strings"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

var mediaTypes = map[ReportFormat]string{
	PDF:  "application/pdf",
	CSV:  "text/csv; charset=utf-8; header=present",
	JSON: "application/json",
	XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

// MediaType is that of files of the format.
func (f ReportFormat) MediaType() string { return mediaTypes[f] }

// Downloadable says why there is no file, if there is none.
func (rep *Report) Downloadable(now time.Time) error {
	switch {
	case rep.HasExpired(now):
		return fault.New(fault.ReportExpired, "The file was removed at the end of its retention period; create the report again.")
	case rep.Status == ReportFailed:
		return fault.New(fault.ReportFailed, "The report could not be generated. "+rep.Error, "status", rep.Status)
	case rep.Status != ReportCompleted:
		e := fault.New(fault.ReportNotReady, "The report is not ready yet.", "status", rep.Status)
		e.RetryAfter = time.Second
		return e
	}
	return nil
}

// FileName names no patient: it ends up in folders, mails and logs of others.
func (rep *Report) FileName() string {
	return strings.ReplaceAll(string(rep.Type), "_", "-") + "-" + rep.AsOf.UTC().Format(time.DateOnly) + "." + string(rep.Format)
}

// Details says in an audit line which report it is about. The title may name
// somebody, and is left out.
func (rep *Report) Details() []byte {
	b := append(make([]byte, 0, 128), `{"report":"`...)
	b = append(rep.ID.Append(b), `","type":"`...)
	b = append(append(b, rep.Type...), `","format":"`...)
	b = append(append(b, rep.Format...), '"')
	if !rep.Patient.IsZero() {
		b = append(rep.Patient.Append(append(b, `,"patient":"`...)), '"')
	}
	return append(b, '}')
}
