package fhirtest

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func init() {
	tests["create"] = testCreate
	tests["update"] = testUpdate
	tests["conditional"] = testConditional
	tests["many identifiers"] = testManyIdentifiers
	tests["repeated requests"] = testRepeatedRequests
	tests["conditions"] = testConditions
}

const berta = `{"resourceType":"Patient","identifier":[{"system":"http://north.example/mrn","value":"77"}],"name":[{"family":"Finch","given":["Berta"]}],` +
	`"birthDate":"1970-05-17","gender":"female","address":[{"city":"Lund"}],"maritalStatus":{"text":"married"}}`

// score is a pain score of a patient.
func score(patient, value string) string {
	return `{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"survey"}]}],` +
		`"code":{"coding":[{"system":"http://loinc.org","code":"72514-3"}]},"subject":{"reference":"Patient/` + patient + `"},"effectiveDateTime":"2026-01-15T10:00:00Z",` +
		`"valueQuantity":{"value":` + value + `,"unit":"{score}","system":"http://unitsofmeasure.org","code":"{score}"},"device":{"display":"diary"}}`
}

// withID adds the id to a resource.
func withID(resource, id string) string {
	return strings.Replace(resource, `,`, `,"id":"`+id+`",`, 1)
}

func testCreate(t *testing.T, s *server) {
	c := s.caller(t, "north")
	r := c.send("POST", base+"/Patient", berta).is(http.StatusCreated).says(`"city":"Lund"`).says("married")
	p := r.id()
	if got := r.header.Get("Location"); got != s.url+base+"/Patient/"+p+"/_history/1" || r.header.Get("ETag") != `W/"1"` || r.header.Get("Last-Modified") == "" {
		t.Errorf("%v", r.header)
	}
	if again := c.get(base + "/Patient/" + p).is(http.StatusOK); string(again.body) != string(r.body) {
		t.Errorf("read %s, created %s", again.body, r.body)
	}
	if v1 := c.get("/v1/patients/pat_" + p).is(http.StatusOK).json(); v1["name"] != "Berta Finch" {
		t.Errorf("%v", v1)
	}
	c.event("patient.created")
	c.get("/v1/audit?action=patient.create").is(http.StatusOK).says("pat_" + p)
	c.send("POST", base+"/Patient", berta).is(http.StatusConflict)
	first := c.send("POST", base+"/Observation", score(p, "7"), "Idempotency-Key", "k").is(http.StatusCreated).says(`"display":"diary"`)
	again := c.send("POST", base+"/Observation", score(p, "7"), "Idempotency-Key", "k").is(http.StatusCreated)
	if string(again.body) != string(first.body) || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("replayed %s", again.body)
	}
	c.send("POST", base+"/Observation", score(p, "6"), "Idempotency-Key", "k").is(http.StatusUnprocessableEntity)
	if got := c.search("Observation?patient=" + p); len(got.ids) != 1 {
		t.Errorf("%v", got.ids)
	}
	if r := c.send("POST", base+"/Observation", score(p, "5"), "Prefer", "return=minimal").is(http.StatusCreated); len(r.body) != 0 || r.header.Get("Location") == "" {
		t.Errorf("minimal: %s", r.body)
	}
	c.send("POST", base+"/Observation", score(p, "4"), "Prefer", "return=OperationOutcome").is(http.StatusCreated).says("OperationOutcome")
	for name, body := range map[string]string{
		"no patient":       score("01kf0k8y20a14c3emmv2g2jemj", "7"),
		"out of range":     score(p, "17"),
		"entered in error": strings.Replace(score(p, "7"), `"final"`, `"entered-in-error"`, 1),
		"a modifier":       strings.Replace(score(p, "7"), `"status"`, `"modifierExtension":[{"url":"http://x.example/not","valueBoolean":true}],"status"`, 1),
		"no such status":   strings.Replace(score(p, "7"), `"final"`, `"cancelled"`, 1),
	} {
		if r := c.send("POST", base+"/Observation", body); r.status != 422 && r.status != 400 {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		} else if !strings.Contains(string(r.body), `"expression":["Observation`) {
			t.Errorf("%s: no path in %s", name, r.body)
		}
	}
	c.send("POST", base+"/Observation", berta).is(http.StatusBadRequest).says("path")
}

