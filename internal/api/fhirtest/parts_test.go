package fhirtest

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func init() {
	tests["parts"] = testParts
	tests["retracted parts"] = testRetractedParts
	tests["other resources"] = testOtherResources
}

// inError returns a resource that was entered in error.
func inError(resource string) string {
	for _, status := range []string{"final", "amended"} {
		resource = strings.Replace(resource, `"status":"`+status+`"`, `"status":"entered-in-error"`, 1)
	}
	return resource
}

// putting returns an entry of a transaction that updates a resource.
func putting(path, resource string) string {
	return `{"resource":` + resource + `,"request":{"method":"PUT","url":"` + path + `"}}`
}

func transaction(entries ...string) string {
	return `{"resourceType":"Bundle","type":"transaction","entry":[` + strings.Join(entries, ",") + `]}`
}

// Who follows changes learns that a vital sign was retracted, whether through
// FHIR or by a correction in /v1, and that of an assessment only the score was
// left.
func testRetractedParts(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(`{"name":"Ada","date_of_birth":"1970-05-17"}`)
	vitals := c.record(p, `{"data_type":"vitals","recorded_at":"2026-01-15T10:00:00Z","value":{"systolic":120,"diastolic":80,"heart_rate":70,"weight_kg":80}}`)
	at := base + "/Observation/" + vitals
	c.send("PUT", at+"-bp", inError(string(c.get(at+"-bp").is(http.StatusOK).body))).is(http.StatusOK)
	latest := strings.TrimPrefix(c.get("/v1/patients/pat_" + p + "/clinical-data").is(http.StatusOK).json()["data"].([]any)[0].(map[string]any)["id"].(string), "rec_")
	c.send("POST", "/v1/patients/pat_"+p+"/clinical-data/rec_"+latest+"/corrections", `{"value":{"heart_rate":71},"reason":"scales"}`).is(http.StatusCreated)
	retracted := []string{"Observation/" + vitals + "-bp", "Observation/" + vitals + "-weight"}
	for _, query := range []string{"Observation?status=entered-in-error", "Observation?patient=" + p + "&status=entered-in-error", "Observation?patient=" + p + "&_lastUpdated=ge2026-01-01&status=entered-in-error",
		"Observation?_id=" + vitals + "-bp," + vitals + "-weight", "Observation?status=entered-in-error&_sort=date"} {
		if got := c.search(query); !slices.Equal(slices.Sorted(slices.Values(got.ids)), retracted) {
			t.Errorf("%s: %v, want %v", query, got.ids, retracted)
		}
	}
	for query, want := range map[string]int{"Observation?_lastUpdated=ge2026-01-01": 3, "Observation": 1, "Observation?status=amended": 1, "Patient/" + p + "/$everything?_since=2026-01-01&_type=Observation": 3, "Patient/" + p + "/$everything?_type=Observation": 1} {
		got := c.search(query)
		if len(got.ids) != want {
			t.Errorf("%s: %v", query, got.ids)
		}
		for _, r := range got.entries { // as when it is read
			read := c.get(base + "/Observation/" + r["id"].(string)).is(http.StatusOK).json()
			if !reflect.DeepEqual(r, read) {
				t.Errorf("%s: %v, read %v", query, r, read)
			}
		}
	}
	if got := c.search("Observation?_lastUpdated=lt2026-01-01"); len(got.ids) != 0 {
		t.Errorf("%v", got.ids)
	}
}

