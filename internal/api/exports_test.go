package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
)

func init() {
	// south knows the identifier of an export of north.
	foreign := func(ask func(t *testing.T, south *caller, path string)) func(t *testing.T, south *caller, id string) {
		return func(t *testing.T, south *caller, id string) {
			north := south.node.caller("north, who has an export")
			path := "/v1/exports/" + north.export(`{"format":"csv"}`)
			before := north.get(path).body
			ask(t, south, path)
			if after := north.get(path).is(http.StatusOK).body; !bytes.Equal(before, after) {
				t.Errorf("the export became %s", after)
			}
		}
	}
	missing := func(method, suffix string) func(t *testing.T, south *caller, id string) {
		return foreign(func(t *testing.T, south *caller, path string) {
			want := map[string]any{"resource": "export", "id": strings.TrimPrefix(path, "/v1/exports/")}
			south.send(method, path+suffix, "").details(http.StatusNotFound, fault.NotFound, want)
		})
	}
	maps.Copy(strangers, map[string]func(t *testing.T, south *caller, id string){
		"GET /v1/exports/{id}":              missing("GET", ""),
		"DELETE /v1/exports/{id}":           missing("DELETE", ""),
		"GET /v1/exports/{id}/files/{name}": missing("GET", "/files/patients.csv"),
		"GET /v1/exports": foreign(func(t *testing.T, south *caller, path string) {
			for _, query := range []string{"", "?status=completed", "?page=1&limit=100"} {
				if r := south.get("/v1/exports" + query); len(r.data()) != 0 || r.pagination()[2] != 0 {
					t.Errorf("%s: %s", r.what, r.body)
				}
			}
		}),
		"POST /v1/exports": func(t *testing.T, south *caller, id string) {
			for _, file := range []string{"patients.ndjson", "summaries.ndjson", "pain_scores.ndjson"} {
				if r := south.get(fileOf(south.export(`{"format":"ndjson"}`), file)).is(http.StatusOK); bytes.Contains(r.body, []byte(id)) || bytes.Contains(r.body, []byte("Vasarely")) {
					t.Errorf("%s: %s", file, r.body)
				}
			}
		},
	})
}

func fileOf(export, name string) string { return "/v1/exports/" + export + "/files/" + name }

// export requests an export, waits until it is completed and returns its
// identifier.
func (c *caller) export(body string) string {
	c.tb.Helper()
	export := c.post("/v1/exports", body).is(http.StatusCreated).json()["id"].(string)
	c.exportBecomes(export, "completed")
	return export
}

// exportBecomes waits until an export has a status. It looks past the
// interface, which would count how often.
func (c *caller) exportBecomes(export, status string) map[string]any {
	c.tb.Helper()
	exportID, err := id.Parse[id.ExportKind](export)
	if err != nil {
		c.tb.Fatal(err)
	}
	o := c.store.For(&access.Principal{Org: c.client.Org, Client: c.client.No})
	eventually(c.tb, export+" is "+status, func() bool {
		found, err := o.Export(context.Background(), exportID)
		if err != nil {
			c.tb.Fatal(err)
		}
		return string(found.Status) == status
	})
	return c.get("/v1/exports/" + export).is(http.StatusOK).json()
}

