package fhirtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhir/search"
	"anodyne.example/anodyne/internal/store/storetest"
)

// badRequests is how many bad resources and searches are sent to SQLite. Of
// these, PostgreSQL and a run with -short get a tenth.
const badRequests = 5000

func init() { tests["bad resources and searches"] = testBad }

// Every bad resource and search is refused with an OperationOutcome that names
// the element or parameter.
func testBad(t *testing.T, s *server) {
	c, other := s.caller(t, "north"), s.caller(t, "south")
	p := c.patient(`{"name":"Berta Finch","date_of_birth":"1970-05-17"}`)
	theirs := other.patient(`{"name":"Arlo Finch","date_of_birth":"1970-05-17","identifiers":[{"system":"http://south.example/mrn","value":"1"}]}`)
	good := goodResources(p)
	for resourceType, body := range good {
		c.send("POST", base+"/"+resourceType, body).is(http.StatusCreated)
	}
	list := badResources(t, good)
	rest := slices.Concat(badSubjects(s.url, good, p, theirs), badBodies(good), badSearches())
	list = append(every(list, badRequests-len(rest)), rest...)
	if len(list) != badRequests {
		t.Fatalf("%d requests", len(list))
	}
	if s.store.Engine() == storetest.Postgres || testing.Short() {
		list = every(list, badRequests/10)
	}
	for _, b := range list {
		c.refused(&b)
	}
	c.search("Observation?patient=" + p) // it is none the worse for it
}

// every returns n elements of a list, in even distances.
func every[T any](list []T, n int) (some []T) {
	for i := range min(n, len(list)) {
		some = append(some, list[i*len(list)/n])
	}
	return some
}

// refused sends a bad request, without a connection.
func (c *caller) refused(b *bad) {
	c.t.Helper()
	request := httptest.NewRequest(b.method, base+b.path, strings.NewReader(b.body))
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/fhir+json")
	for i := 0; i < len(b.header); i += 2 {
		request.Header.Set(b.header[i], b.header[i+1])
	}
	recorder := httptest.NewRecorder()
	c.server.handler.ServeHTTP(recorder, request)
	r := &reply{t: c.t, what: b.method + " " + b.path, status: recorder.Code, header: recorder.Header(), body: recorder.Body.Bytes()}
	if r.status < 400 || r.status >= 500 || r.status == http.StatusTooManyRequests || r.status == http.StatusUnauthorized {
		c.t.Errorf("%s: %d %.300s\nof %.600s", r.what, r.status, r.body, b.body)
		return
	}
	r.isOutcome()
	var outcome struct {
		Issue []struct{ Expression []string }
	}
	if err := json.Unmarshal(r.body, &outcome); err != nil {
		c.t.Fatal(err)
	}
	for _, issue := range outcome.Issue {
		if slices.Contains(issue.Expression, b.at) {
			return
		}
	}
	c.t.Errorf("%s: no issue is about %s: %.600s\nof %.600s", r.what, b.at, r.body, b.body)
}

// goodResources has a resource of each type about a patient.
func goodResources(patient string) map[string]string {
	subject := `"subject":{"reference":"Patient/` + patient + `"}`
	return map[string]string{
		"AdverseEvent":          `{"resourceType":"AdverseEvent","actuality":"actual",` + subject + `,"event":{"text":"Nausea"},"date":"2024-03-04"}`,
		"Condition":             `{"resourceType":"Condition",` + subject + `,"code":{"text":"Low back pain"}}`,
		"DocumentReference":     `{"resourceType":"DocumentReference","status":"current",` + subject + `,"date":"2024-03-04T10:20:30Z","type":{"coding":[{"system":"http://loinc.org","code":"11506-3"}]},"content":[{"attachment":{"contentType":"text/plain","data":"eA=="}}]}`,
		"MedicationRequest":     `{"resourceType":"MedicationRequest","status":"active","intent":"order",` + subject + `,"authoredOn":"2024-03-04","medicationCodeableConcept":{"text":"gabapentin 300 mg capsule"}}`,
		"MedicationStatement":   `{"resourceType":"MedicationStatement","status":"active",` + subject + `,"dateAsserted":"2024-03-04","medicationCodeableConcept":{"text":"gabapentin 300 mg capsule"}}`,
		"Observation":           score(patient, "4"),
		"Patient":               `{"resourceType":"Patient","name":[{"text":"Ada Nowak"}],"birthDate":"1984-05-17"}`,
		"Procedure":             `{"resourceType":"Procedure","status":"completed",` + subject + `,"code":{"text":"Epidural injection"},"performedDateTime":"2024-03-04"}`,
		"QuestionnaireResponse": `{"resourceType":"QuestionnaireResponse","questionnaire":"http://loinc.org/q/44249-1","status":"completed",` + subject + `,"authored":"2024-03-04","item":[{"linkId":"/44250-9","answer":[{"valueInteger":1}]}]}`,
	}
}

// badResources makes faults of every element of every type: creates, updates,
// and entries of transactions.
func badResources(t *testing.T, good map[string]string) (list []bad) {
	for _, resourceType := range fhir.ResourceTypes() {
		if good[resourceType] == "" {
			t.Fatalf("no good %s", resourceType)
		}
		var of fields
		if err := json.Unmarshal([]byte(good[resourceType]), &of); err != nil {
			t.Fatal(err)
		}
		n := 0
		m := faultMaker{elementTable(t), func(body, at string) {
			switch n++; n % 4 {
			case 0:
				list = append(list, bad{"PUT", "/" + resourceType + "/01kqs8k920391hv6mjq73yn1tx", body, nil, at})
			case 1:
				bundle := `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":` + body + `,"request":{"method":"POST","url":"` + resourceType + `"}}]}`
				list = append(list, bad{"POST", "", bundle, nil, "Bundle.entry[0].resource" + strings.TrimPrefix(at, resourceType)})
			default:
				list = append(list, bad{"POST", "/" + resourceType, body, nil, at})
			}
		}}
		m.object(resourceType, resourceType, of, 2, func(o json.RawMessage) string { return string(o) })
	}
	return list
}

