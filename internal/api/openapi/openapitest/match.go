package openapitest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// operation finds the operation of a request by its escaped path. HEAD is
// treated as GET.
func (d *document) operation(method, escapedPath string) (operation, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	got := segmentsOf(escapedPath)
	var found *path
	for i := range d.paths {
		p := &d.paths[i]
		if !matches(p.segments, got) {
			continue
		}
		// A path with fewer parameters takes precedence, as in the router.
		if found == nil || strings.Count(p.template, "{") < strings.Count(found.template, "{") {
			found = p
		}
	}
	if found == nil {
		return nil, false
	}
	op, ok := found.operations[method]
	return op, ok
}

// segment is a part of a path between slashes, unescaped if its escapes are
// valid.
type segment struct {
	plain  string
	broken bool
}

func segmentsOf(escapedPath string) (list []segment) {
	for part := range strings.SplitSeq(escapedPath, "/") {
		plain, err := url.PathUnescape(part)
		list = append(list, segment{plain, err != nil})
	}
	return list
}

// matches reports whether a path matches a template. Each parameter matches
// one whole segment.
func matches(template []string, path []segment) bool {
	return slices.EqualFunc(template, path, func(want string, got segment) bool {
		if strings.HasPrefix(want, "{") {
			return got.plain != "" || got.broken
		}
		return !got.broken && got.plain == want
	})
}
