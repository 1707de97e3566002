package api

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// clinicalRoutes are the routes of a patient's clinical data, with a body that
// they take.
func clinicalRoutes(patientID, recordID string) map[string]string {
	return map[string]string{
		"GET " + dataOf(patientID):                   "",
		"GET " + dataOf(patientID) + "/" + recordID:  "",
		"GET " + correctionsOf(patientID, recordID):  "",
		"POST " + dataOf(patientID):                  `{"data_type":"pain_scores","value":5}`,
		"POST " + correctionsOf(patientID, recordID): `{"value":5}`,
	}
}

func TestClinicalScopes(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		reader, writer := n.caller("north", access.ClinicalDataRead), n.caller("north", access.ClinicalDataWrite)
		neither := n.caller("north", access.AllScopes&^(access.ClinicalDataRead|access.ClinicalDataWrite))
		id := c.create("Arlo Finch")
		record := c.score(id, 5)
		for route, body := range clinicalRoutes(id, record) {
			method, path, _ := strings.Cut(route, " ")
			may, mayNot, scope := reader, writer, "clinical_data:read"
			if method == "POST" {
				may, mayNot, scope = writer, reader, "clinical_data:write"
			}
			for _, c := range []*caller{mayNot, neither} {
				if got := c.send(method, path, body).fault(http.StatusForbidden, fault.Forbidden)["required_scope"]; got != scope {
					t.Errorf("%s: required %v", route, got)
				}
			}
			if r := may.send(method, path, body); r.status/100 != 2 {
				t.Errorf("%s with %s: %d %s", route, scope, r.status, r.body)
			}
		}
		for _, table := range []string{"data-types", "instruments", "medications"} {
			neither.get("/v1/reference/" + table).is(http.StatusOK) // says nothing about anybody
		}
	})
}

// prey adds a record to a patient of the north that a route has.
func prey(south *caller, route, id string) string {
	south.tb.Helper()
	return south.caller("north of "+route).score(id, 5)
}

// reference requests a table, which is the same for all.
func reference(table string) func(t *testing.T, south *caller, id string) {
	return func(t *testing.T, south *caller, id string) {
		if r := south.get("/v1/reference/" + table).is(http.StatusOK); strings.Contains(string(r.body), "pat_") {
			t.Errorf("%s: %s", r.what, r.body)
		}
	}
}

func init() {
	const data = "/v1/patients/{id}/clinical-data"
	missing := func(id string) map[string]any { return map[string]any{"resource": "patient", "id": id} }
	maps.Copy(strangers, map[string]func(t *testing.T, south *caller, id string){
		"GET " + data: func(t *testing.T, south *caller, id string) {
			prey(south, "GET "+data, id)
			for _, query := range []string{"", "?include_inactive=true", "?data_type=pain_scores&order=desc", "?page=2"} {
				south.get(dataOf(id)+query).details(http.StatusNotFound, fault.NotFound, missing(id))
			}
		},
		"POST " + data: func(t *testing.T, south *caller, id string) {
			south.add(id, `{"data_type":"pain_scores","value":5}`).details(http.StatusNotFound, fault.NotFound, missing(id))
			south.add(id, batchOf(`{"data_type":"pain_scores","value":5}`), "Idempotency-Key", "the-key").details(http.StatusNotFound, fault.NotFound, missing(id))
			if got := south.caller("north of POST " + data).get(dataOf(id)).pagination()[2]; got != 0 {
				t.Errorf("%d records came from a stranger", got)
			}
			// The date of birth shows in no answer: before it or after it, there is no patient.
			south.add(id, `{"data_type":"pain_scores","value":5,"recorded_at":"1901-01-01"}`).details(http.StatusNotFound, fault.NotFound, missing(id))
		},
		"GET " + data + "/{record_id}": func(t *testing.T, south *caller, id string) {
			record := prey(south, "GET "+data+"/{record_id}", id)
			own := south.create("Cleo Wren")
			for _, patient := range []string{id, own} {
				south.get(dataOf(patient)+"/"+record).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "clinical record", "id": record})
			}
		},
		"GET " + data + "/{record_id}/corrections": func(t *testing.T, south *caller, id string) {
			record := prey(south, "GET "+data+"/{record_id}/corrections", id)
			own := south.create("Cleo Wren")
			for _, patient := range []string{id, own} {
				south.get(correctionsOf(patient, record)).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "clinical record", "id": record})
			}
		},
		"POST " + data + "/{record_id}/corrections": func(t *testing.T, south *caller, id string) {
			route := "POST " + data + "/{record_id}/corrections"
			record := prey(south, route, id)
			own := south.create("Cleo Wren")
			for _, body := range []string{`{"value":1}`, `{"entered_in_error":true,"reason":"x"}`} {
				south.post(correctionsOf(id, record), body).details(http.StatusNotFound, fault.NotFound, missing(id))
				south.post(correctionsOf(own, record), body).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "clinical record", "id": record})
			}
			if got := south.caller("north of " + route).get(dataOf(id) + "/" + record).is(http.StatusOK).json()["status"]; got != "final" {
				t.Errorf("the record became %v", got)
			}
		},
		"GET /v1/reference/data-types":  reference("data-types"),
		"GET /v1/reference/instruments": reference("instruments"),
		"GET /v1/reference/medications": reference("medications"),

		"GET /v1/reference/medications/lookup": reference("medications/lookup?name=oxycodone"),
	})
}

// A correction with two offences is answered for the first of them.
func TestOrderOfJudgementOfCorrections(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, scopeless := n.caller("north"), n.caller("north", access.ClinicalDataRead)
		id := c.create("Arlo Finch")
		record := c.score(id, 5)
		c.post(correctionsOf(id, record), `{"value":4}`).is(http.StatusCreated) // so that correcting it is a conflict
		order := []offence{
			{"no token", http.StatusUnauthorized, fault.Unauthorized},
			{"no scope", http.StatusForbidden, fault.Forbidden},
			{"bad query", http.StatusBadRequest, fault.InvalidParameter},
			{"wrong media type", http.StatusUnsupportedMediaType, fault.UnsupportedMediaType},
			{"bad member", http.StatusBadRequest, fault.InvalidParameter},
			{"unknown record", http.StatusNotFound, fault.NotFound},
			{"corrected before", http.StatusConflict, fault.Conflict},
		}
		send := func(first, second offence) *reply {
			has := map[string]bool{first.name: true, second.name: true}
			caller, path, body, media := c, correctionsOf(id, record), `{"value":3}`, "application/json"
			if has["no scope"] {
				caller = scopeless
			}
			if has["unknown record"] {
				path = correctionsOf(id, "rec_01kf0k8y20a14c3emmv2g2jemj")
			}
			if has["bad query"] {
				path += "?color=red"
			}
			if has["wrong media type"] {
				media = "text/plain"
			}
			if has["bad member"] {
				body = `{"value":3,"recorded_at":"01/02/2003"}`
			}
			if has["no token"] {
				return n.send("POST", path, body, "Content-Type", media)
			}
			return caller.post(path, body, "Content-Type", media)
		}
		for i, first := range order {
			for _, second := range order[i:] {
				if r := send(first, second); r.status != first.status {
					t.Errorf("%s and %s: %d, want %d", first.name, second.name, r.status, first.status)
				} else {
					r.fault(first.status, first.code)
				}
			}
		}
	})
}
