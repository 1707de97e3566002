package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/patients"
)

// A search about some patients reads all their resources of the type. Others
// look at the patients in order of creation: a page ends when it is full or
// enough were looked at, so that its cost does not grow with the organisation.
// Some tests reduce these numbers.
var (
	fhirScanStep = int64(8) // patients at first
	fhirScanned  = 20_000   // resources looked at for a page
	fhirCounted  = 100_000  // resources looked at for a total or an order
	fhirBytes    = 8 << 20  // of resources on a page
	errPageFull  = errors.New("the page is full")
)

// match is a result.
type match struct {
	fhir.Resource
	patient *patients.FHIRPatient
	place   fhirPlace // after it
	decoded map[string]any
}

// page is a page of results.
type fhirPage struct {
	matches []match
	next    string // the cursor; "" if there are no more
	total   int    // -1 if unknown
}

func (a *API) searchFHIR(x *exchange) (answer, error) {
	if x.resourceType() == questionnaire {
		return x.searchQuestionnaires()
	}
	s, err := x.readSearch()
	if err != nil {
		return answer{}, err
	}
	source, err := s.source()
	if err != nil {
		return answer{}, err
	}
	p, err := s.page(source)
	if err != nil {
		return answer{}, err
	}
	return s.answer(p)
}

// page reads a page of results.
func (s *fhirSearch) page(source fhirSource) (p fhirPage, err error) {
	p.total = -1
	if len(s.orders) > 0 {
		return s.sortedPage(source)
	}
	if s.total != "none" || s.onlyHow {
		total, err := s.countAll(source)
		if err != nil {
			return p, err
		}
		if p.total = total; s.onlyHow {
			return p, nil
		}
	}
	looked, size := 0, 0
	err = source.each(s.from, func(c *fhirChart) error {
		found, n, err := s.matches(c)
		if err != nil {
			return err
		}
		for _, m := range found {
			if c.patientPlace == s.from.patient && !after(m.Resource, s.from.resource) {
				continue
			}
			if n := len(p.matches); n == s.count || n > 0 && size+len(m.JSON) > fhirBytes {
				p.next = p.matches[n-1].place.String()
				return errPageFull
			}
			size += len(m.JSON)
			p.matches = append(p.matches, m)
		}
		most := fhirScanned
		if c.kind == placeUnnamed && s.from.kind != placeUnnamed {
			most = fhirUnnamed
		}
		if looked += n; looked >= most && !c.last {
			p.next = fhirPlace{kind: c.kind, patient: c.patientPlace, resource: endOfPatient}.String()
			return errPageFull
		}
		return nil
	})
	if errors.Is(err, errPageFull) {
		err = nil
	}
	return p, err
}

// endOfPatient is a place after all resources of a patient.
const endOfPatient = "~"

// after reports whether a resource comes after a place among those of a
// patient, which are in the order of their ids.
func after(r fhir.Resource, place string) bool { return placeOf(r) > place }

// placeOf returns the place of a resource: its id, and its type where several
// have the same.
func placeOf(r fhir.Resource) string { return r.ID + "/" + r.Type }

// matches returns the results among the resources of a chart, in order, and how
// many were looked at.
func (s *fhirSearch) matches(c *fhirChart) (found []match, looked int, err error) {
	looked = 1
	if len(s.OfPatient) > 0 {
		r, err := s.x.api.mapping.ofPatient(&c.Patient, "Patient")
		if err != nil {
			return nil, 0, err
		}
		decoded, err := decode(r[0])
		if err != nil || !s.MatchesPatient(decoded) {
			return nil, looked, err
		}
	}
	add := func(list []fhir.Resource, err error) error {
		for _, r := range list {
			if err != nil || r.Type != s.Type {
				continue
			}
			looked++
			var decoded map[string]any
			if len(s.Conditions)+len(s.orders) > 0 {
				if decoded, err = decode(r); err != nil || !s.Matches(decoded) {
					continue
				}
			}
			found = append(found, match{r, &c.Patient, fhirPlace{kind: c.kind, patient: c.patientPlace, resource: placeOf(r)}, decoded})
		}
		return err
	}
	if fhirRecords[s.Type] == nil {
		err = add(s.x.api.mapping.ofPatient(&c.Patient, s.Type))
	}
	for i := range c.Records {
		if err == nil {
			err = add(s.x.api.mapping.ofRecord(&c.Records[i]))
		}
	}
	if err == nil {
		err = add(s.x.api.mapping.removed(&c.FHIRChart))
	}
	slices.SortFunc(found, func(a, b match) int { return cmp.Compare(a.place.resource, b.place.resource) })
	return found, looked, err
}

