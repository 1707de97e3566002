package fhirtest

import (
	"net/http"
	"strings"
	"testing"
)

func init() {
	tests["identifiers of updates"] = testIdentifiersOfUpdates
}

// An update without identifiers leaves those that the patient has; one with
// identifiers replaces them. Both ways to update agree.
func testIdentifiersOfUpdates(t *testing.T, s *server) {
	c := s.caller(t, "a")
	const bare = `{"resourceType":"Patient","id":"ID","name":[{"text":"Ada Nowak"}],"birthDate":"1984-05-17","active":true}`
	has := func(id string, want ...string) {
		t.Helper()
		fhir, v1 := string(c.get(base+"/Patient/"+id).is(http.StatusOK).body), string(c.get("/v1/patients/pat_"+id).is(http.StatusOK).body)
		for _, value := range []string{"M-1", "INS-2", "EXT-3", "NEW-4"} {
			wanted := strings.Contains(strings.Join(want, " "), value)
			if strings.Contains(fhir, `"`+value+`"`) != wanted || strings.Contains(v1, `"`+value+`"`) != wanted {
				t.Errorf("%s should be there: %v\n%s\n%s", value, wanted, fhir, v1)
			}
		}
	}
	for _, conditional := range []bool{false, true} {
		mrn := map[bool]string{true: "http://a.example/mrn", false: "http://b.example/mrn"}[conditional]
		id := c.patient(strings.NewReplacer("MRN", mrn, "IS", mrn+"/insurance", "EXT-S", mrn+"/external").Replace(`{"name":"Ada Nowak","date_of_birth":"1984-05-17","gender":"female","identifiers":[` +
			`{"system":"MRN","value":"M-1"},{"system":"IS","value":"INS-2"},{"system":"EXT-S","value":"EXT-3"}]}`))
		put := func(body string) *reply {
			t.Helper()
			if conditional {
				return c.send("PUT", base+"/Patient?identifier="+escape(mrn+"|M-1"), strings.Replace(body, `"id":"ID",`, "", 1)).is(http.StatusOK)
			}
			return c.send("PUT", base+"/Patient/"+id, strings.Replace(body, "ID", id, 1)).is(http.StatusOK)
		}
		with := func(identifiers string) string {
			return strings.TrimSuffix(bare, "}") + `,"identifier":[` + identifiers + `]}`
		}
		for range 2 { // the second changes nothing
			if r := put(bare).says("INS-2"); r.header.Get("ETag") != `W/"2"` {
				t.Errorf("%s: %s", r.what, r.header.Get("ETag"))
			}
			has(id, "M-1", "INS-2", "EXT-3")
		}
		c.send("PATCH", "/v1/patients/pat_"+id, `{"identifiers":[{"system":"`+mrn+`","value":"M-1"},{"system":"new","value":"NEW-4"}]}`).is(http.StatusOK)
		has(id, "M-1", "NEW-4")
		put(with(`{"system":"` + mrn + `/insurance","value":"INS-2"}`))
		if conditional { // it must be found again
			has(id, "M-1", "INS-2")
		} else {
			has(id, "INS-2")
		}
		put(with(`{"system":"https://anodyne.example/fhir/patient","value":"pat_` + id + `"}`))
		if conditional {
			has(id, "M-1")
		} else {
			has(id)
		}
		bundle := `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":` + strings.Replace(bare, "ID", id, 1) + `,"request":{"method":"PUT","url":"Patient/` + id + `"}}]}`
		c.send("PATCH", "/v1/patients/pat_"+id, `{"gender":"male","identifiers":[{"system":"new`+mrn+`","value":"NEW-4"}]}`).is(http.StatusOK)
		c.send("POST", base, bundle).is(http.StatusOK)
		has(id, "NEW-4")
	}
}
