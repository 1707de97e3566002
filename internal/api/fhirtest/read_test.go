package fhirtest

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

func init() {
	tests["frame"] = testFrame
	tests["read"] = testRead
	tests["versions"] = testVersions
	tests["merged"] = testMerged
}

const ada = `{"name":"Ada Lindqvist","date_of_birth":"1968-04-02","gender":"female","identifiers":[{"system":"http://north.example/mrn","value":"10422"}],` +
	`"medical_history":[{"condition":"Low back pain","icd10_code":"M54.5"}],"contact":{"email":"ada@example.org"}}`

// Errors of every kind are OperationOutcomes, and what is not JSON is refused.
func testFrame(t *testing.T, s *server) {
	c, none := s.caller(t, "north"), &caller{t: t, server: s}
	for _, path := range []string{"", "/", "/Patient", "/Patient/x", "/Nothing", "//x", "/../x", "/Patient/x/_history/1", "/Patient/x/$everything"} {
		none.send("GET", base+path, "").is(http.StatusUnauthorized)
	}
	none.get(base + "/metadata").is(http.StatusOK).says(`"fhirVersion":"4.0.1"`).says(`[{"url":"token","valueUri":"` + s.url + `/oauth/token"}]`)
	for path, status := range map[string]int{
		"/Nothing": 404, "/Nothing/1": 404, "/Patient/x": 404, "/Patient/01kf0k8y20a14c3emmv2g2jemj": 404, "/Observation/01kf0k8y20a14c3emmv2g2jemj": 404,
		"/Patient/01kf0k8y20a14c3emmv2g2jemj/_history": 404, "/Patient/01kf0k8y20a14c3emmv2g2jemj/$everything": 404, "/a/b/c/d/e": 404, "/Patient?_count=x": 400,
		"/MedicationStatement": 200, "/Questionnaire/x": 404, "/Questionnaire/phq-9/_history/1": 404,
	} {
		c.get(base + path).is(status)
	}
	c.send("DELETE", base+"/Patient", "").is(http.StatusMethodNotAllowed)
	c.send("POST", base+"/Patient", "{").is(http.StatusBadRequest)
	c.send("POST", base+"/Patient", "{}", "Content-Type", "text/plain").is(http.StatusUnsupportedMediaType)
	c.send("POST", base+"/Patient", strings.Repeat(" ", 1<<21)).is(http.StatusRequestEntityTooLarge)
	for _, accept := range []string{"application/fhir+xml", "application/fhir+json; fhirVersion=3.0", "text/turtle"} {
		c.get(base+"/Patient", "Accept", accept).is(http.StatusNotAcceptable)
	}
	c.get(base + "/Patient?_format=xml").is(http.StatusNotAcceptable)
	for _, accept := range []string{"application/fhir+json", "application/json;q=0.9", "*/*", "text/html, application/xml;q=0.9, */*;q=0.8"} {
		if got := c.get(base+"/Patient", "Accept", accept).is(http.StatusOK).header.Get("Content-Type"); got != "application/fhir+json; charset=utf-8" {
			t.Errorf("%s: %s", accept, got)
		}
	}
	c.get(base + "/Patient?_format=application/fhir%2Bjson&_pretty=true").is(http.StatusOK).says("\n  ")
	poor := s.caller(t, "north", access.PatientsRead)
	poor.get(base + "/Patient").is(http.StatusOK)
	poor.get(base + "/Observation").is(http.StatusForbidden).says("system/Observation.s")
	poor.send("POST", base+"/Patient", "{}").is(http.StatusForbidden)
	s.caller(t, "north", access.ClinicalDataRead).get(base + "/Observation?_include=Observation:patient").is(http.StatusForbidden)
}

