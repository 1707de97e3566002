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
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/strictjson"
)

// titles are the default titles of reports.
var titles = map[reports.ReportType]string{
	reports.PatientSummaryReport: "Patient summary",
	reports.OutcomesReport:       "Pain outcomes",
	reports.PopulationReport:     "Population health",
	reports.StewardshipReport:    "Opioid stewardship",
}

const maxTitle = 200

// takes lists the parameters of each type besides as_of, which are those of
// the analytics. Stewardship does not take min_cell_size, because a
// clinician's own list of patients does not hide small counts.
var takes = map[reports.ReportType][]string{
	reports.PatientSummaryReport: {"start_date", "end_date"},
	reports.OutcomesReport:       analytics.OutcomesNames,
	reports.PopulationReport:     analytics.PopulationNames,
	reports.StewardshipReport:    {"start_date", "end_date", "gender", "age_min", "age_max", "condition"},
}

// numeric are the parameters that are numbers in JSON.
var numeric = []string{"follow_up", "age_min", "age_max", "min_cell_size"}

// parameters are the parameters in force, as stored and shown. They are fixed
// when a report is requested: the same parameters request the same report
// again.
type parameters struct {
	AsOf            string  `json:"as_of"`
	PatientID       string  `json:"patient_id,omitempty"`
	StartDate       string  `json:"start_date"`
	EndDate         string  `json:"end_date"`
	Interval        string  `json:"interval,omitempty"`
	FollowUp        int     `json:"follow_up,omitempty"`
	Gender          *string `json:"gender,omitempty"`
	AgeMin          *int    `json:"age_min,omitempty"`
	AgeMax          *int    `json:"age_max,omitempty"`
	Condition       *string `json:"condition,omitempty"`
	MedicationClass *string `json:"medication_class,omitempty"`
	MinCellSize     *int    `json:"min_cell_size,omitempty"`
	Standard        *string `json:"standard,omitempty"`
	Adjust          *string `json:"adjust,omitempty"`
	CompareStart    *string `json:"compare_start_date,omitempty"`
	CompareEnd      *string `json:"compare_end_date,omitempty"`
}

// ReadRequest parses a report request. The error lists everything that is
// wrong. The type of the result is valid nevertheless, or "" if it is wrong
// too.
func ReadRequest(body *strictjson.Object, now time.Time) (q reports.ReportRequest, err error) {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	q.Type = readWord(&r, "type", reports.ReportTypes, "")
	q.Format = readWord(&r, "format", reports.ReportFormats, reports.PDF)
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

func readParameters(r strictjson.Reader, fields *fault.Fields, q *reports.ReportRequest, now time.Time) {
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
	if q.Type == reports.PatientSummaryReport {
		if text, ok := r.Required("patient_id"); ok {
			var err error
			if q.Patient, err = id.Parse[id.PatientKind](text); err != nil {
				r.Fault("patient_id", "must be a patient's identifier.")
			}
		}
	}
	var asked analytics.Request
	for _, name := range takes[q.Type] {
		if !slices.Contains(numeric, name) {
			text, _ := r.String(name)
			asked.Set(name, text)
		} else if n, given := r.Number(name); given {
			asked.Set(name, strconv.FormatFloat(n, 'f', -1, 64))
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
func kept(q *reports.ReportRequest, p *analytics.Params) string {
	k := parameters{
		AsOf: q.AsOf.Format(time.RFC3339), StartDate: p.StartDate, EndDate: p.EndDate,
		Gender: p.Gender, AgeMin: p.AgeMin, AgeMax: p.AgeMax, Condition: p.Condition, MedicationClass: p.MedicationClass,
		Standard: p.StandardAsked, Adjust: p.Adjust, CompareStart: p.CompareStartDate, CompareEnd: p.CompareEndDate,
	}
	switch q.Type {
	case reports.PatientSummaryReport:
		k.PatientID = q.Patient.String()
	case reports.OutcomesReport:
		k.Interval, k.FollowUp, k.MinCellSize = string(p.Interval), p.FollowUp, &p.MinCellSize
	case reports.PopulationReport:
		k.MinCellSize = &p.MinCellSize
	}
	text, err := json.Marshal(k)
	if err != nil {
		panic(err) // words and numbers can always be marshalled
	}
	return string(text)
}

// paramsOf parses the result of kept.
func paramsOf(q *reports.ReportRequest) (analytics.Params, error) {
	var k parameters
	if err := json.Unmarshal([]byte(q.Parameters), &k); err != nil {
		return analytics.Params{}, err
	}
	asked := analytics.Request{StartDate: k.StartDate, EndDate: k.EndDate, Interval: k.Interval}
	for name, text := range map[string]*string{"gender": k.Gender, "condition": k.Condition, "medication_class": k.MedicationClass,
		"standard": k.Standard, "adjust": k.Adjust, "compare_start_date": k.CompareStart, "compare_end_date": k.CompareEnd} {
		if text != nil {
			asked.Set(name, *text)
		}
	}
	for name, n := range map[string]*int{"age_min": k.AgeMin, "age_max": k.AgeMax, "min_cell_size": k.MinCellSize} {
		if n != nil {
			asked.Set(name, strconv.Itoa(*n))
		}
	}
	if k.FollowUp != 0 {
		asked.Set("follow_up", strconv.Itoa(k.FollowUp))
	}
	var fields fault.Fields
	p := asked.Params(pain.DateOf(q.AsOf), &fields)
	return p, fields.Err()
}
