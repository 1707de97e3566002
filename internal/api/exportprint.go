package api

import (
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/store/reports"
)

// appendExport appends the JSON form of an export. Files are listed once it is
// complete.
func appendExport(b []byte, e *reports.Export, now time.Time) []byte {
	status := shownStatus(&e.Job, now)
	b = append(e.ID.Append(append(b, `{"id":"`...)), '"')
	b = appendTextField(b, "format", string(e.Format))
	shown, _, _ := strings.Cut(e.Parameters[1:len(e.Parameters)-1], `,"fhir":{`)
	b = append(append(b, ','), shown...) // include, since, deidentify and filters
	b = appendProgress(b, &e.Job, status)
	b = appendMomentField(b, "as_of", e.AsOf)
	b = appendTimes(b, &e.Job)
	b = appendTextField(b, "error", e.Error)
	b = append(b, `,"files":[`...)
	for i := range e.Files {
		if status == reports.Completed {
			b = appendExportFile(b, e, &e.Files[i])
		}
	}
	return append(b, ']', '}')
}

func appendExportFile(b []byte, e *reports.Export, f *reports.ExportFile) []byte {
	if b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	b = append(append(append(b, `{"name":"`...), f.Name...), '"') // a word and an extension
	b = appendTextField(b, "table", f.Table)
	b = strconv.AppendInt(append(b, `,"rows":`...), f.Rows, 10)
	b = strconv.AppendInt(append(b, `,"size_bytes":`...), f.Size, 10)
	b = appendTextField(b, "sha256", f.SHA256)
	return append(appendTextField(b, "download_url", "/v1/exports/"+e.ID.String()+"/files/"+f.Name), '}')
}
