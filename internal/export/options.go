package export

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/strictjson"
)

// Options are what an export contains.
type Options struct {
	Format reports.ExportFormat
	// Include lists the parts, without duplicates.
	Include []string
	// Since leaves out records stored before this time, and patients without a
	// newer record who were created before it; an export that includes no
	// clinical data leaves out all who were created before it. Zero leaves nothing out. It is a
	// whole second, as the time of the data that an earlier export states; what
	// was stored earlier but is not in that export is not left out.
	Since      time.Time
	Deidentify bool
	// Filters selects patients. nil selects all.
	Filters *analytics.Params

	asOf time.Time // of the data
}

// Default returns the options of an export of everything.
func Default() Options {
	return Options{Format: reports.Parquet, Include: []string{patientsPart, clinicalPart, summariesPart}}
}

// Read reads the body of a request for an export. The error lists everything
// that is wrong. The included parts of the result are valid nevertheless.
func Read(body *strictjson.Object, now time.Time) (Options, error) {
	var fields fault.Fields
	o := Default()
	r := strictjson.Read(body, &fields)
	if text, ok := r.Required("format"); ok {
		if o.Format = reports.ExportFormat(text); !slices.Contains(reports.ExportFormats, o.Format) {
			r.Fault("format", pain.WordProblem(text, formatNames()))
		}
	}
	readInclude(&r, &fields, &o)
	if text, given := r.String("since"); given {
		at, _ := pain.ReadMoment(&r, "since", text, now)
		o.Since = at.UTC().Truncate(time.Second)
	}
	o.Deidentify, _ = r.Bool("deidentify")
	if object, given := r.Object("filters"); given {
		inner := strictjson.Read(object, &fields)
		p := analytics.ReadParameters(&inner, analytics.ForExports, "filters", pain.DateOf(now), &fields)
		if byMin, byMax := p.TellsApart(oldest, pain.DateOf(now).DayNumber()); o.Deidentify {
			const problem = "tells ages over 89 apart, which de-identified data must not: "
			if byMin {
				inner.Fault("age_min", problem+"use at most the age that a person who is 90 today has at the end of the period.")
			}
			if byMax {
				inner.Fault("age_max", problem+"leave it out, or use an age below that of a person who is 90 today.")
			}
		}
		inner.Done()
		o.Filters = &p
	}
	r.Done()
	return o, fields.Err()
}

func formatNames() (names []string) {
	for _, f := range reports.ExportFormats {
		names = append(names, string(f))
	}
	return names
}

// readInclude reads the list of parts. Without one, everything is included.
func readInclude(r *strictjson.Reader, fields *fault.Fields, o *Options) {
	list, given := r.Array("include")
	if !given {
		return
	}
	if o.Include = nil; list.Len() == 0 {
		r.Fault("include", "must name at least one of "+strings.Join(partNames(), ", ")+".")
	}
	for _, v := range list.All() {
		name, _ := v.AsString() // a value of another type is not a name either
		switch {
		case !slices.Contains(partNames(), name):
			v.Fault(fields, pain.WordProblem(name, partNames()))
		case slices.Contains(o.Include, name):
			v.Fault(fields, "must not be repeated.")
		default:
			o.Include = append(o.Include, name)
		}
	}
}

// stored is the form in which options are stored and shown.
type stored struct {
	Include    []string        `json:"include"`
	Since      *time.Time      `json:"since"`
	Deidentify bool            `json:"deidentify"`
	Filters    json.RawMessage `json:"filters"`
}

// Request returns the options as they are stored.
func (o *Options) Request() (reports.ExportRequest, error) {
	s := stored{Include: o.Include, Deidentify: o.Deidentify, Filters: json.RawMessage("{}")}
	if !o.Since.IsZero() {
		s.Since = &o.Since
	}
	if o.Filters != nil {
		s.Filters = append(analytics.AppendParameters([]byte{'{'}, o.Filters, analytics.ForExports), '}')
	}
	text, err := json.Marshal(s)
	return reports.ExportRequest{Format: o.Format, Parameters: string(text)}, err
}

// Stored returns the options of a stored request. at is when it was made.
func Stored(q *reports.ExportRequest, at time.Time) (Options, error) {
	var s stored
	if err := json.Unmarshal([]byte(q.Parameters), &s); err != nil {
		return Options{}, err
	}
	o := Options{Format: q.Format, Include: s.Include, Deidentify: s.Deidentify}
	if s.Since != nil {
		o.Since = *s.Since
	}
	if string(s.Filters) != "{}" {
		p, err := analytics.StoredParameters(s.Filters, analytics.ForExports, pain.DateOf(at))
		if err != nil {
			return Options{}, err
		}
		o.Filters = &p
	}
	return o, nil
}

// Scopes returns the scopes of the included data, and of what the filters look
// at: whom an export contains tells whose values match them.
func (o *Options) Scopes() (needed access.Scopes) {
	for _, p := range Parts() {
		if slices.Contains(o.Include, p.Name) {
			needed |= p.Scopes
		}
	}
	if f := o.filter(); f != nil {
		needed |= access.PatientsRead
		if f.NeedsSeries() {
			needed |= access.ClinicalDataRead
		}
	}
	return needed
}

// filter returns the filter of the patients, or nil if it excludes no patient.
func (o *Options) filter() *analytics.Filter {
	if o.Filters == nil {
		return nil
	}
	f := o.Filters.Filter()
	if !f.Any() {
		return nil
	}
	return &f
}