// An export has a file for each table with its size and hash, which any node
// serves, in parts if asked.
func TestExportFiles(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.callerOf("north", access.Enterprise, access.AllScopes) // it asks often
		other := c.at(n.another())
		c.clinic()
		for format, media := range map[string]string{"parquet": "application/vnd.apache.parquet", "ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8; header=present"} {
			export := c.exportBecomes(c.export(`{"format":"`+format+`"}`), "completed")
			if export["as_of"] == nil || export["progress"] != float64(100) || export["expires_at"] == nil || export["error"] != "" {
				t.Errorf("%v", export)
			}
			total, names := 0.0, ""
			for _, f := range export["files"].([]any) {
				file := f.(map[string]any)
				r := other.get(file["download_url"].(string)).is(http.StatusOK)
				sum := sha256.Sum256(r.body)
				if float64(len(r.body)) != file["size_bytes"] || hex.EncodeToString(sum[:]) != file["sha256"] || r.header.Get("Etag") != `"`+file["sha256"].(string)+`"` {
					t.Errorf("%s: %d bytes, %v", file["name"], len(r.body), file)
				}
				want := media
				if file["name"] == "data_dictionary.csv" {
					want = "text/csv; charset=utf-8; header=present"
				}
				if got := r.header.Get("Content-Type"); got != want {
					t.Errorf("%s: %s", file["name"], got)
				}
				if middle := len(r.body) / 2; middle > 0 { // NDJSON without rows is empty
					part := c.get(file["download_url"].(string), "Range", fmt.Sprintf("bytes=%d-", middle)).is(http.StatusPartialContent)
					if !bytes.Equal(part.body, r.body[middle:]) {
						t.Errorf("%s: the second half differs", file["name"])
					}
				}
				total += file["size_bytes"].(float64)
				names += file["name"].(string) + " "
			}
			if total != export["size_bytes"] || !strings.Contains(names, "patients."+format+" summaries."+format+" opioid_doses."+format+" pain_scores."+format) {
				t.Errorf("%v bytes in %s", total, names)
			}
			c.get(fileOf(export["id"].(string), "nothing.csv")).fault(http.StatusNotFound, fault.NotFound)
		}
		// Neither list has what belongs to the other, and identifiers are kept apart.
		if got := c.get("/v1/reports").pagination()[2]; got != 0 {
			t.Errorf("%d reports", got)
		}
		list := c.get("/v1/exports?status=completed")
		if list.pagination()[2] != 3 || len(list.data()) != 3 {
			t.Errorf("%s", list.body)
		}
		asReport := "rep_" + strings.TrimPrefix(list.data()[0]["id"].(string), "exp_")
		c.get("/v1/reports/"+asReport).fault(http.StatusNotFound, fault.NotFound)
		c.send("DELETE", "/v1/reports/"+asReport, "").fault(http.StatusNotFound, fault.NotFound)
		asExport := "exp_" + strings.TrimPrefix(c.report(`{"type":"outcomes","format":"csv"}`), "rep_")
		c.get("/v1/exports/"+asExport).fault(http.StatusNotFound, fault.NotFound)
		c.send("DELETE", "/v1/exports/"+asExport, "").fault(http.StatusNotFound, fault.NotFound)
	})
}

// An export does not bypass the scopes of its data.
func TestExportNeedsTheScopesOfItsData(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for include, data := range map[string]access.Scopes{
			`["patients"]`: access.PatientsRead, `["pain_scores"]`: access.ClinicalDataRead, `["summaries"]`: access.PatientsRead | access.ClinicalDataRead,
		} {
			body := `{"format":"csv","deidentify":true,"include":` + include + `}`
			export := c.export(body)
			for _, lacking := range []access.Scopes{access.PatientsRead, access.ClinicalDataRead, access.AnalyticsRead, access.ExportsRead, access.ExportsWrite} {
				less := n.caller("north", access.AllScopes&^lacking)
				created, downloaded := http.StatusCreated, http.StatusOK
				if lacking&(data|access.ExportsWrite) != 0 {
					created = http.StatusForbidden
				}
				if lacking&(data|access.ExportsRead) != 0 {
					downloaded = http.StatusForbidden
				}
				less.post("/v1/exports", body).is(created)
				less.get(fileOf(export, "data_dictionary.csv")).is(downloaded)
			}
		}
		// The scope is judged before the rest of the body.
		n.caller("north", access.AllScopes&^access.ClinicalDataRead).post("/v1/exports", `{"format":"csv","color":"red"}`).fault(http.StatusForbidden, fault.Forbidden)
		n.caller("north", access.AllScopes&^access.ExportsWrite).send("DELETE", "/v1/exports/x", "").fault(http.StatusForbidden, fault.Forbidden)
	})
}

