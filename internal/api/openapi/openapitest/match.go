package openapitest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// operation finds the operation of a request by its escaped path. HEAD is
// answered like GET.
func (d *document) operation(method, escapedPath string) (operation, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var found *path
	for i := range d.paths {
		p := &d.paths[i]
		if !matches(p.template, escapedPath) {
			continue
		}
		// A path without parameters wins, as it does in the router.
		if found == nil || !strings.Contains(p.template, "{") {
			found = p
		}
	}
	if found == nil {
		return nil, false
	}
	op, ok := found.operations[method]
	return op, ok
}

// matches reports whether an escaped path is of the form of a template, whose
// parameters each stand for one whole segment.
func matches(template, escapedPath string) bool {
	want, got := strings.Split(template, "/"), strings.Split(escapedPath, "/")
	return slices.EqualFunc(want, got, func(want, got string) bool {
		if strings.HasPrefix(want, "{") {
			return got != ""
		}
		plain, err := url.PathUnescape(got)
		return err == nil && plain == want
	})
}
