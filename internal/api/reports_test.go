package api

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

func init() {
	// south knows the identifier of a report of north.
	foreign := func(ask func(t *testing.T, south *caller, path string)) func(t *testing.T, south *caller, id string) {
		return func(t *testing.T, south *caller, id string) {
			north := south.node.caller("north, who has a report")
			report := north.report(`{"type":"opioid_stewardship","format":"csv"}`)
			before := north.get("/v1/reports/" + report).body
			ask(t, south, "/v1/reports/"+report)
			if after := north.get("/v1/reports/" + report).is(http.StatusOK).body; !bytes.Equal(before, after) {
				t.Errorf("the report became %s", after)
			}
		}
	}
	missing := func(method, suffix string) func(t *testing.T, south *caller, id string) {
		return foreign(func(t *testing.T, south *caller, path string) {
			want := map[string]any{"resource": "report", "id": strings.TrimPrefix(path, "/v1/reports/")}
			south.send(method, path+suffix, "").details(http.StatusNotFound, fault.NotFound, want)
			south.send(method, path+suffix, "", "If-None-Match", "*", "Range", "bytes=0-1").details(http.StatusNotFound, fault.NotFound, want)
		})
	}
	maps.Copy(strangers, map[string]func(t *testing.T, south *caller, id string){
		"GET /v1/reports/{id}":          missing("GET", ""),
		"DELETE /v1/reports/{id}":       missing("DELETE", ""),
		"GET /v1/reports/{id}/download": missing("GET", "/download"),
		"GET /v1/reports": foreign(func(t *testing.T, south *caller, path string) {
			for _, query := range []string{"", "?type=opioid_stewardship", "?status=completed", "?page=1&limit=100"} {
				if r := south.get("/v1/reports" + query); len(r.data()) != 0 || r.pagination()[2] != 0 {
					t.Errorf("%s: %s", r.what, r.body)
				}
			}
		}),
		"POST /v1/reports": func(t *testing.T, south *caller, id string) {
			// Neither about a foreign patient, nor with anything foreign in it.
			south.post("/v1/reports", `{"type":"patient_summary","parameters":{"patient_id":"`+id+`"}}`).wrong("parameters.patient_id", id)
			for _, kind := range []string{"opioid_stewardship", "population_health", "outcomes"} {
				if r := south.download(`{"format":"json","type":"` + kind + `"}`); bytes.Contains(r.body, []byte(id)) || bytes.Contains(r.body, []byte("Vasarely")) {
					t.Errorf("%s: %s", kind, r.body)
				}
			}
		},
	})
}

// A report does not bypass the scopes of its data.
func TestReportNeedsTheScopesOfItsData(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		patient := c.create("Arlo Finch")
		for kind, data := range map[string]access.Scopes{
			"patient_summary": access.PatientsRead | access.ClinicalDataRead, "opioid_stewardship": access.PatientsRead | access.ClinicalDataRead,
			"outcomes": access.AnalyticsRead, "population_health": access.AnalyticsRead,
		} {
			body := `{"format":"csv","type":"` + kind + `"}`
			if kind == "patient_summary" {
				body = `{"format":"csv","type":"` + kind + `","parameters":{"patient_id":"` + patient + `"}}`
			}
			report := c.report(body)
			n.caller("north", access.ReportsRead|access.ReportsWrite|data).download(body)
			for _, lacking := range []access.Scopes{access.PatientsRead, access.ClinicalDataRead, access.AnalyticsRead, access.ReportsRead, access.ReportsWrite} {
				less := n.caller("north", access.AllScopes&^lacking)
				created, downloaded := http.StatusCreated, http.StatusOK
				if lacking&(data|access.ReportsWrite) != 0 {
					created = http.StatusForbidden
				}
				if lacking&(data|access.ReportsRead) != 0 {
					downloaded = http.StatusForbidden
				}
				r := less.post("/v1/reports", body).is(created)
				if created == http.StatusForbidden {
					if need := r.fault(http.StatusForbidden, fault.Forbidden)["required_scope"].(string); !strings.Contains(need, lacking.String()) {
						t.Errorf("%s without %s: it asks for %s", kind, lacking, need)
					}
				}
				less.get(downloadOf(report)).is(downloaded)
				less.get(downloadOf(report), "Range", "bytes=0-9").is(map[int]int{200: 206, 403: 403}[downloaded])
				less.send("HEAD", downloadOf(report), "").is(downloaded)
			}
		}
		// The scope is judged before the rest of the body.
		n.caller("north", access.AllScopes&^access.ClinicalDataRead).post("/v1/reports", `{"type":"patient_summary","color":"red"}`).fault(http.StatusForbidden, fault.Forbidden)
		n.caller("north", access.AllScopes&^access.ReportsWrite).send("DELETE", "/v1/reports/x", "").fault(http.StatusForbidden, fault.Forbidden)
	})
}

