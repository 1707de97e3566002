package fhirtest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func init() { tests["replay"] = testReplay }

// A repeated request with the same key has the same response, also if it would
// be rejected now, and the audit log names the patients that it shows.
func testReplay(t *testing.T, s *server) {
	c := s.caller(t, "north")
	twice := func(path, body, key string) *reply {
		t.Helper()
		first := c.send("POST", path, body, "Idempotency-Key", key, "Prefer", "return=representation")
		again := c.send("POST", path, body, "Idempotency-Key", key, "Prefer", "return=representation")
		if again.status != first.status || string(again.body) != string(first.body) || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s: first %d %s, then %d %s", first.what, first.status, first.body, again.status, again.body)
		}
		return first
	}
	p := twice(base+"/Patient", berta, "patient").is(http.StatusCreated).id()
	made := twice(base, `{"resourceType":"Bundle","type":"transaction","entry":[`+
		`{"fullUrl":"urn:uuid:1","resource":`+strings.Replace(berta, `"77"`, `"78"`, 1)+`,"request":{"method":"POST","url":"Patient"}},`+
		`{"resource":`+strings.Replace(score("x", "7"), "Patient/x", "urn:uuid:1", 1)+`,"request":{"method":"POST","url":"Observation"}}]}`, "create").is(http.StatusOK)
	var ids []string
	for _, e := range made.json()["entry"].([]any) {
		ids = append(ids, e.(map[string]any)["resource"].(map[string]any)["id"].(string))
	}
	q, rec := ids[0], ids[1]
	// The second time, the version is another.
	byIdentifier := strings.Replace(score("x", "6"), "Patient/x", "Patient?identifier=http://north.example/mrn|78", 1)
	update := `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":` + withID(byIdentifier, rec) +
		`,"request":{"method":"PUT","url":"Observation/` + rec + `","ifMatch":"W/\"1\""}}]}`
	twice(base, update, "update").is(http.StatusOK).says(`W/\"2\"`)
	// A token that may not read the resources gets the rest of the response.
	writer := c.asking("system/Observation.cu system/Patient.s")
	blind := writer.send("POST", base, update, "Idempotency-Key", "update", "Prefer", "return=representation").is(http.StatusOK).says(`W/\"2\"`).says(`"200 OK"`)
	if strings.Contains(string(blind.body), `"resource":`) || blind.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("a token without read access gets %s", blind.body)
	}

	want := []string{"clinical_data.read pat_" + q, "clinical_data.read pat_" + q, "clinical_data.read pat_" + q, "patient.read pat_" + p, "patient.read pat_" + q}
	slices.Sort(want)
	var got []string
	testwait.Until(t, "audit lines of reads", func() bool {
		storetest.Ship(t, s.store)
		got = nil
		for _, one := range c.get("/v1/audit?limit=100").is(http.StatusOK).json()["data"].([]any) {
			line := one.(map[string]any)
			if action := line["action"].(string); strings.HasSuffix(action, ".read") && line["resource"] != nil && strings.HasPrefix(line["resource"].(string), "pat_") {
				got = append(got, action+" "+line["resource"].(string))
			}
		}
		return len(got) >= len(want)
	})
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("reads %v, want %v", got, want)
	}
}
