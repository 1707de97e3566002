package api

import (
	"net/http"
	"strings"
	"testing"
)

// The routes of FHIR are tried by strangers like those under /v1. id is that of
// north's patient.
func init() {
	hides := func(t *testing.T, r *reply, id string) {
		t.Helper()
		if ulid := strings.TrimPrefix(id, "pat_"); r.status == http.StatusOK && (strings.Contains(strings.ReplaceAll(string(r.body), r.what, ""), `"`+ulid) || strings.Contains(string(r.body), "Patient/"+ulid+`"`)) {
			t.Errorf("%s: %s", r.what, r.body)
		}
	}
	get := func(paths ...string) func(t *testing.T, south *caller, id string) {
		return func(t *testing.T, south *caller, id string) {
			for _, path := range paths {
				south.get(fhirBase + strings.ReplaceAll(path, "ID", strings.TrimPrefix(id, "pat_"))).is(http.StatusNotFound)
			}
		}
	}
	searches := []string{
		"Patient", "Patient?_id=ID", "Patient?name=vasarely", "Patient?identifier=pat_ID", "Patient?birthdate=1961-03-14", "Patient?_total=accurate",
		"Condition", "Condition?patient=ID", "Condition?subject=Patient/ID&_include=Condition:patient", "Condition?patient.name=vasarely", "Condition?patient.identifier=pat_ID",
		"Observation?patient=ID", "Observation?patient._id=ID", "Observation?subject:Patient.name=v&_include=Observation:subject", "Patient?_sort=name",
	}
	empty := func(t *testing.T, south *caller, id string) {
		for _, query := range searches {
			path := fhirBase + "/" + strings.ReplaceAll(query, "ID", strings.TrimPrefix(id, "pat_"))
			r := south.get(path).is(http.StatusOK)
			if r.json()["entry"] != nil || r.json()["total"] != nil && r.json()["total"] != 0.0 {
				t.Errorf("%s: %s", r.what, r.body)
			}
		}
	}
	resource := `{"resourceType":"Patient","id":"ID","name":[{"text":"Taken"}],"birthDate":"1961-03-14"}`
	strangers["GET /fhir/R4/{type}"] = empty
	strangers["POST /fhir/R4/{type}/_search"] = func(t *testing.T, south *caller, id string) {
		r := south.post(fhirBase+"/Patient/_search", "_id="+strings.TrimPrefix(id, "pat_"), "Content-Type", "application/x-www-form-urlencoded").is(http.StatusOK)
		if r.json()["entry"] != nil {
			t.Errorf("%s", r.body)
		}
	}
	strangers["POST /fhir/R4/{type}"] = func(t *testing.T, south *caller, id string) {
		r := south.post(fhirBase+"/Patient", strings.Replace(resource, `"id":"ID",`, "", 1), "Idempotency-Key", "the-key").is(http.StatusCreated)
		hides(t, r, id)
		for _, subject := range []string{`{"reference":"Patient/ID"}`, `{"identifier":{"system":"https://anodyne.example/fhir/patient","value":"pat_ID"}}`} {
			body := `{"resourceType":"Condition","subject":` + subject + `,"code":{"text":"Pain"}}`
			south.post(fhirBase+"/Condition", strings.ReplaceAll(body, "ID", strings.TrimPrefix(id, "pat_"))).is(http.StatusUnprocessableEntity)
		}
	}
	strangers["PUT /fhir/R4/{type}"] = func(t *testing.T, south *caller, id string) {
		r := south.send("PUT", fhirBase+"/Patient?identifier=mrn%7C1", strings.Replace(resource, `"id":"ID",`, "", 1)).is(http.StatusCreated)
		hides(t, r, id)
	}
	strangers["GET /fhir/R4/{type}/{id}"] = get("/Patient/ID", "/Condition/ID-0123456789abcdef", "/Observation/ID")
	strangers["PUT /fhir/R4/{type}/{id}"] = func(t *testing.T, south *caller, id string) {
		ulid := strings.TrimPrefix(id, "pat_")
		for _, match := range []string{`W/"1"`, `W/"99"`} {
			south.send("PUT", fhirBase+"/Patient/"+ulid, strings.ReplaceAll(resource, "ID", ulid), "If-Match", match).is(http.StatusNotFound)
		}
	}
	strangers["GET /fhir/R4/{type}/{id}/_history"] = get("/Patient/ID/_history")
	strangers["GET /fhir/R4/{type}/{id}/_history/{version}"] = get("/Patient/ID/_history/1")
	strangers["GET /fhir/R4/Patient/{id}/$everything"] = get("/Patient/ID/$everything")
}

// Groups and bulk exports of another organisation do not exist.
func init() {
	groupOf := func(south *caller, route, id string) string {
		return strings.TrimPrefix(south.node.caller("north of "+route).cohort("Ours", id), "coh_")
	}
	bulkOf := func(south *caller, route string) string {
		return south.node.caller("north of "+route).bulkExport("/$export", "")
	}
	start := func(path string) func(t *testing.T, south *caller, id string) {
		return func(t *testing.T, south *caller, id string) {
			export := south.bulkExport(path, "")
			if m := south.manifest(export); len(m.Output) != 0 {
				t.Errorf("%+v", m)
			}
		}
	}
	for _, method := range []string{"GET ", "POST "} {
		strangers[method+"/fhir/R4/$export"] = start("/$export")
		strangers[method+"/fhir/R4/Patient/$export"] = start("/Patient/$export")
		route := method + "/fhir/R4/Group/{id}/$export"
		strangers[route] = func(t *testing.T, south *caller, id string) {
			south.send(strings.TrimSpace(method), fhirBase+"/Group/"+groupOf(south, route, id)+"/$export", "", "Prefer", "respond-async").is(http.StatusNotFound)
		}
	}
	strangers["GET /fhir/R4/Group"] = func(t *testing.T, south *caller, id string) {
		groupOf(south, "GET /fhir/R4/Group", id)
		if r := south.get(fhirBase + "/Group").is(http.StatusOK); r.json()["total"] != 0.0 {
			t.Errorf("%s", r.body)
		}
	}
	strangers["POST /fhir/R4/Group"] = func(t *testing.T, south *caller, id string) {
		south.post(fhirBase+"/Group", groupBody("Theirs", id), "Content-Type", "application/fhir+json").is(http.StatusUnprocessableEntity)
	}
	strangers["GET /fhir/R4/Group/{id}"] = func(t *testing.T, south *caller, id string) {
		south.get(fhirBase + "/Group/" + groupOf(south, "GET /fhir/R4/Group/{id}", id)).is(http.StatusNotFound)
	}
	strangers["GET /fhir/bulk/{id}"] = func(t *testing.T, south *caller, _ string) {
		south.get(bulkPath + "/" + bulkOf(south, "GET /fhir/bulk/{id}")).is(http.StatusNotFound)
	}
	strangers["DELETE /fhir/bulk/{id}"] = func(t *testing.T, south *caller, _ string) {
		south.send("DELETE", bulkPath+"/"+bulkOf(south, "DELETE /fhir/bulk/{id}"), "").is(http.StatusNotFound)
	}
	strangers["GET /fhir/bulk/{id}/{name}"] = func(t *testing.T, south *caller, _ string) {
		south.get(bulkPath + "/" + bulkOf(south, "GET /fhir/bulk/{id}/{name}") + "/Patient.1.ndjson").is(http.StatusNotFound)
	}
}
