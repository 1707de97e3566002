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
	case rep.Status == Failed:
		return fault.New(fault.ReportFailed, "The report could not be generated. "+rep.Error, "status", rep.Status)
	case rep.Status != Completed:
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

// Downloadable returns an error that explains why there are no files, if there
// are none.
func (x *Export) Downloadable(now time.Time) error {
	switch {
	case x.HasExpired(now):
		return fault.New(fault.ExportExpired, "The files were removed at the end of their retention period; create the export again.")
	case x.Status == Failed:
		return fault.New(fault.ExportFailed, "The export could not be written. "+x.Error, "status", x.Status)
	case x.Status != Completed:
		e := fault.New(fault.ExportNotReady, "The export is not ready yet.", "status", x.Status)
		e.RetryAfter = time.Second
		return e
	}
	return nil
}

// File returns the file with a name, or nil if there is none.
func (x *Export) File(name string) *ExportFile {
	for i := range x.Files {
		if x.Files[i].Name == name {
			return &x.Files[i]
		}
	}
	return nil
}

// Details returns the details of an audit line about the export: what it
// contains.
func (x *Export) Details() []byte {
	b := append(make([]byte, 0, 128), `{"format":"`...)
	b = append(append(b, x.Format...), '"', ',')
	return append(b, x.Parameters[1:]...)
}

// exportMedia are the media types of files by extension.
var exportMedia = map[string]string{
	string(Parquet): "application/vnd.apache.parquet", string(NDJSON): "application/x-ndjson", string(ExportCSV): mediaTypes[CSV],
}

// MediaType returns the media type of the file.
func (f *ExportFile) MediaType() string {
	return exportMedia[f.Name[strings.LastIndexByte(f.Name, '.')+1:]]
}