// badSubjects refers to patients that do not exist, among them one of another
// organisation.
func badSubjects(url string, good map[string]string, patient, theirs string) (list []bad) {
	own := `{"reference":"Patient/` + patient + `"}`
	for resourceType, body := range good {
		if resourceType == "Patient" {
			continue
		}
		for subject, at := range map[string]string{
			`{"reference":"Patient/` + theirs + `"}`:                                                        "",
			`{"reference":"` + url + base + `/Patient/` + theirs + `"}`:                                     "",
			`{"reference":"Patient/` + theirs + `/_history/1"}`:                                             "",
			`{"reference":"Patient?identifier=http://south.example/mrn|1"}`:                                 "",
			`{"identifier":{"system":"http://south.example/mrn","value":"1"}}`:                              "",
			`{"identifier":{"system":"https://anodyne.example/fhir/patient","value":"pat_` + theirs + `"}}`: "",
			`{"reference":"urn:uuid:01234567-89ab-cdef-0123-456789abcdef"}`:                                 "",
			`{"reference":"Group/` + patient + `"}`:                                                         "",
			`{"reference":"Patient/x"}`:                                                                     "",
			`{"reference":"#p"}`:                                                                            ".reference",
			`{"display":"Berta"}`:                                                                           ".reference",
		} {
			list = append(list, bad{"POST", "/" + resourceType, strings.Replace(body, own, subject, 1), nil, resourceType + ".subject" + at})
		}
	}
	return list
}

// badBodies are not resources at all, too large or too deep, or of another type.
func badBodies(good map[string]string) (list []bad) {
	for resourceType, body := range good {
		add := func(body, at string, header ...string) {
			list = append(list, bad{"POST", "/" + resourceType, body, header, at})
		}
		deep := strings.Repeat(`{"url":"urn:x","extension":[`, 20) + `{"url":"urn:x","valueCode":"x"}` + strings.Repeat(`]}`, 20)
		for _, wrong := range []string{
			"", " ", "null", "[]", `"x"`, "{", body[:len(body)-1], body + "x", body + body, "<Patient/>", strings.Replace(body, ":", "=", 1), strings.Replace(body, `"`, "'", 2),
			`{"resourceType":"` + resourceType + `",` + body[1:], strings.Replace(body, "{", `{"language":"en","language":"de",`, 1), strings.Replace(body, "{", "{\"language\":\"\xff\",", 1),
			strings.Replace(body, "{", `{"language":"\ud800",`, 1), strings.Replace(body, "{", `{"extension":[`+deep+`],`, 1), strings.Replace(body, "{", `{"x":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`,`, 1),
			strings.Replace(body, "{", "{"+strings.Repeat(" ", 1<<20), 1),
		} {
			add(wrong, resourceType)
		}
		add(`{}`, "resourceType")
		add(strings.Replace(body, `"`+resourceType+`"`, `7`, 1), "resourceType")
		add(strings.Replace(body, `"`+resourceType+`"`, `"<b>"`, 1), "resourceType")
		add(strings.Replace(body, `"`+resourceType+`"`, `"Device"`, 1), "Device")
		for _, media := range []string{"text/plain", "application/xml", "application/fhir+xml", "application/fhir+json; charset=latin1", "x", "multipart/form-data"} {
			add(body, "http.Content-Type", "Content-Type", media)
		}
		add(body, "http.If-None-Exist", "If-None-Exist", "name=x")
		add(body, "http.If-Match", "If-Match", `W/"1"`)
	}
	return list
}

// badSearches has wrong values, modifiers and names of every parameter.
func badSearches() (list []bad) {
	values := map[search.Kind][]string{
		search.Date:      {"x", "2024-13", "2024-02-30", "xx2024", "2024-01-01T25:00:00Z", "", "ge"},
		search.Token:     {"", "|", "a|b|c"},
		search.Reference: {"", "Group/1", "http://other.example/Patient/1", "a/b"},
		search.String:    {""},
	}
	for _, resourceType := range search.Types() {
		add := func(name, value string) {
			query := escape(name) + "=" + escape(value)
			strict := []string{"Prefer", "handling=strict"}
			list = append(list, bad{"GET", "/" + resourceType + "?" + query, "", strict, "http." + name},
				bad{"POST", "/" + resourceType + "/_search", query, append(strict, "Content-Type", "application/x-www-form-urlencoded"), "http." + name})
		}
		for _, p := range search.Parameters(resourceType) {
			for _, value := range values[p.Kind] {
				add(p.Name, value)
				if resourceType != "Patient" && slices.ContainsFunc(search.Parameters("Patient"), func(of search.Parameter) bool { return of.Name == p.Name }) {
					add("patient."+p.Name, value)
				}
			}
			add(p.Name+":missing", "perhaps")
			add(p.Name+":above", "x")
			add(p.Name+":", "x")
			add(p.Name+"s", "x")
			add(p.Name+".name.x", "x")
		}
		for name, value := range map[string]string{
			"_count": "-1", "_sort": "colour", "_include": resourceType + ":encounter", "_total": "maybe", "_summary": "text", "_cursor": "x", "_revinclude": "x", "_has:Observation:patient:code": "1", "_filter": "x", "colour": "red",
		} {
			add(name, value)
		}
	}
	return list
}
