package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/export"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
)

// bulkLevel is a level of bulk exports.
type bulkLevel struct {
	types    []string // that it can include
	patients bool     // whether patients can be named
}

// mostBulkPatients is how many patients a request can name.
const mostBulkPatients = 1000

// bulkFormats are the names of the one format.
var bulkFormats = []string{"application/fhir+ndjson", "application/ndjson", "ndjson"}

// bulkParameters are the parameters of a request, from the query or from a
// Parameters resource.
type bulkParameters struct {
	x       *exchange
	level   bulkLevel
	values  map[string][]string
	lenient bool
}

// readBulk reads the options of a bulk export, and the key of a POST.
func (x *exchange) readBulk(level bulkLevel) (b export.Bulk, key *idempotency.Once, err error) {
	prefer := strings.Join(x.r.Header["Prefer"], ",")
	if !prefers(prefer, "respond-async") {
		return b, nil, refuse(http.StatusBadRequest, "required", "", "An export runs in the background: send the header Prefer: respond-async.")
	}
	p := bulkParameters{x: x, level: level, lenient: prefers(prefer, "handling=lenient")}
	if p.values, key, err = x.bulkValues(); err != nil {
		return b, nil, err
	}
	b.Request = x.api.base(x.r) + x.r.URL.RequestURI()
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if err := p.read(name, &b); err != nil {
			return b, nil, err
		}
	}
	if b.Types == nil {
		for _, t := range level.types {
			if x.principal.MayFHIR(t, bulkVerbs) {
				b.Types = append(b.Types, t)
			}
		}
	}
	if len(b.Types) == 0 {
		return b, nil, x.mayFHIR("Patient", bulkVerbs)
	}
	return b, key, nil
}

// prefers reports whether a Prefer header has a preference.
func prefers(header, preference string) bool {
	for one := range strings.FieldsFuncSeq(header, func(r rune) bool { return r == ',' || r == ';' }) {
		if strings.EqualFold(strings.ReplaceAll(strings.TrimSpace(one), " ", ""), preference) {
			return true
		}
	}
	return false
}

// read reads one parameter.
func (p *bulkParameters) read(name string, b *export.Bulk) (err error) {
	all := p.values[name]
	switch name {
	case "_outputFormat":
		format, _, _ := strings.Cut(strings.ReplaceAll(all[0], " ", "+"), ";") // a plus sign in a query
		if !slices.Contains(bulkFormats, strings.TrimSpace(format)) {
			return refuse(http.StatusBadRequest, "not-supported", "http._outputFormat", "The format must be application/fhir+ndjson.")
		}
	case "_since":
		b.Since, err = p.since(all[0])
	case "_type":
		err = p.types(all, b)
	case "_typeFilter":
		err = p.typeFilters(all, b)
	case "patient":
		err = p.patients(all, b)
	case "_format", "_pretty":
	default:
		return p.unsupported(name, "This parameter is not supported.")
	}
	return err
}

// unsupported returns the error of a parameter that cannot be used, unless the
// client lets it be ignored.
func (p *bulkParameters) unsupported(name, text string) error {
	if p.lenient {
		return nil
	}
	return refuse(http.StatusBadRequest, "not-supported", parameterPath(clip(name)), text+" With the header Prefer: handling=lenient it is ignored.")
}

func (p *bulkParameters) since(text string) (time.Time, error) {
	at, ok := pain.ParseMoment(strings.ReplaceAll(text, " ", "+")) // a plus sign in a query
	if !ok || at.After(p.x.now) {
		return at, refuse(http.StatusBadRequest, "value", "http._since", "Must be a time such as 2026-01-15T10:30:00Z that is not in the future.")
	}
	return at.UTC().Truncate(time.Second), nil
}

func (p *bulkParameters) types(lists []string, b *export.Bulk) error {
	b.Types = []string{}
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		if name = strings.TrimSpace(name); !slices.Contains(p.level.types, name) {
			if err := p.unsupported("_type", "The types are "+strings.Join(p.level.types, ", ")+"."); err != nil {
				return err
			}
			continue
		}
		if err := p.x.mayFHIR(name, bulkVerbs); err != nil {
			return err
		}
		wanted[name] = true
	}
	for _, name := range p.level.types {
		if wanted[name] {
			b.Types = append(b.Types, name)
		}
	}
	if len(b.Types) == 0 {
		return refuse(http.StatusBadRequest, "value", "http._type", "Must name at least one type: "+strings.Join(p.level.types, ", ")+".")
	}
	return nil
}

