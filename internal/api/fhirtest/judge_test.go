package fhirtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fhir/fhirtest"
	"anodyne.example/anodyne/internal/fhir/search"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/synth"
	"anodyne.example/anodyne/internal/testneed"
)

// judgedPatients is how many patients of the demo the validator sees.
const judgedPatients = 3

func init() { tests["valid answers"] = testValidAnswers }

// What the service answers is valid FHIR: search results, $everything and
// histories, and the answers to transactions and batches with whatever the
// client prefers to get back.
func testValidAnswers(t *testing.T, s *server) {
	testneed.Long(t, "the FHIR validator")
	if s.store.Engine() != storetest.SQLite {
		return // it answers the same
	}
	north, south := s.caller(t, "north"), s.caller(t, "south")
	var answers [][]byte
	for n := range judgedPatients {
		p := north.demoPatient(n)
		for at := base + "/Patient/" + p + "/$everything?_count=1000"; at != ""; {
			everything := north.get(at).is(http.StatusOK)
			at = everything.bundle().next
			answers = append(answers, everything.body)
			if n == 0 {
				answers = append(answers, south.copies(everything)...)
			}
		}
	}
	for _, resourceType := range search.Types() {
		found := north.get(base + "/" + resourceType + "?_count=3&_total=accurate&_sort=-_lastUpdated").is(http.StatusOK)
		answers = append(answers, found.body)
		if ids := found.bundle().ids; len(ids) > 0 && resourceType != "Patient" && resourceType != "Condition" {
			answers = append(answers, north.get(base+"/"+ids[0]+"/_history").is(http.StatusOK).body)
		}
	}
	answers = append(answers, north.get(base+"/Observation?_include=Observation:patient&_count=2").is(http.StatusOK).body, north.get(base+"/metadata").is(http.StatusOK).body,
		north.get(base+"/Observation?_count=x").is(http.StatusBadRequest).body)
	fhirtest.Judge(t, answers...)
}

// demoPatient adds a patient of the demo through /v1 and returns its FHIR id.
func (c *caller) demoPatient(n int) string {
	c.t.Helper()
	invented := synth.Generator{Seed: 2026, Until: time.Now()}.Patient(n)
	var history, records []map[string]any
	for _, h := range invented.History {
		history = append(history, map[string]any{"condition": h.Name, "icd10_code": h.ICD10, "status": h.Status, "category": h.Category, "onset_date": h.Onset})
	}
	for _, r := range invented.Records {
		records = append(records, map[string]any{"data_type": r.Type, "recorded_at": r.At.Format(time.RFC3339), "source": r.Source, "value": r.Value})
	}
	text := func(v any) string {
		body, err := json.Marshal(v)
		if err != nil {
			c.t.Fatal(err)
		}
		return string(body)
	}
	p := c.patient(text(map[string]any{
		"name": invented.Name, "date_of_birth": invented.DateOfBirth.Format(time.DateOnly), "gender": invented.Gender,
		"contact": map[string]any{"email": invented.Email, "phone": invented.Phone}, "medical_history": history,
	}))
	c.send("POST", "/v1/patients/pat_"+p+"/clinical-data", text(map[string]any{"records": records})).is(http.StatusCreated)
	return p
}

// copies writes the resources of a Bundle in transactions and in batches, and
// returns the answers, with the outcomes in them.
func (c *caller) copies(of *reply) (answers [][]byte) {
	c.t.Helper()
	var bundle struct {
		Entry []struct {
			FullURL  string
			Resource json.RawMessage
		}
	}
	if err := json.Unmarshal(of.body, &bundle); err != nil {
		c.t.Fatal(err)
	}
	var entries []string
	for _, e := range bundle.Entry {
		var r struct{ ResourceType string }
		if err := json.Unmarshal(e.Resource, &r); err != nil {
			c.t.Fatal(err)
		}
		entries = append(entries, fmt.Sprintf(`{"fullUrl":%q,"resource":%s,"request":{"method":"POST","url":%q}}`, e.FullURL, e.Resource, r.ResourceType))
	}
	reads := []string{`{"request":{"method":"GET","url":"Observation?_count=2"}}`, `{"request":{"method":"GET","url":"Patient/x"}}`, `{"request":{"method":"GET","url":"metadata"}}`}
	for _, returns := range []string{"representation", "OperationOutcome", "minimal"} {
		prefer := []string{"Prefer", "return=" + returns}
		transaction := c.send("POST", base, bundleOf("transaction", append(entries, reads[0])...), prefer...).is(http.StatusOK)
		// The entries of a batch cannot refer to each other, so that all but the patient fail.
		batch := c.send("POST", base, bundleOf("batch", append(entries[:min(len(entries), 20)], reads...)...), prefer...).is(http.StatusOK)
		failed := c.send("POST", base, bundleOf("transaction", entries[len(entries)-1]), prefer...)
		if failed.status < 400 {
			c.t.Errorf("%s: %d without the patient", failed.what, failed.status)
		}
		answers = append(answers, transaction.body, batch.body, failed.body)
		answers = append(answers, append(transaction.outcomes(), batch.outcomes()...)...)
	}
	return answers
}

func bundleOf(kind string, entries ...string) string {
	return `{"resourceType":"Bundle","type":"` + kind + `","entry":[` + strings.Join(entries, ",") + `]}`
}

// outcomes returns the OperationOutcomes within the responses of a Bundle.
func (r *reply) outcomes() (list [][]byte) {
	r.t.Helper()
	var bundle struct {
		Entry []struct {
			Response struct{ Outcome json.RawMessage }
		}
	}
	if err := json.Unmarshal(r.body, &bundle); err != nil {
		r.t.Fatal(err)
	}
	for _, e := range bundle.Entry {
		if e.Response.Outcome != nil {
			list = append(list, e.Response.Outcome)
		}
	}
	return list
}
