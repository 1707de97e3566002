package fhirtest

import (
	"net/http"
	"strings"
	"testing"
)

func init() {
	tests["identifiers stay"] = testIdentifiersStay
	tests["overlaps"] = testOverlaps
	tests["condition version"] = testConditionVersion
}

// A conditional update leaves the identifier by which it found the patient.
func testIdentifiersStay(t *testing.T, s *server) {
	c := s.caller(t, "north")
	query := base + "/Patient?identifier=" + escape("http://north.example/mrn|9")
	body := `{"resourceType":"Patient","name":[{"family":"Finch"}],"birthDate":"1970-05-17"}`
	p := c.send("PUT", query, body).is(http.StatusCreated).id()
	for _, more := range []string{"", `"gender":"female",`, `"identifier":[{"use":"old","system":"http://south.example/mrn","value":"1"}],`, ""} {
		r := c.send("PUT", query, strings.Replace(body, `"name"`, more+`"name"`, 1)).is(http.StatusOK).says("http://north.example/mrn")
		if r.id() != p {
			t.Errorf("%s, want %s", r.body, p)
		}
	}
	c.get("/v1/patients/pat_" + p).is(http.StatusOK).says("http://north.example/mrn")
	if got := c.search("Patient?identifier=" + escape("http://north.example/mrn|9")); len(got.ids) != 1 {
		t.Errorf("%v", got.ids)
	}
}

// A transaction in which two entries write the same resource fails.
func testOverlaps(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.send("POST", base+"/Patient", berta).is(http.StatusCreated).id()
	rec := c.send("POST", base+"/Observation", strings.Replace(score(p, "7"), `"status"`, `"identifier":[{"system":"http://lab.example/id","value":"A1"}],"status"`, 1)).is(http.StatusCreated).id()
	known := strings.Replace(score(p, "5"), `"status"`, `"identifier":[{"system":"http://lab.example/id","value":"A1"}],"status"`, 1)
	once := func(resourceType, resource, condition string) string {
		return `{"resource":` + resource + `,"request":{"method":"POST","url":"` + resourceType + `","ifNoneExist":"` + condition + `"}}`
	}
	person := strings.Replace(berta, `"identifier":[{"system":"http://north.example/mrn","value":"77"}],`, "", 1)
	for name, entries := range map[string][]string{
		"a patient by id and identifier": {putting("Patient/"+p, withID(berta, p)), putting("Patient?identifier=http://north.example/mrn|77", strings.Replace(berta, "Lund", "Ystad", 1))},
		"a record by id and identifier":  {putting("Observation/"+rec, withID(score(p, "6"), rec)), putting("Observation?identifier=http://lab.example/id|A1", known)},
		"two new records":                {once("Observation", score(p, "6"), "identifier=http://lab.example/id|A2"), once("Observation", score(p, "6"), "identifier=http://lab.example/id|A2")},
		"two new patients":               {once("Patient", person, "identifier=http://north.example/mrn|78"), once("Patient", person, "identifier=http://north.example/mrn|78")},
	} {
		if r := c.send("POST", base, transaction(entries...)); r.status != 400 && r.status != 422 || !strings.Contains(string(r.body), "Bundle.entry[1].request") {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	if got := c.search("Observation?patient=" + p); len(got.ids) != 1 {
		t.Errorf("%v", got.ids)
	}
	// Conditional creates of what exists write nothing.
	c.send("POST", base, transaction(once("Patient", berta, "identifier=http://north.example/mrn|77"), once("Patient", berta, "identifier=http://north.example/mrn|77"))).is(http.StatusOK)
}

// An update of a Condition can be tied to its version.
func testConditionVersion(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(`{"name":"Ada","date_of_birth":"1970-05-17"}`)
	body := `{"resourceType":"Condition","subject":{"reference":"Patient/` + p + `"},"code":{"text":"Low back pain"}}`
	r := c.send("POST", base+"/Condition", body).is(http.StatusCreated)
	id, tag := r.id(), r.header.Get("ETag")
	changed := withID(strings.Replace(body, "Low", "Lower", 1), id)
	c.send("PUT", base+"/Condition/"+id, changed, "If-Match", `W/"99"`).is(http.StatusPreconditionFailed)
	entry := strings.Replace(putting("Condition/"+id, changed), `"method"`, `"ifMatch":"W/\"99\"","method"`, 1)
	c.send("POST", base, transaction(entry)).is(http.StatusPreconditionFailed)
	c.send("PUT", base+"/Condition/"+id, changed, "If-Match", tag).is(http.StatusOK).says("Lower")
}
