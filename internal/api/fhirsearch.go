package api

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir/search"
)

const (
	defaultFHIRCount = 50
	maxFHIRCount     = 1000
	// maxFHIRQuery is the size of a search in the body of a request.
	maxFHIRQuery = 64 << 10
)

// resultParameters are those that say what a page of results has, in the order
// of the CapabilityStatement.
var resultParameters = []string{"_count", "_sort", "_include", "_total", "_summary", "_elements"}

// cursorParameter is the place in the results at which a page begins. It is in
// next links only.
const cursorParameter = "_cursor"

// fhirSearch is a search of one resource type.
type fhirSearch struct {
	x *exchange
	search.Query
	count    int
	orders   []search.Order
	include  bool // the patients
	total    string
	onlyHow  bool // only how many
	elements []string
	from     fhirPlace
	after    *sortPlace // in results in another order, instead of from
	used     []string   // parameters as in the link to the same search
}

// fhirPlace is a place in the results: after a resource of a patient. In
// results in another order it is a [sortPlace].
type fhirPlace struct {
	kind     byte // 0 at the start, otherwise one of the following
	patient  string
	resource string
}

const (
	placeScanned = 's' // the patient is a number
	placeListed  = 'l' // the patient is an identifier
	placeNamed   = 'n' // the patient is a number, among those with a name
	placeUnnamed = 'u' // the patient is a number, among the others
)

// maxPatientNo is far above the number of any patient, and far enough below the
// largest integer to count on from it.
const maxPatientNo = 1 << 53

func (p fhirPlace) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(string(p.kind) + " " + p.patient + " " + p.resource))
}

func parsePlace(text string) (p fhirPlace, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	parts := strings.Split(string(b), " ")
	if err != nil || len(parts[0]) != 1 {
		return p, false
	}
	p.kind = parts[0][0]
	switch {
	case strings.IndexByte(string([]byte{placeScanned, placeNamed, placeUnnamed}), p.kind) >= 0 && len(parts) == 3:
		no, err := strconv.ParseInt(parts[1], 10, 64)
		p.patient, p.resource = parts[1], parts[2]
		return p, err == nil && no >= 0 && no <= maxPatientNo
	case p.kind == placeListed && len(parts) == 3:
		_, ok = parsePatientID(parts[1])
		p.patient, p.resource = parts[1], parts[2]
		return p, ok
	}
	return p, false
}

// readSearch parses the parameters of a search.
func (x *exchange) readSearch() (*fhirSearch, error) {
	queries := []string{x.r.URL.RawQuery}
	if x.r.Method == http.MethodPost {
		body, err := x.readBody(maxFHIRQuery, "application/x-www-form-urlencoded")
		if err != nil {
			return nil, err
		}
		queries = append(queries, string(body))
	}
	s := &fhirSearch{x: x, Query: search.Query{Type: x.resourceType()}, count: defaultFHIRCount, total: "none"}
	var fields fault.Fields
	cursor, strict, seen := "", x.preference().strict, map[string]bool{}
	for _, query := range queries {
		for pair := range strings.SplitSeq(query, "&") {
			if pair == "" {
				continue
			}
			rawName, rawValue, _ := strings.Cut(pair, "=")
			name, err := url.QueryUnescape(rawName)
			value, valueErr := url.QueryUnescape(rawValue)
			if err != nil || valueErr != nil || !utf8.ValidString(name+value) || strings.ContainsRune(name+value, 0) {
				fields.Add("query", nil, "The query string is malformed; percent-encode special characters.")
				continue
			}
			problem := s.add(name, value, seen)
			seen[name] = true
			switch {
			case problem == nil && name == cursorParameter:
				cursor = value
			case problem == nil:
				s.used = append(s.used, url.QueryEscape(name)+"="+url.QueryEscape(value))
			case problem.Unknown && !strict: // left out, as the link to this search shows
			default:
				fields.Add(clip(problem.Parameter), nil, clip(problem.Parameter)+" "+problem.Text)
			}
		}
	}
	if cursor != "" && !s.continueAt(cursor) {
		fields.Add(cursorParameter, nil, cursorParameter+" must be that of a next link of the same search.")
	}
	if s.include && !x.principal.MayFHIR("Patient", access.FHIRRead) {
		return nil, fault.New(fault.Forbidden, "The token lacks the scope system/Patient.r, which _include needs.",
			"required_scope", "system/Patient.r", "granted_scopes", x.principal.Scopes.Names())
	}
	if len(s.OfPatient) > 0 { // who matches tells what is stored about the patient
		if err := x.mayFHIR("Patient", access.FHIRSearch); err != nil {
			return nil, err
		}
	}
	return s, fields.Err()
}

// add adds a parameter.
func (s *fhirSearch) add(name, value string, seen map[string]bool) *search.Error {
	wrong := func(text string) *search.Error { return &search.Error{Parameter: name, Text: text} }
	isResult := slices.Contains(resultParameters, name) || name == cursorParameter
	if isResult && name != "_include" && seen[name] {
		return wrong("is given more than once.")
	}
	switch name {
	case "_count":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return wrong("must be a number, from 0.")
		}
		s.count = min(n, maxFHIRCount)
		s.onlyHow = s.onlyHow || n == 0
	case "_sort":
		orders, problem := search.ParseOrder(s.Type, value)
		if problem != nil {
			return problem
		}
		s.orders = orders
	case "_include":
		if value != s.Type+":patient" && value != s.Type+":subject" && value != s.Type+":subject:Patient" && value != s.Type+":patient:Patient" || s.Type == "Patient" {
			return wrong("can include the patient only: " + s.Type + ":patient or " + s.Type + ":subject.")
		}
		s.include = true
	case "_total":
		if !slices.Contains([]string{"accurate", "estimate", "none"}, value) {
			return wrong("must be accurate, estimate or none.")
		}
		s.total = value
	case "_summary":
		if value != "count" && value != "false" {
			return wrong("must be count or false; use _elements to get some elements only.")
		}
		s.onlyHow = s.onlyHow || value == "count"
	case "_elements":
		s.elements = elementsOf(value)
	case cursorParameter, "_format", "_pretty":
	default:
		return s.Add(name, value, s.x.fhirURL())
	}
	return nil
}

// inError reports whether results may have been entered in error: only for
// searches that name a status or a resource, or follow changes.
func (s *fhirSearch) inError() bool { return s.Has("status", "_id", "_lastUpdated") }

// continueAt sets the place of a cursor, and reports whether it is one of this
// search.
func (s *fhirSearch) continueAt(cursor string) (ok bool) {
	if len(s.orders) > 0 {
		s.after, ok = s.openPlace(cursor)
	} else {
		s.from, ok = parsePlace(cursor)
	}
	return ok
}

// address returns the link to this search, at a cursor.
func (s *fhirSearch) address(cursor string) string {
	used := s.used
	if cursor != "" {
		used = append(slices.Clone(used), cursorParameter+"="+cursor)
	}
	address := s.x.fhirURL() + "/" + s.Type
	if len(used) > 0 {
		address += "?" + strings.Join(used, "&")
	}
	return address
}

// tooCostly is the error of a search that looks at too many resources.
func tooCostly(what string) error {
	return refuse(http.StatusForbidden, "too-costly", "", what+" needs too many resources; add a condition such as patient, identifier or _id.")
}