func decode(r fhir.Resource) (decoded map[string]any, err error) {
	err = json.Unmarshal(r.JSON, &decoded)
	return decoded, err
}

// all calls each for all results, if that is not too much.
func (s *fhirSearch) all(source fhirSource, what string, each func(match)) error {
	looked := 0
	return source.each(fhirPlace{}, func(c *fhirChart) error {
		found, n, err := s.matches(c)
		if err != nil {
			return err
		}
		if looked += n; looked > fhirCounted {
			return tooCostly(what)
		}
		for _, m := range found {
			each(m)
		}
		return nil
	})
}

// countAll returns the number of results, or -1 if an estimate was asked for
// and there are too many to count.
func (s *fhirSearch) countAll(source fhirSource) (total int, err error) {
	if s.Type == "Patient" && len(s.Conditions) == 0 {
		n, err := s.x.org.PatientPage(s.x.ctx(), 1, 1, func(patients.PatientItem) {})
		return int(n), err
	}
	err = s.all(source, "The total of this search", func(match) { total++ })
	if _, costly := errors.AsType[*refusal](err); costly && s.total == "estimate" && !s.onlyHow {
		return -1, nil
	}
	return total, err
}

// answer responds with a page.
func (s *fhirSearch) answer(p fhirPage) (answer, error) {
	x := s.x
	b := bundle{kind: "searchset", total: p.total, now: x.now}
	b.link("self", s.address(""))
	if p.next != "" {
		b.link("next", s.address(p.next))
	}
	var seen []id.Patient
	var included []*patients.FHIRPatient
	for _, m := range p.matches {
		body := m.JSON
		if s.elements != nil {
			body = subset(body, s.elements)
		}
		b.entry(x.fhirURL()+"/"+m.Type+"/"+m.ID, body, `"search":{"mode":"match"}`)
		if !slices.Contains(seen, m.patient.ID) {
			seen, included = append(seen, m.patient.ID), append(included, m.patient)
		}
	}
	if s.include {
		for _, patient := range included {
			list, err := x.api.mapping.ofPatient(patient, "Patient")
			if err != nil {
				return answer{}, err
			}
			b.entry(x.fhirURL()+"/Patient/"+list[0].ID, list[0].JSON, `"search":{"mode":"include"}`)
		}
	}
	x.buf = b.append(x.buf)
	return x.asFHIR(answer{status: http.StatusOK, body: x.buf, line: x.searched(s.Type, seen, len(p.matches))}), nil
}

// searched returns the audit entry of a page of results. It names the patients,
// and omits the conditions, which may be a name.
func (x *exchange) searched(resourceType string, seen []id.Patient, count int) *audit.Entry {
	if len(seen) == 1 {
		return x.sawResources(resourceType, seen[0], count)
	}
	action := audit.PatientSearch
	if fhirRecords[resourceType] != nil {
		action = audit.ClinicalList
	}
	line := x.saw(action, "")
	b := append(make([]byte, 0, 64+33*len(seen)), `{"count":`...)
	b = strconv.AppendInt(b, int64(count), 10)
	line.Details = append(appendIDs(append(b, `,"patients":[`...), seen), "]}"...)
	return line
}

// idOf returns the resource id of an identifier.
func idOf[K id.Kind](i id.ID[K]) string {
	_, ulid, _ := strings.Cut(i.String(), "_")
	return ulid
}
