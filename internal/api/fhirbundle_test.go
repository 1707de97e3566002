package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

func init() {
	strangers["POST /fhir/R4"] = func(t *testing.T, south *caller, id string) {
		ulid := strings.TrimPrefix(id, "pat_")
		for _, entry := range []string{
			`{"resource":{"resourceType":"Condition","subject":{"reference":"Patient/ID"},"code":{"text":"Pain"}},"request":{"method":"POST","url":"Condition"}}`,
			`{"resource":{"resourceType":"Patient","id":"ID","name":[{"text":"Taken"}],"birthDate":"1961-03-14"},"request":{"method":"PUT","url":"Patient/ID"}}`,
			`{"request":{"method":"GET","url":"Patient/ID"}}`,
		} {
			for _, kind := range []string{"batch", "transaction"} {
				r := south.post(fhirBase, `{"resourceType":"Bundle","type":"`+kind+`","entry":[`+strings.ReplaceAll(entry, "ID", ulid)+`]}`)
				if r.status == http.StatusOK && !strings.Contains(string(r.body), `"status":"4`) {
					t.Errorf("%s: %s", r.what, r.body)
				}
			}
		}
	}
}

// bundleOf returns a Bundle with entries.
func bundleOf(kind string, entries ...string) string {
	return `{"resourceType":"Bundle","type":"` + kind + `","entry":[` + strings.Join(entries, ",") + `]}`
}

