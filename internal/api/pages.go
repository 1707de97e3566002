package api

import "strings"

// pages is how the portal and the documentation stand in the metrics: one
// line, whatever the page.
var pages = &route{method: "GET", pattern: "/portal and /docs"}

// isPage reports whether a path is for people, and answered by Config.Pages.
func isPage(path string) bool {
	for _, root := range []string{"/portal", "/docs"} {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}

// showPage lets the portal answer. It has the headers of every answer, and is
// not counted against any allowance.
func (a *API) showPage(x *exchange) {
	x.route = pages
	x.limited(a.Addresses.Peek(x.source))
	a.Pages.ServeHTTP(x, x.r)
}
