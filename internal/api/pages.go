package api

import (
	"net/http"
	"strings"
)

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

// asksForPortal reports whether a browser opened the bare address of the
// service. Programs get the same answer there as on any unknown path.
func asksForPortal(r *http.Request) bool {
	return r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) && prefersHTML(r.Header["Accept"])
}

// sendToPortal redirects to the portal. The location is a path, so that no
// header of the request can lead elsewhere.
func (a *API) sendToPortal(x *exchange) {
	x.route = pages
	x.send(answer{
		status: http.StatusSeeOther, location: "/portal/", contentType: "text/html; charset=utf-8",
		body: []byte("<!doctype html>\n<html lang=\"en\"><title>Anodyne</title>\n<p><a href=\"/portal/\">Go to the portal</a></p>\n"),
	})
}

// showPage lets the portal answer. It has the headers of every answer, and is
// not counted against any allowance.
func (a *API) showPage(x *exchange) {
	x.route = pages
	x.limited(a.Addresses.Peek(x.source))
	a.Pages.ServeHTTP(x, x.r)
}
