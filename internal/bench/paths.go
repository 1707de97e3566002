package bench

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// path is one workload.
type path struct {
	name, title string
	method      string
	expect      int
	// gate is the minimum ratio to the baseline, and rateGate the minimum
	// number of requests per second; 0 means none.
	gate, rateGate float64
	// records is the number of records per request, and recordGate the minimum
	// number of records per second; 0 means none.
	records    int
	recordGate float64
	// reads is set if the path needs existing records.
	reads bool
	// bodies returns the bodies to post; nil means patients. A form is sent
	// with the client's credentials instead of a token.
	bodies func() [][]byte
	form   bool
	// target appends the path and query of the n-th request.
	target func(b []byte, s *stock, n int) []byte
	// mix are paths that take turns; the fields above are then theirs.
	mix []*path
	// apart is set for paths that are measured differently.
	apart bool
}

const pageSize = 50

var patientPaths = []path{
	{name: "get", title: "GET patient", method: http.MethodGet, expect: http.StatusOK, gate: 0.45,
		target: func(b []byte, s *stock, n int) []byte {
			return s.patients[scatter(n)%len(s.patients)].Append(append(b, "/v1/patients/"...))
		}},
	{name: "list", title: "list of 50, page 1", method: http.MethodGet, expect: http.StatusOK, gate: 0.12,
		target: func(b []byte, _ *stock, _ int) []byte { return append(b, "/v1/patients?limit=50"...) }},
	{name: "list-deep", title: "list of 50, last page", method: http.MethodGet, expect: http.StatusOK,
		target: func(b []byte, s *stock, _ int) []byte {
			b = append(b, "/v1/patients?limit=50&page="...)
			return strconv.AppendInt(b, int64(max(1, s.filled/pageSize)), 10)
		}},
	{name: "search", title: "search by family name", method: http.MethodGet, expect: http.StatusOK,
		target: func(b []byte, _ *stock, n int) []byte {
			return append(append(b, "/v1/patients?search="...), searchTerms[n%len(searchTerms)]...)
		}},
	{name: "search-words", title: "search by family and given name", method: http.MethodGet, expect: http.StatusOK,
		target: func(b []byte, _ *stock, n int) []byte {
			b = append(append(b, "/v1/patients?search="...), searchTerms[n%len(searchTerms)]...)
			return append(append(b, '+'), url.QueryEscape(givenNames[n/len(searchTerms)%len(givenNames)])...)
		}},
	{name: "list-name", title: "list of 50 by name, page in the middle", method: http.MethodGet, expect: http.StatusOK,
		target: func(b []byte, s *stock, _ int) []byte {
			b = append(b, "/v1/patients?limit=50&sort=name&page="...)
			return strconv.AppendInt(b, int64(max(1, s.filled/pageSize/2)), 10)
		}},
	{name: "post", title: "POST patient", method: http.MethodPost, expect: http.StatusCreated, gate: 0.20,
		target: func(b []byte, _ *stock, _ int) []byte { return append(b, "/v1/patients"...) }},
}

var paths = slices.Concat(patientPaths, clinicalPaths, []path{mixedPath}, analyticsPaths, []path{tokenPath, {name: webhookPath, apart: true}, {name: startPath, apart: true}})

// searchTerms are the family names, encoded and in lower case.
var searchTerms = func() (terms []string) {
	for n := range len(familyStems) * len(familyEnds) {
		terms = append(terms, url.QueryEscape(strings.ToLower(familyName(n))))
	}
	return terms
}()

// PathNames lists the paths in measuring order: writes come after reads, so
// that reads see the requested number of patients.
func PathNames() (names []string) {
	var writing []string
	for _, p := range paths {
		if p.method == http.MethodGet {
			names = append(names, p.name)
		} else {
			writing = append(writing, p.name)
		}
	}
	return append(names, writing...)
}

func findPath(name string) *path { return findIn(paths, name) }

func findIn(list []path, name string) *path {
	for i := range list {
		if list[i].name == name {
			return &list[i]
		}
	}
	return nil
}