func (p *bulkParameters) typeFilters(list []string, b *export.Bulk) error {
	for _, one := range list {
		if problem := export.TypeFilterProblem(one); problem != "" {
			if err := p.unsupported("_typeFilter", problem); err != nil {
				return err
			}
			continue
		}
		b.TypeFilters = append(b.TypeFilters, one)
	}
	return nil
}

func (p *bulkParameters) patients(list []string, b *export.Bulk) error {
	if !p.level.patients || p.x.r.Method != http.MethodPost {
		return p.unsupported("patient", "Patients can be named in a POST to Patient/$export or Group/[id]/$export.")
	}
	if len(list) > mostBulkPatients {
		return refuse(http.StatusBadRequest, "too-long", "http.patient", fmt.Sprintf("At most %d patients can be named; save a Group instead.", mostBulkPatients))
	}
	if err := p.x.mayFHIR("Patient", access.FHIRRead); err != nil {
		return err
	}
	b.Patients = make([]id.Patient, 0, len(list))
	for _, text := range list {
		patientID, err := id.Parse[id.PatientKind]("pat_" + strings.ToLower(text[strings.LastIndexByte(text, '/')+1:]))
		if err != nil {
			return unknownBulkPatient()
		}
		b.Patients = append(b.Patients, patientID)
	}
	slices.SortFunc(b.Patients, func(a, b id.Patient) int { return strings.Compare(a.String(), b.String()) })
	b.Patients = slices.Compact(b.Patients)
	found, err := p.x.org.Directory(p.x.ctx(), b.Patients, nil)
	if err != nil {
		return err
	}
	if len(found.Births) != len(b.Patients) {
		return unknownBulkPatient()
	}
	return nil
}

func unknownBulkPatient() error {
	return refuse(http.StatusUnprocessableEntity, "not-found", "http.patient", "Every reference must be to a patient of the organisation, such as Patient/01kf0k8y20a14c3emmv2g2jemj.")
}

// bulkValues returns the parameters of a request, from the query or, in a POST,
// from a Parameters resource, and the key of a POST. The query is part of what
// must not differ when a POST is repeated.
func (x *exchange) bulkValues() (values map[string][]string, key *idempotency.Once, err error) {
	values, err = url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, nil, fault.Parameter("query", "", "The query string is malformed; percent-encode special characters.")
	}
	if x.r.Method != http.MethodPost {
		return values, nil, nil
	}
	body, err := x.readBody(bodyLimit, "application/fhir+json", "application/json")
	if err != nil {
		return nil, nil, err
	}
	key, err = x.once(append([]byte(x.r.URL.RawQuery+"\n"), body...))
	if err != nil || len(body) == 0 {
		return values, key, err
	}
	var resource struct {
		ResourceType string                       `json:"resourceType"`
		Parameter    []map[string]json.RawMessage `json:"parameter"`
	}
	if err := json.Unmarshal(body, &resource); err != nil || resource.ResourceType != "Parameters" {
		return nil, nil, refuse(http.StatusBadRequest, "structure", "", "The body must be a Parameters resource.")
	}
	for i, parameter := range resource.Parameter {
		name, text, ok := parameterValue(parameter)
		if !ok {
			return nil, nil, refuse(http.StatusBadRequest, "structure", fmt.Sprintf("Parameters.parameter[%d]", i), "Must have a name and a value that is a text or a reference.")
		}
		values[name] = append(values[name], text)
	}
	return values, key, nil
}

// parameterValue returns the name and the value of a parameter.
func parameterValue(parameter map[string]json.RawMessage) (name, text string, ok bool) {
	if json.Unmarshal(parameter["name"], &name) != nil || name == "" {
		return "", "", false
	}
	for member, value := range parameter {
		if !strings.HasPrefix(member, "value") {
			continue
		}
		var reference struct {
			Reference string `json:"reference"`
		}
		if json.Unmarshal(value, &text) == nil {
			return name, text, true
		}
		if json.Unmarshal(value, &reference) == nil && reference.Reference != "" {
			return name, reference.Reference, true
		}
	}
	return "", "", false
}
