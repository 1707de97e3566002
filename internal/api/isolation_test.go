package api

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

// strangers defines how each route under /v1 is called by a stranger:
// organisation south, which knows the identifier of north's patient. A missing
// route fails the test, so that none is added without this check.
var strangers = map[string]func(t *testing.T, south *caller, id string){
	"GET /v1/patients": func(t *testing.T, south *caller, id string) {
		for _, query := range []string{"", "?search=vasarely", "?search=" + id, "?search=pat_", "?page=1&limit=100", "?sort=name", "?sort=-created_at", "?date_of_birth=1961-03-14"} {
			if r := south.get("/v1/patients" + query); len(r.data()) != 0 || r.pagination()[2] != 0 {
				t.Errorf("%s: %s", r.what, r.body)
			}
		}
	},
	"POST /v1/patients": func(t *testing.T, south *caller, id string) {
		// The key was used by north; here it means nothing.
		r := south.once("the-key", fullPatient).is(http.StatusCreated)
		if r.header.Get("Idempotency-Replayed") != "" || r.json()["id"] == id {
			t.Errorf("%s", r.body)
		}
	},
	"PUT /v1/patients": func(t *testing.T, south *caller, id string) {
		south.put("mrn|1", fletcher).is(http.StatusCreated)
		if r := south.put("mrn|1", fullPatient, "Idempotency-Key", "the-key").is(http.StatusOK); r.json()["id"] == id {
			t.Errorf("%s", r.body)
		}
	},
	"GET /v1/patients/{id}": func(t *testing.T, south *caller, id string) {
		south.get("/v1/patients/"+id).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": id})
		south.get("/v1/patients/"+id, "If-None-Match", "*").is(http.StatusNotFound)
	},
	"PATCH /v1/patients/{id}": func(t *testing.T, south *caller, id string) {
		for _, match := range []string{"*", `"1"`, `"99"`} {
			south.send("PATCH", "/v1/patients/"+id, `{"gender":"taken"}`, "If-Match", match).
				details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": id})
		}
	},
	"POST /v1/patients/{id}/merge": func(t *testing.T, south *caller, id string) {
		mine := south.create("Mine")
		south.post("/v1/patients/"+id+"/merge", `{"into":"`+mine+`"}`).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": id})
		south.post("/v1/patients/"+mine+"/merge", `{"into":"`+id+`"}`).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": id})
		south.get("/v1/patients/" + mine).is(http.StatusOK)
	},
	"DELETE /v1/patients/{id}": func(t *testing.T, south *caller, id string) {
		south.send("DELETE", "/v1/patients/"+id, `{"reason":"taken"}`).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": id})
	},
	"GET /v1/cohorts": func(t *testing.T, south *caller, id string) {
		if r := south.get(cohortsPath); len(r.data()) != 0 || r.pagination()[2] != 0 {
			t.Errorf("%s", r.body)
		}
	},
	"POST /v1/cohorts": func(t *testing.T, south *caller, id string) {
		south.post(cohortsPath, cohortBody("Theirs", id)).wrong("patients[0]", id)
	},
	"GET /v1/cohorts/{id}": func(t *testing.T, south *caller, id string) {
		cohort := south.node.caller("north of GET /v1/cohorts/{id}").cohort("Ours", id)
		south.get(cohortsPath+"/"+cohort).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "cohort", "id": cohort})
	},
	"DELETE /v1/cohorts/{id}": func(t *testing.T, south *caller, id string) {
		north := south.node.caller("north of DELETE /v1/cohorts/{id}")
		cohort := north.cohort("Ours", id)
		south.send("DELETE", cohortsPath+"/"+cohort, "").details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "cohort", "id": cohort})
		north.get(cohortsPath + "/" + cohort).is(http.StatusOK)
	},
	"GET /v1/patients/{id}/summary": func(t *testing.T, south *caller, id string) {
		for _, query := range []string{"", "?as_of=2024-06-30"} {
			south.get("/v1/patients/"+id+"/summary"+query).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": id})
		}
	},
	"GET /v1/analytics/outcomes": func(t *testing.T, south *caller, _ string) {
		for _, query := range []string{"", "?condition=M54", "?gender=other"} {
			if r := south.get("/v1/analytics/outcomes" + query); r.dig("cohort", "patients", "count") != 0.0 {
				t.Errorf("%s: %s", r.what, r.body)
			}
		}
	},
	"GET /v1/analytics/population-health": func(t *testing.T, south *caller, _ string) {
		for _, query := range []string{"", "?condition=M54", "?gender=other"} {
			if r := south.get("/v1/analytics/population-health" + query); r.dig("cohort", "patients", "count") != 0.0 {
				t.Errorf("%s: %s", r.what, r.body)
			}
		}
	},
	"GET /v1/events": func(t *testing.T, south *caller, id string) {
		for _, query := range []string{"", "?after=" + makeCursor(eventCursor, 0), "?wait=1"} {
			if r := south.get("/v1/events" + query); strings.Contains(string(r.is(http.StatusOK).body), id) {
				t.Errorf("%s: %s", r.what, r.body)
			}
		}
	},
	"GET /v1/audit": func(t *testing.T, south *caller, id string) {
		for _, query := range []string{"", "?patient_id=" + id, "?action=patient.create"} {
			if r := south.get("/v1/audit" + query); strings.Contains(string(r.is(http.StatusOK).body), id) {
				t.Errorf("%s: %s", r.what, r.body)
			}
		}
	},
}

func TestOrganisationsAreIsolated(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		for _, route := range n.api.Routes() {
			if _, path, _ := strings.Cut(route, " "); !needsToken(path) {
				continue
			}
			ask := strangers[route]
			if ask == nil {
				t.Errorf("%s: this test does not know how a stranger would ask", route)
				continue
			}
			// Each route has two organisations of its own.
			north, south := n.caller("north of "+route), n.caller("south of "+route)
			created := north.once("the-key", fullPatient).is(http.StatusCreated)
			id := created.json()["id"].(string)
			north.get("/v1/events?wait=20").is(http.StatusOK)
			ask(t, south, id)
			if after := north.get("/v1/patients/" + id).is(http.StatusOK); string(after.body) != string(created.body) {
				t.Errorf("%s: the patient became %s", route, after.body)
			}
			if got := north.total(); got != 1 {
				t.Errorf("%s: north has %d patients", route, got)
			}
		}
	})
}

func TestStrangersAreOfRoutes(t *testing.T) {
	t.Parallel()
	routes := map[string]bool{}
	for _, route := range New(Config{}).Routes() {
		routes[route] = true
	}
	for route := range strangers {
		if !routes[route] {
			t.Errorf("%s is no route any more", route)
		}
	}
}
