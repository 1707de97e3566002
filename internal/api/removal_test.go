package api

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// The data of a merged patient is with the other one, and every route that names
// the merged one says so.
func TestMergePatient(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		from := c.post("/v1/patients", fullPatient).is(http.StatusCreated).json()["id"].(string)
		into, third := c.create("Somebody"), c.create("Third")
		record := c.score(from, 4)
		c.score(into, 5)
		merge := "/v1/patients/" + from + "/merge"
		for _, wrong := range []struct {
			body      string
			parameter string
			value     any
		}{{`{}`, "into", nil}, {`{"into":"x"}`, "into", "x"}, {`{"into":"` + from + `"}`, "into", from}, {`{"into":"` + into + `","x":1}`, "x", 1.0}} {
			c.post(merge, wrong.body).wrong(wrong.parameter, wrong.value)
		}
		c.post(merge, `{"into":"pat_00000000000000000000000000"}`).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": "pat_00000000000000000000000000"})
		done := c.post(merge, `{"into":"`+into+`"}`, "Idempotency-Key", "k").is(http.StatusOK)
		if done.json()["id"] != into || done.header.Get("ETag") != c.get("/v1/patients/"+into).header.Get("ETag") || string(done.body) != string(c.get("/v1/patients/"+into).body) {
			t.Errorf("the merge returned %s", done.body)
		}
		if again := c.post(merge, `{"into":"`+into+`"}`, "Idempotency-Key", "k").is(http.StatusOK); again.header.Get("Idempotency-Replayed") != "true" || string(again.body) != string(done.body) {
			t.Errorf("replayed: %s", again.body)
		}
		if got := c.get(dataOf(into)); got.pagination()[2] != 2 {
			t.Errorf("records: %s", got.body)
		}
		if c.total() != 2 {
			t.Errorf("%d patients", c.total())
		}
		gone := map[string]any{"id": from, "into": into}
		for _, r := range []*reply{
			c.get("/v1/patients/" + from), c.get("/v1/patients/" + from + "/summary"), c.get(dataOf(from)), c.get(dataOf(from) + "/" + record), c.get(correctionsOf(from, record)),
			c.send("PATCH", "/v1/patients/"+from, `{"gender":"x"}`), c.add(from, `{"data_type":"pain_scores","value":5}`), c.post(correctionsOf(from, record), `{"entered_in_error":true,"reason":"x"}`),
			c.post(merge, `{"into":"`+third+`"}`), c.send("DELETE", "/v1/patients/"+from, `{"reason":"x"}`),
			c.post("/v1/reports", `{"type":"patient_summary","parameters":{"patient_id":"`+from+`"}}`), c.post("/v1/patients/"+third+"/merge", `{"into":"`+from+`"}`),
		} {
			r.details(http.StatusGone, fault.PatientMerged, gone)
		}
		c.post("/v1/patients/"+into+"/merge", `{"into":"`+third+`"}`).is(http.StatusOK)
		c.get("/v1/patients/"+from).details(http.StatusGone, fault.PatientMerged, map[string]any{"id": from, "into": third})
		lines := string(c.get("/v1/audit?action=patient.merge").is(http.StatusOK).body)
		if !strings.Contains(lines, `"into":"`+into+`"`) || !strings.Contains(lines, `"from":"`+from+`"`) || !strings.Contains(lines, `"records":1`) || !strings.Contains(lines, `"before"`) {
			t.Errorf("audit lines: %s", lines)
		}
		auditor := n.caller("north", access.AuditRead)
		if redacted := string(auditor.get("/v1/audit?action=patient.merge").is(http.StatusOK).body); strings.Contains(redacted, `"before"`) || !strings.Contains(redacted, `"into":"`+into+`"`) {
			t.Errorf("for who may not read patients: %s", redacted)
		}
	})
}

// What a client did before a merge is not done again after it.
func TestReplayAfterMerge(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		from, into := c.create("Again"), c.create("Somebody")
		const body = `{"data_type":"pain_scores","value":5}`
		first := c.add(from, body, "Idempotency-Key", "k").is(http.StatusCreated)
		c.post("/v1/patients/"+from+"/merge", `{"into":"`+into+`"}`).is(http.StatusOK)
		if again := c.add(from, body, "Idempotency-Key", "k").is(http.StatusCreated); string(again.body) != string(first.body) || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s", again.body)
		}
		c.add(from, body, "Idempotency-Key", "another").fault(http.StatusGone, fault.PatientMerged)
	})
}

// An erased patient was never there, except for the line that says so. It takes
// the scope of its own.
func TestErasePatient(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		patient, other := c.create("Zqxmarker"), c.create("Somebody")
		c.send("PATCH", "/v1/patients/"+patient, `{"name":"Zqxmarker Two"}`).is(http.StatusOK)
		path := "/v1/patients/" + patient
		most := n.caller("north", access.DefaultScopes)
		most.send("DELETE", path, `{"reason":"x"}`).fault(http.StatusForbidden, fault.Forbidden)
		c.send("DELETE", path, `{}`).wrong("reason", nil)
		c.send("DELETE", path, `{"reason":" "}`).wrong("reason", " ")
		c.send("DELETE", path, `{"reason":"`+strings.Repeat("x", 501)+`"}`).fault(http.StatusBadRequest, fault.InvalidParameter)
		c.send("DELETE", path, ``).fault(http.StatusBadRequest, fault.InvalidBody)
		if r := c.send("DELETE", path, `{"reason":" case 2026-118 "}`).is(http.StatusNoContent); len(r.body) != 0 {
			t.Errorf("%s", r.body)
		}
		for _, r := range []*reply{c.get(path), c.send("DELETE", path, `{"reason":"x"}`), c.post(path+"/merge", `{"into":"`+other+`"}`), c.post("/v1/patients/"+other+"/merge", `{"into":"`+patient+`"}`)} {
			r.details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": patient})
		}
		if c.total() != 1 || c.get("/v1/patients?search=zqxmarker").pagination()[2] != 0 {
			t.Error("it is still listed")
		}
		lines := string(c.get("/v1/audit?limit=100").is(http.StatusOK).body)
		if strings.Contains(lines, "Zqxmarker") || !strings.Contains(lines, `"reason":"case 2026-118"`) {
			t.Errorf("audit lines: %s", lines)
		}
		if events := string(c.get("/v1/events").is(http.StatusOK).body); !strings.Contains(events, `"type":"patient.erased","timestamp"`) {
			t.Errorf("events: %s", events)
		}
	})
}