func testUpdate(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.send("POST", base+"/Patient", berta).is(http.StatusCreated).id()
	path := base + "/Patient/" + p
	c.send("PUT", base+"/Patient/01kf0k8y20a14c3emmv2g2jemj", withID(berta, "01kf0k8y20a14c3emmv2g2jemj")).is(http.StatusNotFound)
	c.send("PUT", path, berta).is(http.StatusBadRequest).says("Patient.id")
	c.send("PUT", path, withID(berta, p), "If-Match", `W/"9"`).is(http.StatusPreconditionFailed)
	if r := c.send("PUT", path, withID(berta, p), "If-Match", `W/"1"`).is(http.StatusOK); r.header.Get("ETag") != `W/"1"` {
		t.Errorf("nothing changed, and the version is %s", r.header.Get("ETag"))
	}
	moved := strings.Replace(withID(berta, p), "Lund", "Malmö", 1)
	if r := c.send("PUT", path, moved).is(http.StatusOK).says("Malmö"); r.header.Get("ETag") != `W/"2"` {
		t.Errorf("kept elements changed, and the version is %s", r.header.Get("ETag"))
	}
	c.get(path, "If-None-Match", `W/"1"`).is(http.StatusOK).says("Malmö")
	if r := c.send("PUT", path, strings.Replace(moved, "Berta", "Bertha", 1)).is(http.StatusOK); r.header.Get("ETag") != `W/"3"` {
		t.Errorf("%v", r.header)
	}
	c.event("patient.updated")
	// A name changed through /v1 wins, and the address stays.
	c.send("PATCH", "/v1/patients/pat_"+p, `{"name":"Berta Lind"}`).is(http.StatusOK)
	c.get(path).is(http.StatusOK).says("Malmö").says(`"family":"Lind"`)

	rec := c.send("POST", base+"/Observation", score(p, "7")).is(http.StatusCreated).id()
	path = base + "/Observation/" + rec
	if r := c.send("PUT", path, withID(score(p, "6"), rec)).is(http.StatusOK).says(`"status":"amended"`); r.header.Get("ETag") != `W/"2"` || r.id() != rec {
		t.Errorf("%v %s", r.header, r.body)
	}
	if r := c.send("PUT", path, withID(score(p, "6"), rec)).is(http.StatusOK); r.header.Get("ETag") != `W/"2"` {
		t.Errorf("nothing changed, and the version is %s", r.header.Get("ETag"))
	}
	c.send("PUT", path, withID(score(p, "5"), rec), "If-Match", `W/"1"`).is(http.StatusPreconditionFailed)
	other := c.patient(`{"name":"Other","date_of_birth":"1970-05-17"}`)
	c.send("PUT", path, withID(score(other, "5"), rec)).is(http.StatusUnprocessableEntity).says("Observation.subject")
	wrong := strings.Replace(withID(score(p, "6"), rec), `"final"`, `"entered-in-error"`, 1)
	if r := c.send("PUT", path, wrong).is(http.StatusOK).says("entered-in-error"); r.header.Get("ETag") != `W/"3"` {
		t.Errorf("%v", r.header)
	}
	c.send("PUT", path, withID(score(p, "5"), rec)).is(http.StatusConflict)
	if list := c.get("/v1/patients/pat_" + p + "/clinical-data?include_inactive=true").is(http.StatusOK).json()["data"].([]any); len(list) != 2 {
		t.Errorf("%d records", len(list))
	}
}

