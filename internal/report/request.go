package report

import (
	"encoding/json"
	"slices"
	"strconv"
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
		at, ok := pain.ParseMoment(text)
		switch {
		case !ok:
			r.Fault("as_of", "must be a time such as 2026-01-15T10:30:00Z, or a real date in the form YYYY-MM-DD.")
		case at.After(now):
			r.Fault("as_of", "must not be in the future (a time, or YYYY-MM-DD in UTC).")
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
	var asked analytics.Request
	for of := range analytics.ParametersFor(declared.Takes) {
		if !of.Number {
			text, _ := r.String(of.Name)
			asked.Set(of.Name, text)
		} else if n, given := r.Number(of.Name); given {
			asked.Set(of.Name, strconv.FormatFloat(n, 'f', -1, 64))
		}
	}
	var found fault.Fields
	p := asked.Params(pain.DateOf(q.AsOf), &found)
	for _, f := range found.All() {
		var echo any
		if v, given := r.Value(f.Parameter); given {
			echo = v.Echo()
		}
		fields.Add("parameters."+f.Parameter, echo, strings.Replace(f.Message, f.Parameter+" ", "parameters."+f.Parameter+" ", 1))
	}
	r.Done()
	q.Parameters = kept(q, declared, &p)
}

// kept returns the JSON form of the effective parameters that the type accepts,
// as they are stored and shown. They are resolved when a report is requested,
// so that the same parameters request the same report again.
func kept(q *reports.ReportRequest, declared *reporttype.Declaration, p *analytics.Params) string {
	b := append(make([]byte, 0, 256), '{')
	add := func(name string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // strings and numbers always marshal
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, `":`...)
		b = append(b, text...)
	}
	add("as_of", q.AsOf.Format(time.RFC3339))
	if declared.AboutPatient {
		add("patient_id", q.Patient.String())
	}
	for of := range analytics.ParametersFor(declared.Takes) {
		if value := of.Value(p); value != nil {
			add(of.Name, value)
		}
	}
	return string(append(b, '}'))
}

// paramsOf parses the result of kept.
func paramsOf(q *reports.ReportRequest) (analytics.Params, error) {
	var kept map[string]json.RawMessage
	if err := json.Unmarshal([]byte(q.Parameters), &kept); err != nil {
		return analytics.Params{}, err
	}
	declared, _ := reporttype.Of(q.Type)
	var asked analytics.Request
	for of := range analytics.ParametersFor(declared.Takes) {
		value, given := kept[of.Name]
		if !given {
			continue
		}
		text := string(value)
		if !of.Number {
			if err := json.Unmarshal(value, &text); err != nil {
				return analytics.Params{}, err
			}
		}
		asked.Set(of.Name, text)
	}
	var fields fault.Fields
	p := asked.Params(pain.DateOf(q.AsOf), &fields)
	return p, fields.Err()
}