// A vital sign that was entered in error is removed from its record; the others
// stay.
func testParts(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(`{"name":"Ada","date_of_birth":"1970-05-17"}`)
	id := c.record(p, `{"data_type":"vitals","recorded_at":"2026-01-15T10:00:00Z","notes":"sitting","value":{"systolic":120,"diastolic":80,"heart_rate":70,"weight_kg":80}}`)
	at := base + "/Observation/" + id
	read := func(part string) string { return string(c.get(at + part).is(http.StatusOK).body) }
	pressure := inError(read("-bp"))
	c.send("PUT", at+"-bp", pressure).is(http.StatusOK).says("entered-in-error").says(`"versionId":"2"`)
	c.get(at + "-bp").is(http.StatusOK).says("entered-in-error").says(`"versionId":"2"`)
	c.get(at + "-bp/_history").is(http.StatusOK).says(`"total":2`)
	c.get(at + "-hr").is(http.StatusOK).says("amended").says(`"value":70`)
	c.get("/v1/patients/pat_" + p + "/clinical-data").is(http.StatusOK).says(`"heart_rate":70`).says(`"weight_kg":80`).says("sitting")
	if got := c.search("Observation?patient=" + p); len(got.ids) != 2 {
		t.Errorf("%v", got.ids)
	}
	c.send("PUT", at+"-bp", pressure).is(http.StatusConflict)
	// One part in error and another that is changed, in any order; then the last.
	rate := strings.Replace(read("-hr"), `"value":70`, `"value":71`, 1)
	c.send("POST", base, transaction(putting("Observation/"+id+"-hr", rate), putting("Observation/"+id+"-weight", inError(read("-weight"))))).is(http.StatusOK)
	c.get(at + "-weight").is(http.StatusOK).says("entered-in-error")
	c.get(at + "-hr").is(http.StatusOK).says(`"value":71`).says("amended")
	c.send("PUT", at+"-hr", inError(read("-hr"))).is(http.StatusOK)
	c.get(at + "-hr").is(http.StatusOK).says("entered-in-error")
	if got := c.search("Observation?patient=" + p); len(got.ids) != 0 {
		t.Errorf("%v", got.ids)
	}
	// All parts at once.
	id = c.record(p, `{"data_type":"vitals","value":{"heart_rate":70,"weight_kg":80}}`)
	at = base + "/Observation/" + id
	c.send("POST", base, transaction(putting("Observation/"+id+"-hr", inError(read("-hr"))), putting("Observation/"+id+"-weight", inError(read("-weight"))))).is(http.StatusOK)
	if got := c.search("Observation?patient=" + p); len(got.ids) != 0 {
		t.Errorf("%v", got.ids)
	}
	// The answers and their score are one record.
	id = c.record(p, `{"data_type":"assessments","value":{"instrument":"phq_9","items":{"1":2,"2":2,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":0}}}`)
	answers := string(c.get(base + "/QuestionnaireResponse/" + id).is(http.StatusOK).body)
	c.send("POST", base, transaction(putting("QuestionnaireResponse/"+id, answers), putting("Observation/"+id, inError(string(c.get(base+"/Observation/"+id).is(http.StatusOK).body))))).
		is(http.StatusUnprocessableEntity).says("Bundle.entry[1].resource.status")
}

// An update must be about what the resource with the id is about.
func testOtherResources(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(`{"name":"Ada","date_of_birth":"1970-05-17"}`)
	id := c.record(p, `{"data_type":"vitals","value":{"systolic":120,"diastolic":80,"heart_rate":70}}`)
	path := base + "/Observation/" + id
	rate := string(c.get(path + "-hr").is(http.StatusOK).body)
	as := func(part string) string { return strings.Replace(rate, `"id":"`+id+`-hr"`, `"id":"`+id+part+`"`, 1) }
	c.send("PUT", path, as("")).is(http.StatusNotFound)
	c.send("PUT", path+"-weight", as("-weight")).is(http.StatusNotFound)
	c.send("PUT", path+"-bp", as("-bp")).is(http.StatusUnprocessableEntity).says("Observation.code")
	c.get("/v1/patients/pat_" + p + "/clinical-data").is(http.StatusOK).says(`"systolic":120`).says(`"heart_rate":70`)

	number := `"identifier":[{"system":"http://lab.example/id","value":"S1"}],"status"`
	query := base + "/Observation?identifier=" + escape("http://lab.example/id|S1")
	alone := strings.NewReplacer(`"status"`, number).Replace(score(p, "7"))
	first := c.send("PUT", query, alone).is(http.StatusCreated).id()
	weight := strings.NewReplacer("72514-3", "29463-7", "{score}", "kg").Replace(alone)
	c.send("PUT", query, weight).is(http.StatusUnprocessableEntity).says("Observation.code")
	c.get(base + "/Observation/" + first).is(http.StatusOK).says(`"value":7`)

	id = c.record(p, `{"data_type":"medications","value":{"name":"Ibuprofen","dose":400,"dose_unit":"mg","frequency":"daily"}}`)
	order := string(c.get(base + "/MedicationRequest/" + id).is(http.StatusOK).body)
	statement := `{"resourceType":"MedicationStatement","id":"` + id + `","status":"active","subject":{"reference":"Patient/` + p + `"},"medicationCodeableConcept":{"text":"Ibuprofen"},"dateAsserted":"2026-01-15T10:00:00Z"}`
	c.send("PUT", base+"/MedicationStatement/"+id, statement).is(http.StatusNotFound)
	if again := string(c.get(base + "/MedicationRequest/" + id).is(http.StatusOK).body); again != order {
		t.Errorf("%s, was %s", again, order)
	}
}
