package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

const (
	cohortsPath = "/v1/cohorts"
	// maxCohortName is the maximum length of a cohort's name.
	maxCohortName = 200
)

// readCohort reads a cohort: its name, and a list of patients or filters. The
// error lists everything that is wrong.
func readCohort(body *strictjson.Object, now time.Time) (c patients.Cohort, err error) {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	if name, ok := r.Required("name"); ok {
		if problem := pain.LineProblem(name, maxCohortName); problem != "" {
			r.Fault("name", problem)
		}
		c.Name = name
	}
	list, listed := r.Array("patients")
	filters, filtered := r.Object("filters")
	switch {
	case listed && filtered:
		r.Fault("filters", "cannot be combined with patients: give one of the two.")
	case listed:
		c.Patients = readMembers(&r, list, &fields)
	case filtered:
		c.Filters = readFilters(filters, &fields, now)
	default:
		if fields.OK() {
			r.Fault("patients", "or filters must be given.")
		}
	}
	r.Done()
	return c, fields.Err()
}

// readMembers reads the patients of a list.
func readMembers(r *strictjson.Reader, list strictjson.Array, fields *fault.Fields) (members []id.Patient) {
	switch {
	case list.Len() == 0:
		r.Fault("patients", "must name at least one patient.")
	case list.Len() > patients.MostMembers:
		r.Fault("patients", fmt.Sprintf("must name at most %d patients; use filters, or several cohorts.", patients.MostMembers))
		return nil
	}
	seen := map[id.Patient]bool{}
	for _, v := range list.All() {
		text, _ := v.AsString() // a value of another type is not an identifier either
		patientID, err := id.Parse[id.PatientKind](text)
		switch {
		case err != nil:
			v.Fault(fields, "must be the identifier of a patient, such as pat_01kf0k8y20a14c3emmv2g2jemj.")
		case seen[patientID]:
			v.Fault(fields, "must not be repeated.")
		default:
			seen[patientID] = true
			members = append(members, patientID)
		}
	}
	return members
}

// readFilters reads filters and returns them as stored: what was given, so that
// a period without an end still ends on the day on which the cohort is used.
func readFilters(filters *strictjson.Object, fields *fault.Fields, now time.Time) string {
	inner := strictjson.Read(filters, fields)
	p := analytics.ReadParameters(&inner, analytics.ForExports, "filters", pain.DateOf(now), fields)
	given := map[string]any{}
	for of := range analytics.ParametersFor(analytics.ForExports) {
		if _, is := inner.Value(of.Name); is {
			given[of.Name] = of.Value(&p)
		}
	}
	inner.Done()
	if f := p.Filter(); !f.Any() && fields.OK() {
		fields.Add("filters", nil, "filters must select by gender, age, condition or medicine.")
	}
	text, err := json.Marshal(given)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return string(text)
}

func (a *API) createCohort(x *exchange) (answer, error) {
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	made, err := readCohort(object, x.now)
	if err != nil {
		return answer{}, err
	}
	return x.keepCohort(&made, key, func(b []byte) (body []byte, location string) {
		return appendCohort(b, &made), cohortsPath + "/" + made.ID.String()
	})
}

// keepCohort stores a cohort that was read. show returns the body and the
// location of the response.
func (x *exchange) keepCohort(made *patients.Cohort, key *idempotency.Once, show func(b []byte) (body []byte, location string)) (answer, error) {
	made.ID, made.CreatedAt, made.Members = id.New[id.CohortKind](x.now), x.now.UTC().Truncate(time.Second), int64(len(made.Patients))
	line := x.line(audit.CohortCreate, made.ID.String())
	line.Details = journal.Details("patients", made.Members)
	if made.Filters != "" {
		line.Details = journal.Details("filters", json.RawMessage(made.Filters))
	}
	made.CreatedBy = line.Actor
	body, location := show(x.buf)
	x.buf = body
	out, err := x.org.CreateCohort(x.ctx(), made, journal.Change{Audit: line}, key, idempotency.Outcome{Status: http.StatusCreated, Location: location, Body: body})
	if err != nil {
		return answer{}, err
	}
	return x.outcome(out), nil
}

func (a *API) listCohorts(x *exchange) (answer, error) {
	done, shown, err := listPage(x, cohortsPath, x.org.CohortPage, appendCohort)
	if err != nil {
		return answer{}, err
	}
	done.line = x.saw(audit.CohortRead, "")
	done.line.Details = countOf(shown)
	return done, nil
}

func (a *API) getCohort(x *exchange) (answer, error) {
	found, err := readItem(x, "cohort", x.org.Cohort)
	if err != nil {
		return answer{}, err
	}
	b := appendCohort(x.buf, &found)
	if found.Filters == "" {
		b = append(b[:len(b)-1], `,"patients":[`...)
		for i, p := range found.Patients {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(p.Append(append(b, '"')), '"')
		}
		b = append(b, ']', '}')
	}
	x.buf = b
	return answer{status: http.StatusOK, body: x.buf, line: x.saw(audit.CohortRead, found.ID.String())}, nil
}

func (a *API) deleteCohort(x *exchange) (answer, error) {
	return deleteItem(x, "cohort", x.org.DeleteCohort, audit.CohortDelete)
}

// appendCohort appends the JSON form of a cohort without its list.
func appendCohort(b []byte, c *patients.Cohort) []byte {
	b = c.ID.Append(append(b, `{"id":"`...))
	b = strictjson.AppendString(append(b, `","name":`...), c.Name)
	if c.Filters == "" {
		b = strconv.AppendInt(append(b, `,"patient_count":`...), c.Members, 10)
		b = append(b, `,"filters":null`...)
	} else {
		b = append(b, `,"patient_count":null,"filters":`...)
		b = append(b, c.Filters...)
	}
	b = strictjson.AppendString(append(b, `,"created_by":`...), c.CreatedBy)
	b = c.CreatedAt.AppendFormat(append(b, `,"created_at":"`...), time.RFC3339)
	return append(b, `"}`...)
}
