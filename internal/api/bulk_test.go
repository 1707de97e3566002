package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// groupBody is a Group with members.
func groupBody(name string, patients ...string) string {
	var members []string
	for _, p := range patients {
		members = append(members, `{"entity":{"reference":"Patient/`+strings.TrimPrefix(p, "pat_")+`"}}`)
	}
	return `{"resourceType":"Group","type":"person","actual":true,"name":` + quote(name) + `,"code":{"text":"kept"},"member":[` + strings.Join(members, ",") + `]}`
}

// bulkExport starts a bulk export, waits until it is completed and returns its
// identifier.
func (c *caller) bulkExport(path, body string) string {
	c.tb.Helper()
	r := c.post(fhirBase+path, body, "Prefer", "respond-async", "Content-Type", "application/fhir+json").is(http.StatusAccepted)
	export := r.header.Get("Content-Location")
	export = export[strings.LastIndexByte(export, '/')+1:]
	c.exportBecomes(export, "completed")
	return export
}

// manifest returns the manifest of an export.
func (c *caller) manifest(export string) (m bulkManifest) {
	c.tb.Helper()
	if err := json.Unmarshal(c.get(bulkPath+"/"+export).is(http.StatusOK).body, &m); err != nil {
		c.tb.Fatal(err)
	}
	return m
}

// outcome checks that a response is an OperationOutcome with a status.
func (r *reply) outcome(status int) {
	r.tb.Helper()
	if r.is(status).json()["resourceType"] != "OperationOutcome" {
		r.tb.Errorf("%s: %s", r.what, r.body)
	}
}

