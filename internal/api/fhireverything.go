package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhir/search"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

// everythingParameters are those of Patient/$everything.
var everythingParameters = []string{"_count", "_type", "_since", "start", "end", cursorParameter}

// everything is what of a patient's resources was asked for.
type everything struct {
	count       int
	types       []string
	since       time.Time
	from, until time.Time // of clinical records
	after       fhirPlace
}

// everythingFHIR responds with all resources of a patient that the token may
// read: the Patient, the Conditions, and those of records.
func (a *API) everythingFHIR(x *exchange) (answer, error) {
	e, values, err := x.readEverything()
	if err != nil {
		return answer{}, err
	}
	patientID, ok := parsePatientID(x.r.PathValue("id"))
	if !ok {
		return answer{}, noSuchResource("Patient", x.r.PathValue("id"))
	}
	var types []pain.DataType
	for _, t := range e.types {
		for _, dataType := range fhirRecords[t] {
			if !slices.Contains(types, dataType) {
				types = append(types, dataType)
			}
		}
	}
	chart, err := x.org.FHIRChart(x.ctx(), patientID, patients.FHIRQuery{Types: types, InError: !e.since.IsZero()})
	if fault.Is(err, fault.NotFound) {
		err = noSuchResource("Patient", x.r.PathValue("id"))
	}
	if err != nil {
		return answer{}, err
	}
	list, err := x.everythingOf(&e, &chart)
	if err != nil {
		return answer{}, err
	}
	b := bundle{kind: "searchset", total: len(list), now: x.now}
	self := x.fhirURL() + "/Patient/" + idOf(patientID) + "/$everything"
	from := slices.IndexFunc(list, func(r fhir.Resource) bool { return everythingPlace(r) > e.after.resource })
	if from < 0 {
		from = len(list)
	}
	to, size := from, 0
	for to < min(from+e.count, len(list)) && (to == from || size+len(list[to].JSON) <= fhirBytes) {
		size += len(list[to].JSON)
		to++
	}
	delete(values, cursorParameter)
	b.link("self", withQuery(self, values))
	if to < len(list) {
		values.Set(cursorParameter, fhirPlace{kind: placeListed, patient: idOf(patientID), resource: everythingPlace(list[to-1])}.String())
		b.link("next", withQuery(self, values))
	}
	for _, r := range list[from:to] {
		b.entry(x.fhirURL()+"/"+r.Type+"/"+r.ID, r.JSON, `"search":{"mode":"match"}`)
	}
	x.buf = b.append(x.buf)
	line := x.saw(audit.ClinicalRead, patientID.String())
	line.Details = countOf(to - from)
	return x.asFHIR(answer{status: http.StatusOK, body: x.buf, line: line}), nil
}

func withQuery(address string, values url.Values) string {
	if len(values) == 0 {
		return address
	}
	return address + "?" + values.Encode()
}

// readEverything parses the parameters. Types that the token may not read are
// left out, unless they are asked for.
func (x *exchange) readEverything() (e everything, values url.Values, err error) {
	if values, err = x.fhirQuery(everythingParameters...); err != nil {
		return e, values, err
	}
	e.count = maxFHIRCount
	var fields fault.Fields
	number := func(name string) {
		if text := values.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				fields.Add(name, nil, name+" must be a number, from 1.")
			}
			e.count = min(n, maxFHIRCount)
		}
	}
	moment := func(name string, end bool) time.Time {
		text := values.Get(name)
		if text == "" {
			return time.Time{}
		}
		low, up, ok := search.Span(text)
		if !ok {
			fields.Add(name, nil, name+" must be a date or time, such as 2026-01-15.")
		}
		if end {
			return up
		}
		return low
	}
	number("_count")
	e.since, e.from, e.until = moment("_since", false), moment("start", false), moment("end", true)
	if text := values.Get(cursorParameter); text != "" {
		var ok bool
		if e.after, ok = parsePlace(text); !ok || e.after.kind != placeListed {
			fields.Add(cursorParameter, nil, cursorParameter+" must be that of a next link.")
		}
	}
	asked := values.Get("_type")
	for _, t := range search.Types() {
		if x.principal.MayFHIR(t, access.FHIRRead) && (asked == "" || slices.Contains(strings.Split(asked, ","), t)) {
			e.types = append(e.types, t)
		}
	}
	if asked != "" {
		for t := range strings.SplitSeq(asked, ",") {
			if !slices.Contains(e.types, t) {
				fields.Add("_type", nil, "_type must list types of resources that this service has and the token may read.")
			}
		}
	}
	return e, values, fields.Err()
}

// everythingOf returns the resources of a chart, in order.
func (x *exchange) everythingOf(e *everything, c *patients.FHIRChart) (list []fhir.Resource, err error) {
	if !c.Patient.UpdatedAt.Before(e.since) {
		for _, t := range []string{"Patient", "Condition"} {
			if slices.Contains(e.types, t) {
				more, err := x.api.mapping.ofPatient(&c.Patient, t)
				if err != nil {
					return nil, err
				}
				list = append(list, more...)
			}
		}
	}
	wanted := func(updated, recorded time.Time) bool {
		return !updated.Before(e.since) && !recorded.Before(e.from) && (e.until.IsZero() || recorded.Before(e.until))
	}
	for i := range c.Records {
		rec := &c.Records[i]
		if !wanted(rec.UpdatedAt, rec.RecordedAt) {
			continue
		}
		more, err := x.api.mapping.ofRecord(rec)
		if err != nil {
			return nil, err
		}
		for _, r := range more {
			if slices.Contains(e.types, r.Type) {
				list = append(list, r)
			}
		}
	}
	removed, err := c.Removed(x.api.mapping.Mapping)
	if err != nil {
		return nil, err
	}
	for _, v := range removed {
		if wanted(v.UpdatedAt, v.RecordedAt) && slices.Contains(e.types, v.Type) {
			list = append(list, v.Resource)
		}
	}
	slices.SortFunc(list, func(a, b fhir.Resource) int { return strings.Compare(everythingPlace(a), everythingPlace(b)) })
	return list, nil
}

// everythingPlace orders the resources of a patient: the Patient, the
// Conditions, then those of records.
func everythingPlace(r fhir.Resource) string {
	switch r.Type {
	case "Patient":
		return "0/" + placeOf(r)
	case "Condition":
		return "1/" + placeOf(r)
	}
	return "2/" + placeOf(r)
}
