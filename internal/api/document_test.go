package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/api/openapi/openapitest"
	"anodyne.example/anodyne/internal/fault"
)

func TestRoutesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	routes := New(Config{}).Routes()
	var documented []string
	for _, route := range openapi.Routes() {
		documented = append(documented, route.Method+" "+route.Path)
	}
	slices.Sort(routes)
	slices.Sort(documented)
	if !slices.Equal(routes, documented) {
		t.Errorf("routes %q, documented %q", routes, documented)
	}
}

// The requests that the document shows work as they are shown.
func TestExamplesOfTheDocument(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, key := n.caller("north"), newSigner(t, "k")
		c.signs(key)
		live := openapitest.Live{PatientID: c.create("Arlo Finch"), AccessToken: c.token, ClientID: c.client.ID.String(), ClientSecret: c.secret}
		for _, example := range openapitest.Examples() {
			if strings.Contains(example.Path, "{record_id}") { // a record can be corrected once
				live.RecordID = c.score(live.PatientID, 6)
			}
			if example.Path == "/oauth/token" { // one example needs it
				live.Assertion = c.assertion(key, n.url+"/oauth/token")
			}
			if strings.HasSuffix(example.Path, "/_history/{version}") { // an update has replaced the first version
				live.PatientID = c.create("Berta Finch")
			}
			if strings.HasPrefix(example.Path, "/v1/webhooks/") { // one example removes it
				live.WebhookID = c.hook()
				live.DeliveryID = c.tried(live.WebhookID)
			}
			if strings.HasPrefix(example.Path, "/v1/reports/") { // one example removes it
				live.ReportID = c.report(`{"type":"outcomes","format":"json"}`)
			}
			if example.Path == "/v1/patients" { // the examples have the same identifiers
				for _, id := range append(c.get("/v1/patients?identifier=%7C10397").ids(), c.get("/v1/patients?identifier=%7C10422").ids()...) {
					c.send("PATCH", "/v1/patients/"+id, `{"identifiers":null}`).is(http.StatusOK)
				}
			}
			if strings.HasPrefix(example.Path, "/v1/exports/") { // one example removes it
				live.ExportID = c.export(`{"format":"parquet"}`)
			}
			if strings.HasPrefix(example.Path, bulkPath+"/") { // one example removes it
				live.BulkID = c.bulkExport("/$export", "")
			}
			if strings.HasPrefix(example.Path, "/fhir/R4/Group/") || strings.HasPrefix(example.Path, cohortsPath+"/") { // one example removes it
				live.CohortID = c.cohort("North", live.PatientID)
			}
			if strings.HasPrefix(example.Path, aliasesPath) { // the examples have the same names
				for _, a := range c.get(aliasesPath).ids() {
					c.send("DELETE", aliasesPath+"/"+a, "").is(http.StatusNoContent)
				}
				if example.Method != "POST" {
					live.AliasID = c.alias("blue pills", "1049621")
				}
			}
			if removes := example.Method == "DELETE" && example.Path == "/v1/patients/{id}"; removes || strings.HasSuffix(example.Path, "/merge") {
				live.OtherID, live.PatientID = live.PatientID, c.create("Berta Finch")
			}
			request, err := example.Request(context.Background(), n.url, live)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := n.http.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode/100 != 2 {
				t.Errorf("%s: %d %s %v", example.Name, answer.StatusCode, body, err)
			}
			_ = answer.Body.Close()
			if live.OtherID != "" { // the example removed the patient
				live.PatientID, live.OtherID = live.OtherID, ""
			}
		}
	})
}

func TestDocumentIsServed(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		if r := n.send("GET", "/openapi.json", "").is(http.StatusOK); !bytes.Equal(r.body, openapi.JSON()) || r.header.Get("Content-Type") != "application/json" {
			t.Errorf("%d bytes of %s", len(r.body), r.header.Get("Content-Type"))
		}
		if r := n.send("GET", "/openapi.yaml", "").is(http.StatusOK); !bytes.Equal(r.body, openapi.YAML) || r.header.Get("Content-Type") != "application/yaml" {
			t.Errorf("%d bytes of %s", len(r.body), r.header.Get("Content-Type"))
		}
	})
}

func TestHealth(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		if got := string(n.send("GET", "/healthz", "").is(http.StatusOK).body); got != `{"status":"ok"}` {
			t.Errorf("%s", got)
		}
		if got := string(n.send("GET", "/readyz", "").is(http.StatusOK).body); got != `{"status":"ready"}` {
			t.Errorf("%s", got)
		}
		n.drain()
		if r := n.send("GET", "/readyz", ""); r.number("Retry-After") != 1 || r.fault(http.StatusServiceUnavailable, fault.Unavailable) == nil {
			t.Errorf("%v", r.header)
		}
	})
}

// counted returns how many requests were counted, by route and status.
func (n *node) counted() map[string]float64 {
	n.tb.Helper()
	families, err := n.registry.Gather()
	if err != nil {
		n.tb.Fatal(err)
	}
	counted := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			// Those that alerts count begin at zero.
			if n := metric.GetCounter().GetValue(); family.GetName() == "anodyne_http_requests_total" && n > 0 {
				counted[labels[0]+" "+labels[1]] = n
			}
		}
	}
	return counted
}

// Labels are bounded: what callers write never becomes one.
func TestMetricsAreByRoute(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		c.get("/v1/patients/" + id).is(http.StatusOK)
		c.get("/v1/" + id).is(http.StatusNotFound)
		counted := n.counted()
		for _, want := range []string{"POST /v1/patients 201", "GET /v1/patients/{id} 200", "unknown 404"} {
			if counted[want] != 1 {
				t.Errorf("%s: %v of %v", want, counted[want], counted)
			}
		}
		if len(counted) != 3 {
			t.Errorf("%v", counted)
		}
	})
}
