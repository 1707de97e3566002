package report

import (
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/strictjson"
)

const maxTitle = 200

// ReadRequest parses a report request. The error lists everything that is
// wrong. The type of the result is valid nevertheless, or "" if it is wrong
// too.
func ReadRequest(body *strictjson.Object, now time.Time) (q reports.ReportRequest, err error) {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	q.Type = readWord(&r, "type", reporttype.Types(), "")
	q.Format = readWord(&r, "format", reports.ReportFormats, reports.PDF)
	title, _ := r.String("title")
	q.Title = strings.TrimSpace(title)
	if problem := pain.LineProblem(q.Title, maxTitle); problem != "" {
		r.Fault("title", problem)
	}
	declared, _ := reporttype.Of(q.Type)
	if q.Title == "" {
		q.Title = declared.Title
	}
	object, given := r.Object("parameters")
	if !given {
		object = noParameters()
	}
	if q.Type != "" {
		readParameters(strictjson.Read(object, &fields), &fields, &q, &declared, now)
	}
	r.Done()
	return q, fields.Err()
}

// noParameters returns an empty object.
func noParameters() *strictjson.Object {
	body, err := strictjson.Parse([]byte(`{"parameters":{}}`))
	if err != nil {
		panic(err) // valid JSON
	}
	r := strictjson.Read(body, &fault.Fields{})
	object, _ := r.Object("parameters")
	return object
}

// readWord reads one of a list of words.
func readWord[T ~string](r *strictjson.Reader, name string, words []T, otherwise T) T {
	read := r.String
	if otherwise == "" {
		read = r.Required
	}
	text, given := read(name)
	if !given {
		return otherwise
	}
	if !slices.Contains(words, T(text)) {
		known := make([]string, len(words))
		for i, w := range words {
			known[i] = string(w)
		}
		r.Fault(name, pain.WordProblem(text, known))
		return otherwise
	}
	return T(text)
}

// earliest is the first day with possible data.
var earliest = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

func readParameters(r strictjson.Reader, fields *fault.Fields, q *reports.ReportRequest, declared *reporttype.Declaration, now time.Time) {
	q.AsOf = now.UTC().Truncate(time.Second)
	if text, given := r.String("as_of"); given {
		at, ok := pain.ReadMoment(&r, "as_of", text, now)
		switch {
		case !ok:
		case at.Before(earliest):
			r.Fault("as_of", "must not be before 1900-01-01 (YYYY-MM-DD).")
		default:
			q.AsOf = at.UTC().Truncate(time.Second)
		}
	}
	if declared.AboutPatient {
		if text, ok := r.Required("patient_id"); ok {
			var err error
			if q.Patient, err = id.Parse[id.PatientKind](text); err != nil {
				r.Fault("patient_id", "must be a patient's identifier.")
			}
		}
	}
	p := analytics.ReadParameters(&r, declared.Takes, "parameters", pain.DateOf(q.AsOf), fields)
	r.Done()
	q.Parameters = kept(q, declared, &p)
}

// kept returns the JSON form of the effective parameters that the type accepts,
// as they are stored and shown. They are resolved when a report is requested,
// so that the same parameters request the same report again.
func kept(q *reports.ReportRequest, declared *reporttype.Declaration, p *analytics.Params) string {
	b := append(make([]byte, 0, 256), `{"as_of":"`...)
	b = append(q.AsOf.AppendFormat(b, time.RFC3339), '"')
	if declared.AboutPatient {
		b = append(q.Patient.Append(append(b, `,"patient_id":"`...)), '"')
	}
	return string(append(analytics.AppendParameters(b, p, declared.Takes), '}'))
}

// paramsOf parses the result of kept.
func paramsOf(q *reports.ReportRequest) (analytics.Params, error) {
	declared, _ := reporttype.Of(q.Type)
	return analytics.StoredParameters([]byte(q.Parameters), declared.Takes, pain.DateOf(q.AsOf))
}