func TestReportLeavesLines(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, auditor := n.caller("north"), n.auditor(access.AllScopes)
		patient := c.create("Arlo Finch")
		body := `{"type":"patient_summary","format":"csv","title":"Mr Finch","parameters":{"patient_id":"` + patient + `"}}`
		report := c.post("/v1/reports", body, "X-Request-Id", "made").is(http.StatusCreated).json()["id"].(string)
		c.becomes(report, "completed")
		c.get("/v1/reports/"+report, "X-Request-Id", "read").is(http.StatusOK)
		c.get("/v1/reports", "X-Request-Id", "listed").is(http.StatusOK)
		c.get(downloadOf(report), "X-Request-Id", "downloaded").is(http.StatusOK)
		c.send("DELETE", "/v1/reports/"+report, "", "X-Request-Id", "deleted").is(http.StatusNoContent)
		for _, want := range []struct{ action, request, resource string }{
			{"report.create", "made", report}, {"report.read", "read", report}, {"report.read", "listed", ""},
			{"report.download", "downloaded", patient}, {"report.delete", "deleted", report},
		} {
			got := line(t, auditor.audit("&action="+want.action, 1), want.request)
			if resource, _ := got["resource"].(string); resource != want.resource || got["client_id"] != c.client.ID.String() {
				t.Errorf("%s: %v", want.request, got)
			}
			if strings.Contains(quoteAny(got), "Finch") {
				t.Errorf("the title is in %v", got)
			}
		}
		if got := auditor.audit("&action=report.complete", 1)[0]; got["resource"] != report || got["client_id"] != c.client.ID.String() {
			t.Errorf("%v", got)
		}
		// Who looks for the patient finds who has got the file.
		got := line(t, auditor.audit("&patient_id="+patient, 2), "downloaded")["details"].(map[string]any)
		if got["report"] != report || got["patient"] != patient || got["type"] != "patient_summary" || got["format"] != "csv" {
			t.Errorf("%v", got)
		}
	})
}

// report.completed is only sent once the download works.
func TestReportEventMeansThatTheFileIsThere(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		reader := n.another()
		cursor := c.get("/v1/events").cursor()
		for range 5 {
			report := c.ask(`{"type":"outcomes","format":"json"}`)
			r := c.at(reader).get("/v1/events?wait=20&after=" + cursor)
			events := r.data()
			cursor = r.cursor()
			if len(events) != 1 || events[0]["type"] != "report.completed" || fmt.Sprint(events[0]["data"]) != "map[report_id:"+report+"]" {
				t.Fatalf("%v", events)
			}
			c.get(downloadOf(report)).is(http.StatusOK)
			c.at(reader).get(downloadOf(report)).is(http.StatusOK)
		}
	})
}

func TestReportFailureIsTold(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.callerOf("north", access.Enterprise, access.AllScopes) // it asks often
		n.gate.breakWith(errBroken)
		report := c.ask(`{"type":"outcomes"}`)
		c.becomes(report, "failed")
		var kinds []string
		eventually(t, "both events", func() bool {
			kinds = nil
			for _, e := range c.get("/v1/events").data() {
				data := e["data"].(map[string]any)
				kinds = append(kinds, fmt.Sprint(e["type"], " ", data["report_id"] == report, " ", data["kind"]))
			}
			return len(kinds) == 2
		})
		if fmt.Sprint(kinds) != "[report.failed true <nil> system.alert true report_failed]" {
			t.Errorf("%v", kinds)
		}
	})
}

func TestReportIsMadeOnce(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		const body = `{"type":"outcomes","format":"csv"}`
		first := c.post("/v1/reports", body, "Idempotency-Key", "k").is(http.StatusCreated)
		c.becomes(first.json()["id"].(string), "completed")
		again := c.post("/v1/reports", body, "Idempotency-Key", "k").is(http.StatusCreated)
		if again.header.Get("Idempotency-Replayed") != "true" || !bytes.Equal(again.body, first.body) || again.header.Get("Location") != first.header.Get("Location") {
			t.Errorf("%v %s", again.header, again.body)
		}
		c.post("/v1/reports", `{"type":"outcomes"}`, "Idempotency-Key", "k").fault(http.StatusUnprocessableEntity, fault.IdempotencyKeyReused)
		if got := c.get("/v1/reports").pagination()[2]; got != 1 {
			t.Errorf("%d reports", got)
		}
	})
}