func TestBulkExport(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.callerOf("north", access.Enterprise, access.AllScopes)
		south := n.callerOf("south", access.Enterprise, access.AllScopes)
		a, b := c.create("Ada"), c.create("Bo")
		c.score(a, 4)
		c.score(b, 5)
		r := c.post(fhirBase+"/Group", groupBody("Some", b), "Content-Type", "application/fhir+json").is(http.StatusCreated)
		group := r.header.Get("Location")
		if got := c.get(group).is(http.StatusOK); !strings.Contains(string(got.body), `"code":{"text":"kept"}`) || strings.Count(string(got.body), `"entity"`) != 1 {
			t.Errorf("%s", got.body)
		}
		if got := c.get(fhirBase + "/Group").is(http.StatusOK); got.json()["total"] != 1.0 || strings.Contains(string(got.body), `"member"`) {
			t.Errorf("%s", got.body)
		}
		for _, bad := range []string{`{"resourceType":"Group"}`, groupBody("x", "pat_1"), groupBody("", a), strings.Replace(groupBody("x", a), "person", "animal", 1), `{`, groupBody("x", south.create("S"))} {
			if got := c.post(fhirBase+"/Group", bad, "Content-Type", "application/fhir+json"); got.status/100 != 4 || got.json()["resourceType"] != "OperationOutcome" {
				t.Errorf("%s: %d %s", bad, got.status, got.body)
			}
		}
		// What cannot be exported is refused, or left out if the client is lenient.
		c.get(fhirBase + "/$export").outcome(http.StatusBadRequest)
		for _, query := range []string{"_type=Device", "_outputFormat=csv", "_since=yesterday", "_since=2999-01-01", "_elements=id", "_typeFilter=Observation", "_typeFilter=Observation%3Fcolour%3Dred"} {
			c.get(fhirBase+"/$export?"+query, "Prefer", "respond-async").outcome(http.StatusBadRequest)
		}
		c.get(fhirBase+"/$export?_elements=id&_typeFilter=x", "Prefer", "respond-async, handling=lenient").is(http.StatusAccepted)
		c.post(fhirBase+"/Patient/$export", `{"resourceType":"Parameters","parameter":[{"name":"patient","valueReference":{"reference":"Patient/`+strings.TrimPrefix(south.create("S"), "pat_")+`"}}]}`,
			"Prefer", "respond-async", "Content-Type", "application/fhir+json").outcome(http.StatusUnprocessableEntity)

		export := c.bulkExport(strings.TrimPrefix(group, fhirBase)+"/$export", "")
		m := c.manifest(export)
		var types []string
		for _, out := range m.Output {
			types = append(types, out.Type)
			file := c.get(strings.TrimPrefix(out.URL, n.url)).is(http.StatusOK)
			if body := string(file.body); out.Count != 1 || !strings.Contains(body, strings.TrimPrefix(b, "pat_")) || strings.Contains(body, strings.TrimPrefix(a, "pat_")) || file.header.Get("Content-Type") != "application/fhir+ndjson" {
				t.Errorf("%+v: %s", out, body)
			}
			part := c.get(strings.TrimPrefix(out.URL, n.url), "Range", "bytes=1-4").is(http.StatusPartialContent)
			if string(part.body) != string(file.body[1:5]) || part.header.Get("ETag") != file.header.Get("ETag") {
				t.Errorf("a part: %q", part.body)
			}
		}
		if !slices.Equal(types, []string{"Patient", "Observation"}) || !m.RequiresAccessToken || !strings.HasSuffix(m.Request, "/$export") || m.TransactionTime == "" {
			t.Errorf("%+v", m)
		}
		// It is an export like others, for those who may read what is in it.
		if list := c.get("/v1/exports?limit=100"); !strings.Contains(string(list.is(http.StatusOK).body), `"format":"fhir","include":["Patient","Condition","Observation"`) {
			t.Errorf("%s", list.body)
		}
		patientsOnly := n.callerOf("north", access.Enterprise, access.PatientsRead)
		patientsOnly.get(bulkPath + "/" + export).outcome(http.StatusForbidden)
		patientsOnly.get(fhirBase+"/$export?_type=Observation", "Prefer", "respond-async").outcome(http.StatusForbidden)
		patientsOnly.send("DELETE", bulkPath+"/"+c.bulkExport("/$export?_type=Patient", ""), "").outcome(http.StatusForbidden)
		n.callerOf("north", access.Enterprise, access.EventsRead).get(fhirBase+"/$export", "Prefer", "respond-async").outcome(http.StatusForbidden)

		// Another organisation finds nothing of it.
		for _, path := range []string{bulkPath + "/" + export, strings.TrimPrefix(m.Output[0].URL, n.url), group} {
			south.get(path).outcome(http.StatusNotFound)
		}
		south.send("DELETE", bulkPath+"/"+export, "").outcome(http.StatusNotFound)
		south.get(group+"/$export", "Prefer", "respond-async").outcome(http.StatusNotFound)

		c.send("DELETE", bulkPath+"/"+export, "").is(http.StatusAccepted)
		for _, path := range []string{bulkPath + "/" + export, strings.TrimPrefix(m.Output[0].URL, n.url)} {
			c.get(path).outcome(http.StatusNotFound)
		}
		filtered := c.bulkExport("/$export?_typeFilter=Observation%3Fpatient%3DPatient/"+strings.TrimPrefix(a, "pat_")+"&_type=Observation", "")
		if m := c.manifest(filtered); len(m.Output) != 1 || m.Output[0].Count != 1 {
			t.Errorf("filtered: %+v", m)
		}
	})
}

// However many ask at once, there are no more exports than there may be.
func TestExportsAreLimited(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.callerOf("north", access.Enterprise, access.AllScopes)
		other := c.at(n.another())
		replies := parallel(120, func(i int) *reply {
			if i%2 == 0 {
				return c.get(fhirBase+"/$export", "Prefer", "respond-async")
			}
			return other.post("/v1/exports", `{"format":"csv"}`)
		})
		started := 0
		for _, r := range replies {
			switch r.status {
			case http.StatusAccepted, http.StatusCreated:
				started++
			case http.StatusConflict:
			default:
				t.Errorf("%d %s", r.status, r.body)
			}
		}
		if started != 100 {
			t.Errorf("%d exports were started", started)
		}
		c.post("/v1/exports", `{"format":"csv"}`).fault(http.StatusConflict, fault.Conflict)
	})
}
