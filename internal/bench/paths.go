package bench

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// path is one thing that is measured.
type path struct {
	name, title string
	method      string
	expect      int
	// gate is the part of the floor that must be reached; 0 for none.
	gate float64
	// records is how many records a request moves, and recordGate how many
	// must be moved in a second; 0 for none.
	records    int
	recordGate float64
	// reads is set when the path wants records to be there.
	reads bool
	// bodies are what is posted; patients when nil.
	bodies func() [][]byte
	// target appends the path and query of the n-th request.
	target func(b []byte, s *stock, n int) []byte
}

const pageSize = 50

var paths = slices.Concat([]path{
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
	{name: "post", title: "POST patient", method: http.MethodPost, expect: http.StatusCreated, gate: 0.20,
		target: func(b []byte, _ *stock, _ int) []byte { return append(b, "/v1/patients"...) }},
}, clinicalPaths, analyticsPaths)

// searchTerms are the family names, encoded and in lower case.
var searchTerms = func() (terms []string) {
	for n := range len(familyStems) * len(familyEnds) {
		terms = append(terms, url.QueryEscape(strings.ToLower(familyName(n))))
	}
	return terms
}()

// PathNames lists what can be measured, in the order in which it is.
func PathNames() (names []string) {
	for _, p := range paths {
		names = append(names, p.name)
	}
	return names
}

func findPath(name string) *path {
	for i := range paths {
		if paths[i].name == name {
			return &paths[i]
		}
	}
	return nil
}

// script renders the requests of a path; both servers get the same.
type script struct {
	*path
	stock  *stock
	bodies [][]byte
	keys   bool
}

// render appends the n-th request of a connection. With keys each request
// needs an n of its own.
func (s *script) render(b []byte, n int, token string) []byte {
	b = append(append(b, s.method...), ' ')
	b = s.target(b, s.stock, n)
	b = append(b, " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "...)
	b = append(append(b, token...), "\r\n"...)
	if s.method != http.MethodPost {
		return append(b, "\r\n"...)
	}
	body := s.bodies[n%len(s.bodies)]
	if s.keys {
		b = append(strconv.AppendInt(append(b, "Idempotency-Key: bench-"...), int64(n), 10), "\r\n"...)
	}
	b = append(b, "Content-Type: application/json\r\nContent-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(body)), 10), "\r\n\r\n"...)
	return append(b, body...)
}