func TestReportIsDeleted(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		release := n.gate.hold(t)
		const body = `{"type":"outcomes","format":"csv"}`
		first, second, third := c.ask(body), c.ask(body), c.ask(body)
		c.becomes(first, "processing")
		c.becomes(second, "processing")
		for _, id := range []string{first, third} { // one that is being made, one that waits
			c.send("DELETE", "/v1/reports/"+id, "").is(http.StatusNoContent)
			c.get("/v1/reports/"+id).fault(http.StatusNotFound, fault.NotFound)
			c.get(downloadOf(id)).fault(http.StatusNotFound, fault.NotFound)
			c.send("DELETE", "/v1/reports/"+id, "").fault(http.StatusNotFound, fault.NotFound)
		}
		release()
		c.becomes(second, "completed")
		if got := c.get("/v1/reports"); fmt.Sprint(got.ids()) != "["+second+"]" || got.pagination()[2] != 1 {
			t.Errorf("%s", got.body)
		}
		c.send("DELETE", "/v1/reports/"+second, "").is(http.StatusNoContent)
		c.get(downloadOf(second)).fault(http.StatusNotFound, fault.NotFound)
		c.send("DELETE", "/v1/reports/"+second+"?force=1", "").wrong("force", "1")
		if got := c.get("/v1/reports").pagination()[2]; got != 0 {
			t.Errorf("%d reports", got)
		}
	})
}

// A file may be asked for in parts; all of them make the whole.
func TestDownloadInParts(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.clinic()
		report := c.report(`{"type":"opioid_stewardship","format":"csv"}`)
		path := downloadOf(report)
		whole := c.get(path).is(http.StatusOK)
		size, tag := len(whole.body), whole.header.Get("ETag")
		for spec, want := range map[string][2]int{
			"bytes=0-0": {0, 1}, "bytes=0-9": {0, 10}, "bytes=5-": {5, size}, "bytes=-7": {size - 7, size}, "bytes=-999999999": {0, size},
			"bytes=3-99999999999999999999": {3, size}, "BYTES=1-2": {1, 3}, fmt.Sprintf("bytes=%d-%d", size-1, size+5): {size - 1, size}, "bytes= 2-4": {2, 5},
		} {
			r := c.get(path, "Range", spec).is(http.StatusPartialContent)
			if !bytes.Equal(r.body, whole.body[want[0]:want[1]]) || r.header.Get("Content-Range") != fmt.Sprintf("bytes %d-%d/%d", want[0], want[1]-1, size) || r.header.Get("ETag") != tag {
				t.Errorf("%s: %q %v", spec, r.body, r.header)
			}
		}
		for _, spec := range []string{"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "lines=0-1", "bytes=0-1,4-5", "bytes=--5", "bytes=1-2-3", "bytes=+1-2"} {
			if r := c.get(path, "Range", spec).is(http.StatusOK); !bytes.Equal(r.body, whole.body) {
				t.Errorf("%q: %d bytes", spec, len(r.body))
			}
		}
		for _, spec := range []string{fmt.Sprintf("bytes=%d-", size), "bytes=99999999-", "bytes=-0"} {
			r := c.get(path, "Range", spec)
			r.details(http.StatusRequestedRangeNotSatisfiable, fault.RangeNotSatisfiable, map[string]any{"size_bytes": float64(size)})
			if got := r.header.Get("Content-Range"); got != fmt.Sprintf("bytes */%d", size) {
				t.Errorf("%s: %s", spec, got)
			}
		}
		c.get(path, "Range", "bytes=0-1", "If-Range", tag).is(http.StatusPartialContent)
		for _, other := range []string{`"x"`, "W/" + tag, "Wed, 21 Oct 2015 07:28:00 GMT"} {
			c.get(path, "Range", "bytes=0-1", "If-Range", other).is(http.StatusOK)
		}
		if r := c.get(path, "Range", "bytes=0-1", "If-None-Match", tag).is(http.StatusNotModified); len(r.body) != 0 {
			t.Errorf("%q", r.body)
		}
		c.get(path, "If-Match", `"x"`).fault(http.StatusPreconditionFailed, fault.PreconditionFailed)
		c.get(path, "If-Match", tag).is(http.StatusOK)
		head := c.send("HEAD", path, "", "Range", "bytes=0-1").is(http.StatusOK)
		if len(head.body) != 0 || head.number("Content-Length") != int64(size) || head.header.Get("ETag") != tag {
			t.Errorf("%v", head.header)
		}
		if r := c.get(path, "Accept-Encoding", "gzip"); r.header.Get("Content-Encoding") != "" || !bytes.Equal(r.body, whole.body) {
			t.Errorf("compressed: %v", r.header)
		}
	})
}

// A caller that cannot take a file is no reason to panic.
func TestDownloadWithoutAConnection(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		report := c.report(`{"type":"outcomes","format":"csv"}`)
		request := httptest.NewRequest("GET", downloadOf(report), nil)
		request.Header.Set("Authorization", "Bearer "+c.token)
		recorder := httptest.NewRecorder()
		n.api.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK || recorder.Body.Len() == 0 {
			t.Errorf("%d, %d bytes", recorder.Code, recorder.Body.Len())
		}
	})
}