func testConditional(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.send("POST", base+"/Patient", berta, "If-None-Exist", "identifier=http://north.example/mrn|77").is(http.StatusCreated).id()
	if again := c.send("POST", base+"/Patient", berta, "If-None-Exist", "identifier=http://north.example/mrn|77").is(http.StatusOK); again.id() != p {
		t.Errorf("%s", again.body)
	}
	c.send("POST", base+"/Patient", berta, "If-None-Exist", "name=x").is(http.StatusBadRequest)
	query := "?identifier=" + escape("http://lab.example/id|A1")
	body := strings.Replace(score(p, "7"), `"status"`, `"identifier":[{"system":"http://lab.example/id","value":"A1"}],"status"`, 1)
	rec := c.send("PUT", base+"/Observation"+query, body).is(http.StatusCreated).id()
	if r := c.send("PUT", base+"/Observation"+query, strings.Replace(body, `"value":7`, `"value":6`, 1)).is(http.StatusOK); r.id() != rec || r.header.Get("ETag") != `W/"2"` {
		t.Errorf("%v %s", r.header, r.body)
	}
	if r := c.send("POST", base+"/Observation", body, "If-None-Exist", "identifier=http://lab.example/id|A1").is(http.StatusOK); r.id() != rec {
		t.Errorf("%s", r.body)
	}
	if got := c.search("Observation?identifier=" + escape("http://lab.example/id|A1")); len(got.ids) != 1 || got.ids[0] != "Observation/"+rec {
		t.Errorf("%v", got.ids)
	}
	// Of parallel requests one creates the resource.
	var wg sync.WaitGroup
	created := make(chan int, 8)
	fresh := strings.ReplaceAll(body, `"A1"`, `"B1"`)
	for range cap(created) {
		wg.Go(func() {
			created <- c.send("PUT", base+"/Observation?identifier="+escape("http://lab.example/id|B1"), fresh).status
		})
	}
	wg.Wait()
	close(created)
	news := 0
	for status := range created {
		if status == http.StatusCreated {
			news++
		} else if status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	if got := c.search("Observation?identifier=" + escape("http://lab.example/id|B1")); news != 1 || len(got.ids) != 1 {
		t.Errorf("%d created, %v found", news, got.ids)
	}
}

// testManyIdentifiers sends identifiers that are too long, or too many, to find
// resources by them.
func testManyIdentifiers(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(`{"name":"Ada","date_of_birth":"1970-05-17"}`)
	with := func(list ...string) *reply {
		return c.send("POST", base+"/Observation", strings.Replace(score(p, "7"), `"status"`, `"identifier":[`+strings.Join(list, ",")+`],"status"`, 1))
	}
	one := func(system, value string) string { return `{"system":"` + system + `","value":"` + value + `"}` }
	long := strings.Repeat("x", 200)
	with(one(long, long)).is(http.StatusCreated)
	with(one("http://lab.example/id", "1"), one("http://lab.example/id", long+"x")).is(http.StatusUnprocessableEntity).says("Observation.identifier[1].value")
	with(one(long+"x", "1")).is(http.StatusUnprocessableEntity).says("Observation.identifier[0].system")
	var many []string
	for i := range 21 {
		many = append(many, one("http://lab.example/id", strconv.Itoa(i)))
	}
	with(many[1:]...).is(http.StatusCreated)
	with(many...).is(http.StatusUnprocessableEntity).says("Observation.identifier")
}

// testRepeatedRequests repeats requests with an Idempotency-Key.
func testRepeatedRequests(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(`{"name":"Ada","date_of_birth":"1970-05-17"}`)
	group := `{"resourceType":"Group","type":"person","actual":true,"name":"Some","member":[{"entity":{"reference":"Patient/` + p + `"}}]}`
	batch := func(value string) string {
		return `{"resourceType":"Bundle","type":"batch","entry":[{"resource":` + score(p, value) + `,"request":{"method":"POST","url":"Observation"}}]}`
	}
	key := strings.Repeat("k", 255)
	for _, request := range []struct{ path, body, other, result string }{
		{base + "/Group", group, strings.Replace(group, "Some", "Others", 1), "Location"},
		{base + "/$export?_type=Patient", `{"resourceType":"Parameters"}`, `{"resourceType":"Parameters","parameter":[{"name":"_type","valueString":"Patient"}]}`, "Content-Location"},
	} {
		first := c.send("POST", request.path, request.body, "Idempotency-Key", key, "Prefer", "respond-async")
		again := c.send("POST", request.path, request.body, "Idempotency-Key", key, "Prefer", "respond-async")
		if first.status/100 != 2 || again.status != first.status || string(again.body) != string(first.body) || again.header.Get(request.result) != first.header.Get(request.result) || first.header.Get(request.result) == "" || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%d %v %s, then %d %v %s", first.status, first.header, first.body, again.status, again.header, again.body)
		}
		c.send("POST", request.path, request.other, "Idempotency-Key", key, "Prefer", "respond-async").is(http.StatusUnprocessableEntity)
	}
	c.send("POST", base+"/$export?_type=Observation", `{"resourceType":"Parameters"}`, "Idempotency-Key", key, "Prefer", "respond-async").is(http.StatusUnprocessableEntity)
	for range 2 {
		c.send("POST", base, batch("3"), "Idempotency-Key", key).is(http.StatusOK).says(`"201 Created"`)
		if got := c.search("Observation?patient=" + p); len(got.ids) != 1 {
			t.Errorf("a batch that was repeated stored %v", got.ids)
		}
	}
	// Keys that begin alike are different.
	c.send("POST", base, batch("4"), "Idempotency-Key", key[1:]+"l").is(http.StatusOK).says(`"201 Created"`)
	c.send("POST", base, batch("5"), "Idempotency-Key", key+"k").is(http.StatusBadRequest)
}

// Conditions are the medical history of their patient.
func testConditions(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(`{"name":"Ada","date_of_birth":"1970-05-17"}`)
	body := `{"resourceType":"Condition","subject":{"reference":"Patient/` + p + `"},"code":{"coding":[{"system":"http://hl7.org/fhir/sid/icd-10-cm","code":"M54.5"}],"text":"Low back pain"},` +
		`"clinicalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/condition-clinical","code":"active"}]},"recorder":{"display":"Dr. Berg"}}`
	id := c.send("POST", base+"/Condition", body).is(http.StatusCreated).says("Dr. Berg").id()
	c.get("/v1/patients/pat_" + p).is(http.StatusOK).says(`"icd10_code":"M54.5"`)
	c.get(base + "/Condition/" + id).is(http.StatusOK).says("Dr. Berg")
	changed := c.send("PUT", base+"/Condition/"+id, withID(strings.Replace(body, `"active"`, `"resolved"`, 1), id)).is(http.StatusOK).says("resolved")
	if changed.id() != id {
		t.Errorf("the id became %s", changed.id())
	}
	c.get(base + "/Condition/" + id).is(http.StatusOK).says("resolved").says("Dr. Berg")
	if got := c.search("Condition?patient=" + p); len(got.ids) != 1 || got.ids[0] != "Condition/"+id {
		t.Errorf("%v", got.ids)
	}
	c.send("PUT", base+"/Condition/"+p+"-0000", withID(body, p+"-0000")).is(http.StatusNotFound)
}