func TestExportRefusals(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.post("/v1/exports", `{"format":"xlsx"}`).wrong("format", "xlsx")
		c.post("/v1/exports", `{"format":"csv","filters":{"age_min":-1}}`).wrong("filters.age_min", float64(-1))
		c.post("/v1/exports", `{"format":"csv","include":["everything"]}`).wrong("include[0]", "everything")
		c.get("/v1/exports?status=done").wrong("status", "done")
		const body = `{"format":"csv","include":["patients"]}`
		first := c.post("/v1/exports", body, "Idempotency-Key", "k").is(http.StatusCreated)
		again := c.post("/v1/exports", body, "Idempotency-Key", "k").is(http.StatusCreated)
		if !bytes.Equal(first.body, again.body) || again.header.Get("Idempotency-Replayed") != "true" || first.header.Get("Location") != "/v1/exports/"+first.json()["id"].(string) {
			t.Errorf("%s", again.body)
		}
		export := first.json()["id"].(string)
		c.exportBecomes(export, "completed")
		c.send("DELETE", "/v1/exports/"+export, "").is(http.StatusNoContent)
		c.get("/v1/exports/"+export).fault(http.StatusNotFound, fault.NotFound)
		c.get(fileOf(export, "patients.csv")).fault(http.StatusNotFound, fault.NotFound)
		if got := c.get("/v1/exports").pagination()[2]; got != 0 {
			t.Errorf("%d exports", got)
		}
	})
}

// Files are deleted at the end of their retention.
func TestExportExpires(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		export := c.export(`{"format":"parquet"}`)
		n.clock.forward(30 * 24 * time.Hour)
		c.token = c.issue("")
		c.get(fileOf(export, "patients.parquet")).fault(http.StatusGone, fault.ExportExpired)
		if got := c.get("/v1/exports/" + export).json(); got["status"] != "expired" || len(got["files"].([]any)) != 0 {
			t.Errorf("%v", got)
		}
		eventually(t, "the files are expired", func() bool { return c.get("/v1/exports?status=expired").pagination()[2] == 1 })
	})
}

func TestExportLeavesLines(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, auditor := n.caller("north"), n.auditor(access.AllScopes)
		c.create("Arlo Finch")
		export := c.post("/v1/exports", `{"format":"csv","deidentify":true}`, "X-Request-Id", "made").is(http.StatusCreated).json()["id"].(string)
		c.exportBecomes(export, "completed")
		var events []string
		eventually(t, "both events", func() bool {
			events = nil
			for _, e := range c.get("/v1/events").data() {
				events = append(events, fmt.Sprint(e["type"], " ", e["data"]))
			}
			return len(events) == 2
		})
		if events[1] != "export.completed map[export_id:"+export+"]" {
			t.Errorf("%v", events)
		}
		c.get("/v1/exports/"+export, "X-Request-Id", "read").is(http.StatusOK)
		c.get("/v1/exports", "X-Request-Id", "listed").is(http.StatusOK)
		c.get(fileOf(export, "patients.csv"), "X-Request-Id", "downloaded").is(http.StatusOK)
		c.send("DELETE", "/v1/exports/"+export, "", "X-Request-Id", "deleted").is(http.StatusNoContent)
		for _, want := range []struct{ action, request, resource string }{
			{"export.create", "made", export}, {"export.read", "read", export}, {"export.read", "listed", ""},
			{"export.download", "downloaded", export}, {"export.delete", "deleted", export},
		} {
			got := line(t, auditor.audit("&action="+want.action, 1), want.request)
			if resource, _ := got["resource"].(string); resource != want.resource || got["client_id"] != c.client.ID.String() {
				t.Errorf("%s: %v", want.request, got)
			}
		}
		if got := auditor.audit("&action=export.complete", 1)[0]; got["resource"] != export {
			t.Errorf("%v", got)
		}
		got := line(t, auditor.audit("&action=export.download", 1), "downloaded")["details"].(map[string]any)
		if got["format"] != "csv" || got["deidentify"] != true || fmt.Sprint(got["include"]) != "[patients clinical_data summaries]" {
			t.Errorf("%v", got)
		}
	})
}
