// Package openapi holds the OpenAPI document of the service, which is the
// published form of its contract. The document is written by hand in
// openapi.yaml; serving it is the business of internal/api, and holding
// answers against it that of openapitest.
package openapi

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

// JSON is the same document as JSON, with its members in the same order. It
// is made when somebody asks first: a command must not wait for it.
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

// IsMethod reports whether a member of a path item is an operation; the
// others are things like parameters that all its operations share.
func IsMethod(member string) bool {
	switch member {
	case "get", "put", "post", "delete", "options", "head", "patch", "trace":
		return true
	}
	return false
}
