package reports

import (
	"encoding/json"
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

// noFile is what is said about a job that has no file.
type noFile struct {
	expired, failed, notReady             fault.Code
	expiredText, failedText, notReadyText string
}

var (
	noReport = noFile{
		fault.ReportExpired, fault.ReportFailed, fault.ReportNotReady,
		"The file was removed at the end of its retention period; create the report again.", "The report could not be generated. ", "The report is not ready yet.",
	}
	noExport = noFile{
		fault.ExportExpired, fault.ExportFailed, fault.ExportNotReady,
		"The files were removed at the end of their retention period; create the export again.", "The export could not be written. ", "The export is not ready yet.",
	}
)

func (j *Job) downloadable(now time.Time, none *noFile) error {
	switch {
	case j.HasExpired(now):
		return fault.New(none.expired, none.expiredText)
	case j.Status == Failed:
		return fault.New(none.failed, none.failedText+j.Error, "status", j.Status)
	case j.Status != Completed:
		e := fault.New(none.notReady, none.notReadyText, "status", j.Status)
		e.RetryAfter = time.Second
		return e
	}
	return nil
}

// Downloadable returns an error that explains why there is no file, if there is
// none.
func (rep *Report) Downloadable(now time.Time) error { return rep.downloadable(now, &noReport) }

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
func (x *Export) Downloadable(now time.Time) error { return x.downloadable(now, &noExport) }

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
// contains. Of the searches and patients of a FHIR export it has the numbers
// only, because searches may name a person, and the log is kept longer.
func (x *Export) Details() []byte {
	if x.Format == FHIR {
		return x.bulkDetails()
	}
	b := append(make([]byte, 0, 128), `{"format":"`...)
	b = append(append(b, x.Format...), '"', ',')
	return append(b, x.Parameters[1:]...)
}

func (x *Export) bulkDetails() []byte {
	var stored struct {
		Include json.RawMessage `json:"include"`
		Since   json.RawMessage `json:"since"`
		Filters json.RawMessage `json:"filters"`
		FHIR    struct {
			Group       string            `json:"group"`
			Patients    []json.RawMessage `json:"patients"`
			TypeFilters []json.RawMessage `json:"type_filters"`
		} `json:"fhir"`
	}
	details := struct {
		Format      string          `json:"format"`
		Include     json.RawMessage `json:"include,omitempty"`
		Since       json.RawMessage `json:"since,omitempty"`
		Filters     json.RawMessage `json:"filters,omitempty"`
		Group       string          `json:"group,omitempty"`
		Patients    int             `json:"patients,omitempty"`
		TypeFilters int             `json:"type_filters,omitempty"`
	}{Format: string(x.Format)}
	if json.Unmarshal([]byte(x.Parameters), &stored) == nil {
		details.Include, details.Since, details.Filters, details.Group = stored.Include, stored.Since, stored.Filters, stored.FHIR.Group
		details.Patients, details.TypeFilters = len(stored.FHIR.Patients), len(stored.FHIR.TypeFilters)
	}
	b, err := json.Marshal(details)
	if err != nil {
		panic(err) // texts, numbers and JSON that was parsed always marshal
	}
	return b
}

// exportMedia are the media types of files by extension.
var exportMedia = map[string]string{
	string(Parquet): "application/vnd.apache.parquet", string(NDJSON): "application/x-ndjson", string(ExportCSV): mediaTypes[CSV],
}

// MediaType returns the media type of the file.
func (f *ExportFile) MediaType() string {
	return exportMedia[f.Name[strings.LastIndexByte(f.Name, '.')+1:]]
}