// posting returns an entry that creates a resource.
func posting(fullURL, resource string) string {
	var r struct {
		ResourceType string `json:"resourceType"`
	}
	if err := json.Unmarshal([]byte(resource), &r); err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"fullUrl":%q,"resource":%s,"request":{"method":"POST","url":%q}}`, fullURL, resource, r.ResourceType)
}

// responseBundle is the response to a Bundle.
type responseBundle struct {
	Type  string `json:"type"`
	Entry []struct {
		Resource json.RawMessage `json:"resource"`
		Response struct {
			Status       string          `json:"status"`
			Location     string          `json:"location"`
			Etag         string          `json:"etag"`
			LastModified string          `json:"lastModified"`
			Outcome      json.RawMessage `json:"outcome"`
		} `json:"response"`
	} `json:"entry"`
}

func responses(t *testing.T, r *reply) (b responseBundle) {
	t.Helper()
	if err := json.Unmarshal(r.body, &b); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return b
}

const (
	bundlePatient = `{"resourceType":"Patient","identifier":[{"system":"https://example.org/mrn","value":"77"}],"name":[{"text":"Ada Nowak"}],"birthDate":"1984-05-17"}`
	bundleScore   = `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"72514-3"}]},"subject":{"reference":"%s"},"effectiveDateTime":"2026-01-15T10:30:00Z","valueQuantity":{"value":%d,"unit":"{score}"},"hasMember":[{"reference":"%s"}]}`
)

func TestTransactionBundle(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("Bundles")
		score := func(subject string, value int, member string) string {
			return fmt.Sprintf(bundleScore, subject, value, member)
		}
		body := bundleOf("transaction",
			posting("urn:uuid:2", score("urn:uuid:1", 7, "urn:uuid:3")), posting("urn:uuid:1", bundlePatient), posting("urn:uuid:3", score("urn:uuid:1", 4, "urn:uuid:2")))
		first := c.post(fhirBase, body, "Idempotency-Key", "k").is(http.StatusOK)
		b := responses(t, first)
		if b.Type != "transaction-response" || len(b.Entry) != 3 {
			t.Fatalf("%s", first.body)
		}
		for i, e := range b.Entry {
			if e.Response.Status != "201 Created" || e.Response.Etag != `W/"1"` || e.Response.LastModified == "" || !strings.Contains(e.Response.Location, "/_history/1") || e.Resource != nil {
				t.Errorf("entry %d: %+v", i, e)
			}
		}
		if again := c.post(fhirBase, body, "Idempotency-Key", "k").is(http.StatusOK); string(again.body) != string(first.body) {
			t.Errorf("the same key: %s", again.body)
		}
		// References are rewritten, also in elements that are only kept.
		at := func(i int) string {
			_, rest, _ := strings.Cut(b.Entry[i].Response.Location, fhirBase+"/")
			path, _, _ := strings.Cut(rest, "/_history")
			return path
		}
		r := c.get(fhirBase + "/" + at(0)).is(http.StatusOK)
		if text := string(r.body); !strings.Contains(text, `"`+at(1)+`"`) || !strings.Contains(text, `"`+at(2)+`"`) || strings.Contains(text, "urn:uuid") {
			t.Errorf("%s", text)
		}
		// An update, a conditional create that finds the patient, a conditional
		// reference, and a read after the writes.
		id := strings.TrimPrefix(at(0), "Observation/")
		update := strings.Replace(score("Patient?identifier=https://example.org/mrn|77", 5, at(2)), `"status"`, `"id":"`+id+`","status"`, 1)
		done := responses(t, c.post(fhirBase, bundleOf("transaction",
			`{"request":{"method":"GET","url":"`+at(0)+`"}}`,
			`{"resource":`+update+`,"request":{"method":"PUT","url":"`+at(0)+`","ifMatch":"W/\"1\""}}`,
			`{"resource":`+bundlePatient+`,"request":{"method":"POST","url":"Patient","ifNoneExist":"identifier=https://example.org/mrn|77"}}`), "Prefer", "return=representation").is(http.StatusOK))
		if len(done.Entry) != 3 || done.Entry[0].Response.Status != "200 OK" || !strings.Contains(string(done.Entry[0].Resource), `"versionId":"2"`) ||
			done.Entry[1].Response.Etag != `W/"2"` || !strings.Contains(done.Entry[2].Response.Location, at(1)) || done.Entry[2].Response.Status != "200 OK" {
			t.Errorf("%+v", done)
		}
	})
}

// Every problem of a transaction names its entry, and nothing is stored.
func TestTransactionProblems(t *testing.T) {
	n := start(t, "sqlite", nil)
	c := n.caller("Bundles")
	reader := n.caller("Bundles", access.PatientsRead)
	good := posting("urn:uuid:1", bundlePatient)
	for _, one := range []struct {
		entry, expression string
		status            int
	}{
		{posting("", fmt.Sprintf(bundleScore, "urn:uuid:1", 11, "x")), "Bundle.entry[1].resource.valueQuantity.value", http.StatusBadRequest},
		{posting("", fmt.Sprintf(bundleScore, "urn:uuid:9", 1, "x")), "Bundle.entry[1].resource.subject", http.StatusUnprocessableEntity},
		{posting("", `{"resourceType":"Claim"}`), "Bundle.entry[1].request.url", http.StatusNotFound},
		{`{"request":{"method":"DELETE","url":"Patient/1"}}`, "Bundle.entry[1].request.method", http.StatusMethodNotAllowed},
		{`{"request":{"method":"POST","url":"Patient"}}`, "Bundle.entry[1].resource", http.StatusBadRequest},
		{`{"resource":{"resourceType":"Patient"}}`, "Bundle.entry[1].request", http.StatusUnprocessableEntity},
		{posting("", bundlePatient), "Bundle.entry[1]", http.StatusConflict},
		{`{"resource":` + bundlePatient + `,"request":{"method":"POST","url":"Observation"}}`, "Bundle.entry[1].resource", http.StatusBadRequest},
	} {
		r := c.post(fhirBase, bundleOf("transaction", good, one.entry)).is(one.status)
		if !strings.Contains(string(r.body), `"`+one.expression+`"`) || !strings.Contains(string(r.body), "OperationOutcome") {
			t.Errorf("want %s: %s", one.expression, r.body)
		}
	}
	reader.post(fhirBase, bundleOf("transaction", good)).is(http.StatusForbidden)
	c.post(fhirBase, bundleOf("searchset", good)).is(http.StatusUnprocessableEntity)
	c.post(fhirBase, `{"resourceType":"Bundle","type":"transaction","entry":[`+strings.Repeat(`{},`, 5000)+`{}]}`).is(http.StatusRequestEntityTooLarge)
	if total := c.get("/v1/patients").json()["pagination"].(map[string]any)["total"]; total != 0.0 {
		t.Errorf("%v patients were stored", total)
	}
	// The entries of a batch are independent.
	b := responses(t, c.post(fhirBase, bundleOf("batch", posting("", `{"resourceType":"Patient"}`), good, `{"request":{"method":"GET","url":"Patient?name=nowak"}}`, `{"request":{"method":"GET","url":"../v1/patients"}}`)).is(http.StatusOK))
	var got []string
	for _, e := range b.Entry {
		got = append(got, e.Response.Status[:3])
	}
	if strings.Join(got, " ") != "422 201 200 404" || !strings.Contains(string(b.Entry[0].Response.Outcome), `"Bundle.entry[0].resource.name"`) {
		t.Errorf("%v %s", got, b.Entry[0].Response.Outcome)
	}
}

// Entries that read count as requests of their own, and 50 that write as one. A
// Bundle that is refused costs one request.
func TestBundleIsCounted(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.callerOf("counted", access.Standard, access.AllScopes)
		entries := func(n int, entry string) []string { return slices.Repeat([]string{entry}, n) }
		read := `{"request":{"method":"GET","url":"Patient?name=x"}}`
		write := `{"resource":{"resourceType":"Patient"},"request":{"method":"POST","url":"Patient"}}`
		left := c.get("/v1/patients").remaining()
		for _, test := range []struct {
			entries []string
			status  int
			costs   int64
		}{
			{entries(1, read), http.StatusOK, 1},
			{entries(120, read), http.StatusOK, 120},
			{append(entries(101, write), entries(4, read)...), http.StatusOK, 7},
			{entries(3, `{"request":{"method":"POST","url":"Patient/_search?name=x"}}`), http.StatusOK, 3},
			{entries(900, read), http.StatusTooManyRequests, 1},
			{entries(1001, read), http.StatusBadRequest, 1},
		} {
			r := c.post(fhirBase, bundleOf("batch", test.entries...), "Content-Type", "application/fhir+json").is(test.status)
			if left -= test.costs; r.remaining() != left {
				t.Errorf("%d entries: %d left, want %d", len(test.entries), r.remaining(), left)
			}
		}
	})
}
