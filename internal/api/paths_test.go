package api

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

// HEAD answers like GET, without the body.
func TestHeadWhereverGetWorks(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		record := c.score(id, 5)
		hook := c.hook()
		sent := c.tried(hook)
		report := c.report(`{"type":"outcomes","format":"csv"}`)
		alias := c.alias("blue pills", "7804")
		cohort := c.cohort("North", c.create("Berta Finch"))
		export := c.export(`{"format":"csv"}`)
		bulk := c.bulkExport("/$export", "")
		for _, route := range n.api.Routes() {
			pattern, ok := strings.CutPrefix(route, "GET ")
			if !ok || strings.HasSuffix(pattern, "/$export") { // a HEAD would start an export
				continue
			}
			path := strings.NewReplacer("/bulk/{id}/{name}", "/bulk/"+bulk+"/Patient.1.ndjson", "/bulk/{id}", "/bulk/"+bulk, "/Group/{id}", "/Group/"+strings.TrimPrefix(cohort, "coh_"), "/webhooks/{id}", "/webhooks/"+hook, "/reports/{id}", "/reports/"+report, "/aliases/{id}", "/aliases/"+alias, "/cohorts/{id}", "/cohorts/"+cohort, "/exports/{id}", "/exports/"+export, "{name}", "patients.csv", "/{type}/{id}", "/Patient/"+strings.TrimPrefix(id, "pat_"), "/Patient/{id}", "/Patient/"+strings.TrimPrefix(id, "pat_"), "{type}", "Patient", "{version}", "1", "{id}", id,
				"{record_id}", record, "{delivery_id}", sent, "/lookup", "/lookup?name=oxycodone").Replace(pattern)
			get, head := c.get(path).is(http.StatusOK), c.send("HEAD", path, "").is(http.StatusOK)
			if len(head.body) != 0 {
				t.Errorf("%s: a body of %d bytes", head.what, len(head.body))
			}
			for _, name := range []string{"Content-Type", "ETag", "Link", "Cache-Control"} {
				if head.header.Get(name) != get.header.Get(name) {
					t.Errorf("%s: %s %q, by GET %q", head.what, name, head.header.Get(name), get.header.Get(name))
				}
			}
			if pattern != "/v1/audit" && head.header.Get("Content-Length") != get.header.Get("Content-Length") { // the log grows by being read
				t.Errorf("%s: Content-Length %s, by GET %s", head.what, head.header.Get("Content-Length"), get.header.Get("Content-Length"))
			}
		}
		c.send("HEAD", "/v1/patients/x", "").is(http.StatusNotFound)
		c.send("HEAD", "/v1/patients?page=0", "").is(http.StatusBadRequest)
		n.send("HEAD", "/v1/patients", "").is(http.StatusUnauthorized)
	})
}

func TestWrongMethodIs405(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for path, allow := range map[string]string{
			"/v1/patients":         "GET, HEAD, POST, PUT",
			"/v1/patients/pat_x":   "GET, HEAD, PATCH, DELETE",
			"/v1/reports":          "GET, HEAD, POST",
			"/v1/reports/rep_x":    "GET, HEAD, DELETE",
			"/v1/exports":          "GET, HEAD, POST",
			"/v1/exports/exp_x":    "GET, HEAD, DELETE",
			"/v1/events":           "GET, HEAD",
			"/v1/audit":            "GET, HEAD",
			"/v1/webhooks":         "GET, HEAD, POST",
			"/v1/webhooks/whk_x":   "GET, HEAD, PATCH, DELETE",
			aliasesPath:            "GET, HEAD, POST",
			cohortsPath:            "GET, HEAD, POST",
			cohortsPath + "/coh_x": "GET, HEAD, DELETE",
			aliasesPath + "/als_x": "GET, HEAD, PATCH, DELETE",
			"/oauth/token":         "POST",
			"/oauth/revoke":        "POST",
			"/oauth/introspect":    "POST",
			"/healthz":             "GET, HEAD",
			"/openapi.json":        "GET, HEAD",
		} {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
				if strings.Contains(allow, method) {
					continue
				}
				r := c.send(method, path, "")
				var allowed []any
				for _, m := range strings.Split(allow, ", ") {
					allowed = append(allowed, m)
				}
				r.details(http.StatusMethodNotAllowed, fault.MethodNotAllowed, map[string]any{"allowed": allowed})
				if got := r.header.Get("Allow"); got != allow {
					t.Errorf("%s: Allow %q, want %q", r.what, got, allow)
				}
			}
		}
	})
}

// Nothing is redirected: an API that answers a POST with a redirect loses it.
func TestUnknownPaths(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, path := range []string{"/", "//", "///", "/%2F", "/.", "/..", "/v1/patients/", "/v1//patients", "//v1/patients", "/v1/../v1/patients", "/v1/./patients", "/v1/patients/pat_x/",
			"/v1/patients/pat_x/clinical", "/v1/patients/%2e%2e", "/v1/patients/%2E", "/healthz/", "/oauth", "/oauth/token/", "/favicon.ico", "/v1/Patients"} {
			r := c.get(path)
			details := r.fault(http.StatusNotFound, fault.NotFound)
			wantMembers(t, details, "resource", "id")
			if details["resource"] != "path" {
				t.Errorf("%s: %v", path, details)
			}
			c.post(path, "{}").is(http.StatusNotFound)
		}
		long := c.get("/v1/"+strings.Repeat("x", 5000)).fault(http.StatusNotFound, fault.NotFound)
		if echo := long["id"].(string); len(echo) > 300 {
			t.Errorf("%d bytes of the path are echoed", len(echo))
		}
		c.get("/v1/%ff%fe").is(http.StatusNotFound)
	})
}

func TestOptionsOfNoPath(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		if got := n.raw("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 404") || !strings.Contains(got, "X-RateLimit-Limit") {
			t.Errorf("%q", got)
		}
	})
}

func TestHTMLForBrowsersOnly(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
		r := n.send("GET", "/nothing/<script>", "", "Accept", browser).is(http.StatusNotFound)
		if got := r.header.Get("Content-Type"); got != "text/html; charset=utf-8" || !strings.Contains(string(r.body), "<h1>Not found</h1>") {
			t.Errorf("%s: %s", got, r.body)
		}
		if strings.Contains(string(r.body), "<script>") {
			t.Errorf("the path is in the page: %s", r.body)
		}
		r.limits()
		for _, accept := range []string{"", "*/*", "application/json", "text/html, application/json", "text/plain"} {
			n.send("GET", "/nothing", "", "Accept", accept).fault(http.StatusNotFound, fault.NotFound)
		}
		// Only an unknown path is shown as a page; all other errors keep their
		// format.
		c.get("/v1/patients/x", "Accept", browser).fault(http.StatusNotFound, fault.NotFound)
		n.send("GET", "/v1/nothing", "", "Accept", browser).fault(http.StatusUnauthorized, fault.Unauthorized)
		c.get("/v1/patients?page=0", "Accept", browser).fault(http.StatusBadRequest, fault.InvalidParameter)
	})
}
