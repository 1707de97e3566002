package api

import (
	"net/http"
	"strings"
)

// pages is the single route under which the metrics count the portal and the
// documentation.
var pages = &route{method: "GET", pattern: "/portal and /docs"}

// isPage reports whether a path is served by Config.Pages.
func isPage(path string) bool {
	for _, root := range []string{"/portal", "/docs"} {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}

// asksForPortal reports whether a browser requests the root of the service.
// Other callers get the response for an unknown path.
func asksForPortal(r *http.Request) bool {
	return r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) && prefersHTML(r.Header["Accept"])
}

// sendToPortal redirects to the portal. The location is a path, so no request
// header can make it lead elsewhere.
func (a *API) sendToPortal(x *exchange) {
	x.route = pages
	x.send(answer{
		status: http.StatusSeeOther, location: "/portal/", contentType: "text/html; charset=utf-8",
		body: []byte("<!doctype html>\n<html lang=\"en\"><title>Anodyne</title>\n<p><a href=\"/portal/\">Go to the portal</a></p>\n"),
	})
}

// showPage serves a page of the portal or documentation. It has the headers of
// every response but does not count against any allowance.
func (a *API) showPage(x *exchange) {
	x.route = pages
	x.limited(a.Addresses.Peek(x.source))
	a.Pages.ServeHTTP(x, x.r)
}
