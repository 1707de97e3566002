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

// MediaType returns the media type of the format.
func (f ReportFormat) MediaType() string { return mediaTypes[f] }

// Downloadable returns an error that explains why there is no file, if there is
// none.
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

// FileName returns a name for the file. It does not identify the patient,
// because it ends up in other people's folders, e-mails and logs.
func (rep *Report) FileName() string {
	return strings.ReplaceAll(string(rep.Type), "_", "-") + "-" + rep.AsOf.UTC().Format(time.DateOnly) + "." + string(rep.Format)
}

// Details returns the details of an audit line about the report. It omits the
// title, which may name a person.
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