func testRead(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(ada)
	r := c.get(base + "/Patient/" + p).is(http.StatusOK).says(`"family":"Lindqvist"`)
	if r.header.Get("ETag") != `W/"1"` || r.header.Get("Last-Modified") == "" || r.id() != p {
		t.Errorf("%v %s", r.header, r.body)
	}
	c.get(base+"/Patient/"+p, "If-None-Match", `W/"1"`).is(http.StatusNotModified)
	c.get(base+"/Patient/"+p, "If-None-Match", `W/"2"`).is(http.StatusOK)
	c.get(base + "/Patient/" + strings.ToUpper(p)).is(http.StatusNotFound)
	if head := c.send("HEAD", base+"/Patient/"+p, "").is(http.StatusOK); len(head.body) > 0 || head.header.Get("ETag") == "" {
		t.Errorf("HEAD: %v", head.header)
	}
	c.get(base + "/Patient/" + p + "/_history/1").is(http.StatusOK)
	c.get(base + "/Patient/" + p + "/_history/2").is(http.StatusNotFound)
	if parts := c.get(base + "/Patient/" + p + "?_elements=birthDate").is(http.StatusOK).says("SUBSETTED").json(); parts["birthDate"] == nil || parts["telecom"] != nil {
		t.Errorf("elements: %v", parts)
	}
	conditions := c.search("Condition?patient=" + p)
	if len(conditions.ids) != 1 {
		t.Fatalf("conditions %v", conditions.ids)
	}
	c.get(base + "/" + conditions.ids[0]).is(http.StatusOK).says("M54.5")
	c.get(base + "/Patient/" + strings.TrimPrefix(conditions.ids[0], "Condition/")).is(http.StatusNotFound)
	c.get(base + "/Condition/" + p + "-0000000000000000").is(http.StatusNotFound)
}

// The versions of a record are its corrections, and a retraction.
func testVersions(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(ada)
	rec := c.record(p, `{"data_type":"pain_scores","value":{"score":7},"recorded_at":"2026-01-15T10:00:00Z"}`)
	path := base + "/Observation/" + rec
	second := c.send("POST", "/v1/patients/pat_"+p+"/clinical-data/rec_"+rec+"/corrections", `{"value":{"score":6}}`).is(http.StatusCreated).json()["id"].(string)
	if r := c.get(path).is(http.StatusOK).says(`"status":"amended"`); r.header.Get("ETag") != `W/"2"` {
		t.Errorf("%v", r.header)
	}
	c.get(base + "/Observation/" + strings.TrimPrefix(second, "rec_")).is(http.StatusNotFound)
	c.get(base + "/Procedure/" + rec).is(http.StatusNotFound)
	c.send("POST", "/v1/patients/pat_"+p+"/clinical-data/"+second+"/corrections", `{"entered_in_error":true,"reason":"wrong patient"}`).is(http.StatusCreated)
	for version, want := range map[string]string{"1": `"status":"final"`, "2": `"status":"amended"`, "3": `"status":"entered-in-error"`} {
		c.get(path + "/_history/" + version).is(http.StatusOK).says(want).says(`"versionId":"` + version + `"`)
	}
	history := c.get(path + "/_history").is(http.StatusOK).says(`"type":"history"`).bundle()
	if len(history.entries) != 3 || history.total != 3 || history.entries[0]["status"] != "entered-in-error" {
		t.Errorf("%v", history)
	}
	c.get(path).is(http.StatusOK).says("entered-in-error")
	if got := c.search("Observation?patient=" + p); len(got.ids) != 0 {
		t.Errorf("found what was entered in error: %v", got.ids)
	}
	for _, query := range []string{"status=entered-in-error", "_lastUpdated=gt2000", "_id=" + rec} {
		if got := c.search("Observation?patient=" + p + "&" + query); len(got.ids) != 1 {
			t.Errorf("%s: %v", query, got.ids)
		}
	}
}

func testMerged(t *testing.T, s *server) {
	c := s.caller(t, "north")
	from, into := c.patient(ada), c.patient(`{"name":"Ada Lindquist","date_of_birth":"1968-04-02"}`)
	rec := c.record(from, `{"data_type":"pain_scores","value":{"score":7}}`)
	c.send("POST", "/v1/patients/pat_"+from+"/merge", `{"into":"pat_`+into+`"}`).is(http.StatusOK)
	c.get(base + "/Patient/" + from).is(http.StatusGone).says("Patient/" + into)
	c.get(base + "/Patient/" + from + "/$everything").is(http.StatusGone)
	c.get(base+"/Observation/"+rec, "If-None-Match", `W/"1"`).is(http.StatusOK).says(`"Patient/` + into + `"`)
	if got := c.search("Observation?patient=" + from); len(got.ids) != 0 {
		t.Errorf("%v", got.ids)
	}
	if got := c.search("Observation?patient=" + into); len(got.ids) != 1 {
		t.Errorf("%v", got.ids)
	}
}
