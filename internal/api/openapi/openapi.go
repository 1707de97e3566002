// Package openapi embeds the OpenAPI document of the service, which is the
// published form of its contract. The document is written by hand in
// openapi.yaml, except for the schemas of clinical records, which a test
// generates from the rules in internal/pain. internal/api serves it, and
// openapitest validates responses against it.
package openapi

//go:generate go test -run TestValueSchemasAreThoseOfTheRules -update

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// YAML is the document as it was written.
//
//go:embed openapi.yaml
var YAML []byte

// JSON returns the same document as JSON, with its fields in the same order.
// It is converted on first use, so that commands that do not need it start
// quickly.
var JSON = sync.OnceValue(func() []byte { return mustJSON(YAML) })

// Route is an operation of the document.
type Route struct {
	Method string // as in a request: "GET"
	Path   string // with parameters in braces: "/v1/patients/{id}"
}

// Routes lists the operations of the document, sorted by path and method.
func Routes() []Route {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(JSON(), &document); err != nil {
		panic(err) // the tests read the same bytes
	}
	var routes []Route
	for path, item := range document.Paths {
		for member := range item {
			if IsMethod(member) {
				routes = append(routes, Route{strings.ToUpper(member), path})
			}
		}
	}
	slices.SortFunc(routes, func(a, b Route) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Method, b.Method)
	})
	return routes
}

// IsMethod reports whether a field of a path item is an operation, and not,
// for example, the list of parameters shared by its operations.
func IsMethod(member string) bool {
	switch member {
	case "get", "put", "post", "delete", "options", "head", "patch", "trace":
		return true
	}
	return false
}
