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
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/strictjson"
)

// titles are the default titles of reports.
var titles = map[store.ReportType]string{
	store.PatientSummaryReport: "Patient summary",
	store.OutcomesReport:       "Pain outcomes",
	store.PopulationReport:     "Population health",
	store.StewardshipReport:    "Opioid stewardship",
}

const maxTitle = 200

// takes are the parameters of each type, beside as_of; they are those of the
// analytics. Small cells are not hidden in a clinician's own list of patients,
// so stewardship does not take min_cell_size.
var takes = map[store.ReportType]analytics.Use{
	store.PatientSummaryReport: analytics.ForSummaries,
	store.OutcomesReport:       analytics.ForOutcomes,
	store.PopulationReport:     analytics.ForPopulation,
	store.StewardshipReport:    analytics.ForLists,
}

// ReadRequest parses a report request. The error lists everything that is
// wrong. The type of the result is valid nevertheless, or "" if it is wrong
// too.
func ReadRequest(body *strictjson.Object, now time.Time) (q store.ReportRequest, err error) {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	q.Type = readWord(&r, "type", store.ReportTypes, "")
	q.Format = readWord(&r, "format", store.ReportFormats, store.PDF)
	title, _ := r.String("title")
	q.Title = strings.TrimSpace(title)
	if problem := pain.LineProblem(q.Title, maxTitle); problem != "" {
		r.Fault("title", problem)
	}
	if q.Title == "" {
		q.Title = titles[q.Type]
	}
	object, given := r.Object("parameters")
	if !given {
		object = noParameters()
	}
	if q.Type != "" {
		readParameters(strictjson.Read(object, &fields), &fields, &q, now)
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

// readWord reads one of some words.
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

func readParameters(r strictjson.Reader, fields *fault.Fields, q *store.ReportRequest, now time.Time) {
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
	if q.Type == store.PatientSummaryReport {
		if text, ok := r.Required("patient_id"); ok {
			var err error
			if q.Patient, err = id.Parse[id.PatientKind](text); err != nil {
				r.Fault("patient_id", "must be a patient's identifier.")
			}
		}
	}
	var asked analytics.Request
	for of := range analytics.ParametersFor(takes[q.Type]) {
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
	q.Parameters = kept(q, &p)
}

// kept returns the JSON form of the parameters in force that the type takes.
func kept(q *store.ReportRequest, p *analytics.Params) string {
	b := append(make([]byte, 0, 256), '{')
	add := func(name string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // a word or a number
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
	if q.Type == store.PatientSummaryReport {
		add("patient_id", q.Patient.String())
	}
	for of := range analytics.ParametersFor(takes[q.Type]) {
		if value := of.Value(p); value != nil {
			add(of.Name, value)
		}
	}
	return string(append(b, '}'))
}

// paramsOf parses the result of kept.
func paramsOf(q *store.ReportRequest) (analytics.Params, error) {
	var kept map[string]json.RawMessage
	if err := json.Unmarshal([]byte(q.Parameters), &kept); err != nil {
		return analytics.Params{}, err
	}
	var asked analytics.Request
	for of := range analytics.ParametersFor(takes[q.Type]) {
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
