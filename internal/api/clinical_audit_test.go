package api

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

func TestAuditOfClinicalData(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		body := batchOf(`{"data_type":"pain_scores","value":5}`, `{"data_type":"notes","value":{"text":"slept badly"}}`)
		c.add(id, body, "X-Request-Id", "added", "Idempotency-Key", "k").is(http.StatusCreated)
		c.add(id, body, "X-Request-Id", "shown-again", "Idempotency-Key", "k").is(http.StatusCreated)
		list := c.get(dataOf(id), "X-Request-Id", "listed")
		record := list.ids()[0]
		c.get(dataOf(id)+"?data_type=labs", "X-Request-Id", "listed-none").is(http.StatusOK)
		c.get(dataOf(id)+"/"+record, "X-Request-Id", "read").is(http.StatusOK)
		stands := c.post(correctionsOf(id, list.ids()[0]), correctionOf(list.data()[0]), "X-Request-Id", "corrected").is(http.StatusCreated).json()["id"].(string)
		c.post(correctionsOf(id, stands), `{"entered_in_error":true,"reason":"meant Berta Finch"}`, "X-Request-Id", "taken-back").is(http.StatusCreated)
		c.get(correctionsOf(id, record), "X-Request-Id", "history").is(http.StatusOK)
		// Refused requests leave nothing.
		c.add(id, `{"data_type":"pain_scores","value":50}`).is(http.StatusBadRequest)
		c.post(correctionsOf(id, record), `{"value":{"text":"x","score":1}}`).is(http.StatusBadRequest)
		c.get(dataOf(id) + "/rec_1").is(http.StatusNotFound)

		auditor := n.auditor(access.AllScopes)
		for _, want := range []struct {
			action  string
			lines   int
			request string
			details string
		}{
			{"clinical_data.create", 1, "added", `{"count":2}`},
			{"clinical_data.read", 5, "shown-again", `null`},
			{"clinical_data.read", 5, "listed", `{"count":2}`},
			{"clinical_data.read", 5, "listed-none", `{"count":0}`},
			{"clinical_data.read", 5, "read", `{"count":1}`},
			{"clinical_data.read", 5, "history", `{"count":2}`},
			{"clinical_data.correct", 2, "corrected", `{"reason":"misread","record":"` + record + `","replaced_by":"` + stands + `","status":"superseded"}`},
			{"clinical_data.correct", 2, "taken-back", `{"reason":"meant Berta Finch","record":"` + stands + `","status":"entered-in-error"}`},
		} {
			lines := auditor.audit("&action="+want.action, want.lines)
			got := line(t, lines, want.request)
			if len(lines) != want.lines || got["resource"] != id || got["client_id"] != c.client.ID.String() || quoteAny(got["details"]) != want.details {
				t.Errorf("%s: %v of %d, want %s", want.request, got, len(lines), want.details)
			}
		}
		if lines := auditor.audit("&patient_id="+id, 8); len(lines) < 8 {
			t.Errorf("%d lines of the patient", len(lines))
		}
		// Values are nowhere in the log.
		for _, l := range auditor.audit("", 8) {
			if text := quoteAny(l); strings.Contains(text, "slept badly") || strings.Contains(text, "score") {
				t.Errorf("%s", text)
			}
		}
	})
}

// correctionOf corrects a record of either type of this test.
func correctionOf(record map[string]any) string {
	if record["data_type"] == "notes" {
		return `{"value":{"text":"slept well"},"reason":"misread"}`
	}
	return `{"value":4,"reason":"misread"}`
}

// The reason is the caller's text, and may name somebody.
func TestReasonIsForThoseWhoMayRead(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		record := c.score(id, 5)
		c.post(correctionsOf(id, record), `{"entered_in_error":true,"reason":"meant Berta Finch"}`).is(http.StatusCreated)
		c.send("PATCH", "/v1/patients/"+id, `{"gender":"x"}`).is(http.StatusOK)
		for _, tt := range []struct {
			scopes          access.Scopes
			reason, changes bool
		}{
			{access.AllScopes, true, true},
			{access.AuditRead | access.PatientsRead, true, true},
			{access.AuditRead | access.ClinicalDataRead, true, false},
			{access.AuditRead | access.ClinicalDataWrite, false, false},
			{access.AuditRead, false, false},
		} {
			auditor := n.auditor(tt.scopes)
			corrected := auditor.audit("&action=clinical_data.correct", 1)[0]["details"].(map[string]any)
			if _, shown := corrected["reason"]; shown != tt.reason || corrected["record"] != record || (corrected["redacted"] == true) == tt.reason {
				t.Errorf("%s: %v", tt.scopes, corrected)
			}
			changed := auditor.audit("&action=patient.update", 1)[0]["details"].(map[string]any)
			if _, shown := changed["changes"]; shown != tt.changes {
				t.Errorf("%s: %v", tt.scopes, changed)
			}
		}
	})
}

var loggedIdentifiers = regexp.MustCompile(`(cli|org|req)_[0-9a-z]{26}`)

// Nothing that was measured or written about a patient is in the service's log.
func TestLogHasNoClinicalData(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		secrets := []string{"slept badly", "secretine", "meant Berta", "4711", "Dr. Quill", "enc-99"}
		record := c.add(id, `{"data_type":"notes","value":{"text":"slept badly"},"author":"Dr. Quill","encounter_id":"enc-99"}`).is(http.StatusCreated).json()["id"].(string)
		c.add(id, `{"data_type":"medications","value":{"name":"secretine","dose":4711,"dose_unit":"mg"}}`).is(http.StatusCreated)
		c.add(id, batchOf(`{"data_type":"pain_scores","value":4711}`, `{"data_type":"secretine","value":1}`)).is(http.StatusBadRequest)
		c.get(dataOf(id) + "?data_type=secretine&start_date=4711").is(http.StatusBadRequest)
		c.post(correctionsOf(id, record), `{"entered_in_error":true,"reason":"meant Berta"}`).is(http.StatusCreated)
		c.get(dataOf(id) + "?include_inactive=true").is(http.StatusOK)
		n.log.mu.Lock()
		defer n.log.mu.Unlock()
		said := n.log.text.String()
		for _, secret := range []string{id, record} {
			if strings.Contains(said, secret) {
				t.Errorf("%q is in the log", secret)
			}
		}
		said = loggedIdentifiers.ReplaceAllString(said, "") // which may hold any digits
		for _, secret := range secrets {
			if strings.Contains(said, secret) {
				t.Errorf("%q is in the log", secret)
			}
		}
	})
}
