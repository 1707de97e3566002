package api

import (
	"fmt"
	"math/bits"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/storetest"
)

// cost is the database work of a request: statements on either engine, and on
// PostgreSQL the round trips, including those that begin and end a
// transaction. Counting the request for its client is included.
type cost struct {
	sqlite, postgres, trips int
	// each is the number of rows per item in the body that have statements of their
	// own on SQLite, up to 16 in one.
	// On PostgreSQL, one statement inserts them all.
	each int
}

// crowd is an organisation with n of everything.
type crowd struct {
	*caller
	n         int
	patients  []string
	records   []string // of the first patient
	corrected string   // of them, one that was corrected n times
	newest    string   // and what stands in its place
	reports   []string
	exports   []string
	hooks     []string
	aliases   []string
	cohorts   []string
	delivery  string // one of n to the first webhook
	keys      int
}

// question is one way of asking a route, and its cost.
type question struct {
	route, how string
	ask        func(w *crowd) *reply
	cost       cost
}

// asked says what each route is asked, and what that costs however many there
// are. A route that is not here fails the test, so that none is added without
// its cost being known.
var asked = []question{
	{"GET /v1/patients", "", func(w *crowd) *reply { return w.get("/v1/patients?limit=100") }, cost{sqlite: 1, postgres: 2, trips: 1}},
	{"GET /v1/patients", "search", func(w *crowd) *reply { return w.get("/v1/patients?limit=100&search=patient") }, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"GET /v1/patients", "identifiers", func(w *crowd) *reply { return w.get("/v1/patients?limit=100&search=pat_") }, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"GET /v1/patients", "latest first", func(w *crowd) *reply { return w.get("/v1/patients?limit=100&sort=-created_at") }, cost{sqlite: 1, postgres: 2, trips: 1}},
	{"GET /v1/patients", "by name", func(w *crowd) *reply { return w.get("/v1/patients?limit=100&sort=name") }, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"POST /v1/patients", "", func(w *crowd) *reply { return w.post("/v1/patients", fullPatient) }, cost{sqlite: 4, postgres: 4, trips: 2}},
	{"POST /v1/patients", "with a key", func(w *crowd) *reply { return w.post("/v1/patients", fullPatient, "Idempotency-Key", w.key()) }, cost{sqlite: 6, postgres: 7, trips: 3}},
	{"POST /v1/patients", "with an identifier", func(w *crowd) *reply { return w.post("/v1/patients", with("Somebody", "mrn|"+w.key())) }, cost{sqlite: 6, postgres: 6, trips: 3}},
	{"PUT /v1/patients", "a new one", func(w *crowd) *reply { return w.put("mrn|"+w.key(), fletcher) }, cost{sqlite: 7, postgres: 7, trips: 4}},
	{"PUT /v1/patients", "an old one", func(w *crowd) *reply { return w.put("crowd|1", with("Patient "+w.key(), "crowd|1")) }, cost{sqlite: 5, postgres: 5, trips: 4}},
	{"PUT /v1/patients", "nothing new", func(w *crowd) *reply { return w.put("crowd|2", fletcher) }, cost{sqlite: 2, postgres: 3, trips: 4}},
	{"GET /v1/patients", "by an identifier", func(w *crowd) *reply { return w.get("/v1/patients?identifier=crowd%7C1") }, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"GET /v1/patients/{id}", "", func(w *crowd) *reply { return w.get("/v1/patients/" + w.patients[0]) }, cost{sqlite: 1, postgres: 2, trips: 1}},
	{"GET /v1/patients/{id}", "unknown", func(w *crowd) *reply { return w.get("/v1/patients/pat_00000000000000000000000000") }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"POST /v1/patients/{id}/merge", "", func(w *crowd) *reply {
		return w.post("/v1/patients/"+w.create("Again")+"/merge", `{"into":"`+w.create("Other")+`"}`)
	}, cost{sqlite: 29, postgres: 27, trips: 9}},
	{"GET /v1/patients/{id}/summary", "", func(w *crowd) *reply { return w.get("/v1/patients/" + w.patients[0] + "/summary") }, cost{sqlite: 4, postgres: 5, trips: 4}},
	{"PATCH /v1/patients/{id}", "", func(w *crowd) *reply {
		return w.send("PATCH", "/v1/patients/"+w.patients[0], `{"gender":`+quote(w.key())+`}`)
	}, cost{sqlite: 4, postgres: 4, trips: 3}},
	{"GET /v1/patients/{id}/clinical-data", "", func(w *crowd) *reply { return w.get(dataOf(w.patients[0]) + "?limit=100") }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"GET /v1/patients/{id}/clinical-data", "past the end", func(w *crowd) *reply { return w.get(dataOf(w.patients[0]) + "?limit=100&page=9") }, cost{sqlite: 3, postgres: 4, trips: 3}},
	{"GET /v1/patients/{id}/clinical-data", "filtered", func(w *crowd) *reply {
		return w.get(dataOf(w.patients[0]) + "?limit=100&data_type=pain_scores,notes&start_date=2025-01-01&order=desc&include_inactive=true")
	}, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"POST /v1/patients/{id}/clinical-data", "one", func(w *crowd) *reply {
		return w.add(w.patients[0], `{"data_type":"pain_scores","value":5}`)
	}, cost{sqlite: 9, postgres: 9, trips: 4}},
	{"POST /v1/patients/{id}/clinical-data", "a batch", func(w *crowd) *reply { return w.add(w.patients[0], w.batch(12), "Idempotency-Key", w.key()) }, cost{sqlite: 10, postgres: 12, trips: 5, each: 1}},
	// The first of a patient, each in a year of its own: the series of those years are known to be empty.
	{"POST /v1/patients/{id}/clinical-data", "over many years", func(w *crowd) *reply { return w.add(w.create("New"), w.years()) }, cost{sqlite: 6, postgres: 9, trips: 4, each: 3}},
	// All have the time of a record with another value, so that both are read in the order of their identifiers.
	{"POST /v1/patients/{id}/clinical-data", "a batch of ties", func(w *crowd) *reply {
		return w.add(w.patients[0], strings.ReplaceAll(w.batch(0), `"value":5`, `"value":6`), "Idempotency-Key", w.key())
	}, cost{sqlite: 11, postgres: 13, trips: 6, each: 1}},
	{"POST /v1/patients/{id}/clinical-data", "an opioid", func(w *crowd) *reply {
		// Each time of another strength, so that they add up and alert.
		return w.add(w.patients[0], `{"data_type":"medications","value":{"name":"oxycodone","strength":10.`+w.number()+`,"strength_unit":"mg","quantity":90,"days_supply":30}}`)
	}, cost{sqlite: 15, postgres: 15, trips: 5}},
	{"GET /v1/patients/{id}/clinical-data/{record_id}", "", func(w *crowd) *reply { return w.get(dataOf(w.patients[0]) + "/" + w.records[0]) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"GET /v1/patients/{id}/clinical-data/{record_id}/corrections", "", func(w *crowd) *reply { return w.get(correctionsOf(w.patients[0], w.corrected)) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"GET /v1/patients/{id}/clinical-data/{record_id}/corrections", "of the newest", func(w *crowd) *reply { return w.get(correctionsOf(w.patients[0], w.newest)) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"POST /v1/patients/{id}/clinical-data/{record_id}/corrections", "", func(w *crowd) *reply { return w.correctNewest() }, cost{sqlite: 11, postgres: 11, trips: 7}},
	{"GET /v1/clinical-data", "", func(w *crowd) *reply { return w.get("/v1/clinical-data?limit=100") }, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"GET /v1/clinical-data", "filtered", func(w *crowd) *reply { return w.get("/v1/clinical-data?limit=100&data_type=pain_scores,notes") }, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"GET /v1/reports", "", func(w *crowd) *reply { return w.get("/v1/reports?limit=100") }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"GET /v1/reports", "filtered", func(w *crowd) *reply { return w.get("/v1/reports?limit=100&status=completed&type=population_health") }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"POST /v1/reports", "", func(w *crowd) *reply { return w.post("/v1/reports", someReport) }, cost{sqlite: 6, postgres: 7, trips: 3}},
	{"GET /v1/reports/{id}", "", func(w *crowd) *reply { return w.get("/v1/reports/" + w.reports[0]) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"DELETE /v1/reports/{id}", "", func(w *crowd) *reply { return w.send("DELETE", "/v1/reports/"+w.report(someReport), "") }, cost{sqlite: 6, postgres: 6, trips: 3}},
	{"GET /v1/exports", "", func(w *crowd) *reply { return w.get("/v1/exports?limit=100") }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"POST /v1/exports", "", func(w *crowd) *reply { return w.post("/v1/exports", someExport) }, cost{sqlite: 7, postgres: 8, trips: 3}},
	{"GET /v1/exports/{id}", "", func(w *crowd) *reply { return w.get("/v1/exports/" + w.exports[0]) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"DELETE /v1/exports/{id}", "", func(w *crowd) *reply { return w.send("DELETE", "/v1/exports/"+w.export(someExport), "") }, cost{sqlite: 6, postgres: 6, trips: 3}},
	{"GET /v1/exports/{id}/files/{name}", "", func(w *crowd) *reply { return w.get(fileOf(w.exports[0], "patients.csv")) }, cost{sqlite: 2, postgres: 3, trips: 3}},
	// It deletes exports, so they come before it.
	{"DELETE /v1/patients/{id}", "", func(w *crowd) *reply {
		return w.send("DELETE", "/v1/patients/"+w.create("Gone"), `{"reason":"asked for it"}`)
	}, cost{sqlite: 38, postgres: 43, trips: 29}},
	{"GET /v1/reports/{id}/download", "", func(w *crowd) *reply { return w.get(downloadOf(w.reports[0])) }, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"GET /v1/cohorts", "", func(w *crowd) *reply { return w.get(cohortsPath + "?limit=100") }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"POST /v1/cohorts", "", func(w *crowd) *reply { return w.post(cohortsPath, cohortBody("All", w.patients...)) }, cost{sqlite: 6, postgres: 6, trips: 4}},
	{"GET /v1/cohorts/{id}", "", func(w *crowd) *reply { return w.get(cohortsPath + "/" + w.cohorts[0]) }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"DELETE /v1/cohorts/{id}", "", func(w *crowd) *reply {
		return w.send("DELETE", cohortsPath+"/"+w.cohort("All", w.patients...), "")
	}, cost{sqlite: 4, postgres: 4, trips: 3}},
	{"GET /v1/reference/data-types", "", func(w *crowd) *reply { return w.get("/v1/reference/data-types") }, cost{sqlite: 0, postgres: 1, trips: 1}},
	{"GET /v1/reference/instruments", "", func(w *crowd) *reply { return w.get("/v1/reference/instruments") }, cost{sqlite: 0, postgres: 1, trips: 1}},
	{"GET /v1/reference/medications/lookup", "", func(w *crowd) *reply { return w.get("/v1/reference/medications/lookup?name=MS+Contin") }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"GET /v1/reference/medications", "", func(w *crowd) *reply { return w.get("/v1/reference/medications") }, cost{sqlite: 0, postgres: 1, trips: 1}},
	{"GET /v1/reference/medications/aliases", "", func(w *crowd) *reply { return w.get(aliasesPath + "?limit=100") }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"POST /v1/reference/medications/aliases", "", func(w *crowd) *reply { return w.post(aliasesPath, aliasBody("stock "+w.key(), "7804")) }, cost{sqlite: 6, postgres: 7, trips: 5}},
	{"GET /v1/reference/medications/aliases/{id}", "", func(w *crowd) *reply { return w.get(aliasesPath + "/" + w.aliases[0]) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"PATCH /v1/reference/medications/aliases/{id}", "", func(w *crowd) *reply {
		return w.send("PATCH", aliasesPath+"/"+w.aliases[0], `{"name":`+quote("stock "+w.key())+`}`)
	}, cost{sqlite: 6, postgres: 7, trips: 5}},
	{"DELETE /v1/reference/medications/aliases/{id}", "", func(w *crowd) *reply {
		return w.send("DELETE", aliasesPath+"/"+w.alias("stock "+w.key(), "7804"), "")
	}, cost{sqlite: 5, postgres: 6, trips: 4}},
	{"GET /v1/analytics/outcomes", "", func(w *crowd) *reply { return w.get("/v1/analytics/outcomes?min_cell_size=" + w.number()) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"GET /v1/analytics/population-health", "", func(w *crowd) *reply { return w.get("/v1/analytics/population-health?min_cell_size=" + w.number()) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"GET /v1/events", "", func(w *crowd) *reply { return w.get("/v1/events?limit=100&after=" + makeCursor(eventCursor, 0)) }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"GET /v1/webhooks", "", func(w *crowd) *reply { return w.get("/v1/webhooks?limit=100") }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"POST /v1/webhooks", "", func(w *crowd) *reply { return w.post("/v1/webhooks", hookBody) }, cost{sqlite: 7, postgres: 7, trips: 4}},
	{"GET /v1/webhooks/{id}", "", func(w *crowd) *reply { return w.get("/v1/webhooks/" + w.hooks[0]) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"PATCH /v1/webhooks/{id}", "", func(w *crowd) *reply {
		return w.send("PATCH", "/v1/webhooks/"+w.hooks[0], `{"description":`+quote(w.key())+`}`)
	}, cost{sqlite: 5, postgres: 5, trips: 3}},
	{"DELETE /v1/webhooks/{id}", "", func(w *crowd) *reply {
		hook := w.hook()
		for range w.n {
			w.tried(hook)
		}
		return w.send("DELETE", "/v1/webhooks/"+hook, "")
	}, cost{sqlite: 6, postgres: 6, trips: 3}},
	{"POST /v1/webhooks/{id}/rotate-secret", "", func(w *crowd) *reply { return w.post("/v1/webhooks/"+w.hooks[0]+"/rotate-secret", "") }, cost{sqlite: 5, postgres: 5, trips: 3}},
	{"POST /v1/webhooks/{id}/test", "", func(w *crowd) *reply { return w.post("/v1/webhooks/"+w.hooks[0]+"/test", "") }, cost{sqlite: 7, postgres: 7, trips: 4}},
	{"POST /v1/webhooks/{id}/recover", "", func(w *crowd) *reply {
		return w.post("/v1/webhooks/"+w.hook()+"/recover", `{"since":"2026-01-01"}`)
	}, cost{sqlite: 7, postgres: 7, trips: 4}},
	{"GET /v1/webhooks/{id}/stats", "", func(w *crowd) *reply { return w.get("/v1/webhooks/" + w.hooks[0] + "/stats") }, cost{sqlite: 4, postgres: 5, trips: 4}},
	{"GET /v1/webhooks/{id}/deliveries", "", func(w *crowd) *reply { return w.get("/v1/webhooks/" + w.hooks[0] + "/deliveries?limit=100") }, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"GET /v1/webhooks/{id}/deliveries/{delivery_id}", "", func(w *crowd) *reply { return w.get("/v1/webhooks/" + w.hooks[0] + "/deliveries/" + w.delivery) }, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", "", func(w *crowd) *reply {
		return w.post("/v1/webhooks/"+w.hooks[0]+"/deliveries/"+w.delivery+"/redeliver", "")
	}, cost{sqlite: 7, postgres: 7, trips: 4}},
	{"GET /v1/audit", "", func(w *crowd) *reply { return w.get("/v1/audit?limit=100") }, cost{sqlite: 4, postgres: 6, trips: 5}},
	{"POST /oauth/token", "", func(w *crowd) *reply { return w.form("/oauth/token", w.credentials(grantType, clientCredentials)) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"POST /oauth/revoke", "", func(w *crowd) *reply { return w.form("/oauth/revoke", w.credentials("token", w.issue(""))) }, cost{sqlite: 6, postgres: 6, trips: 5}},
	{"POST /oauth/introspect", "", func(w *crowd) *reply { return w.form("/oauth/introspect", w.credentials("token", w.token)) }, cost{sqlite: 3, postgres: 4, trips: 3}},
	{"GET /.well-known/oauth-authorization-server", "", func(w *crowd) *reply { return w.get("/.well-known/oauth-authorization-server") }, cost{}},
	{"GET /.well-known/smart-configuration", "", func(w *crowd) *reply { return w.get("/.well-known/smart-configuration") }, cost{}},
	{"GET /fhir/R4/.well-known/smart-configuration", "", func(w *crowd) *reply { return w.get("/fhir/R4/.well-known/smart-configuration") }, cost{}},
	{"GET /fhir/R4/metadata", "", func(w *crowd) *reply { return w.get("/fhir/R4/metadata") }, cost{}},
	{"POST /fhir/R4", "", func(w *crowd) *reply {
		return w.post("/fhir/R4", bundleOf("transaction", posting("urn:uuid:1", somePatient)))
	}, cost{sqlite: 6, postgres: 6, trips: 3}},
	{"GET /fhir/R4/$export", "", func(w *crowd) *reply { return w.get("/fhir/R4/$export", "Prefer", "respond-async") }, cost{sqlite: 7, postgres: 8, trips: 3}},
	{"POST /fhir/R4/$export", "", func(w *crowd) *reply { return w.post("/fhir/R4/$export", "", "Prefer", "respond-async") }, cost{sqlite: 7, postgres: 8, trips: 3}},
	{"GET /fhir/R4/Patient/$export", "", func(w *crowd) *reply { return w.get("/fhir/R4/Patient/$export", "Prefer", "respond-async") }, cost{sqlite: 7, postgres: 8, trips: 3}},
	{"POST /fhir/R4/Patient/$export", "", func(w *crowd) *reply { return w.post("/fhir/R4/Patient/$export", "", "Prefer", "respond-async") }, cost{sqlite: 7, postgres: 8, trips: 3}},
	{"GET /fhir/R4/Group/{id}/$export", "", func(w *crowd) *reply { return w.get(w.group()+"/$export", "Prefer", "respond-async") }, cost{sqlite: 9, postgres: 10, trips: 4}},
	{"POST /fhir/R4/Group/{id}/$export", "", func(w *crowd) *reply { return w.post(w.group()+"/$export", "", "Prefer", "respond-async") }, cost{sqlite: 9, postgres: 10, trips: 4}},
	{"GET /fhir/R4/Group", "", func(w *crowd) *reply { return w.get("/fhir/R4/Group") }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"POST /fhir/R4/Group", "", func(w *crowd) *reply { return w.post("/fhir/R4/Group", groupBody("All", w.patients...)) }, cost{sqlite: 6, postgres: 6, trips: 4}},
	{"GET /fhir/R4/Group/{id}", "", func(w *crowd) *reply { return w.get(w.group()) }, cost{sqlite: 2, postgres: 3, trips: 2}},
	{"GET /fhir/bulk/{id}", "", func(w *crowd) *reply { return w.get(bulkPath + "/" + w.bulkExport("/$export", "")) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"DELETE /fhir/bulk/{id}", "", func(w *crowd) *reply { return w.send("DELETE", bulkPath+"/"+w.bulkExport("/$export", ""), "") }, cost{sqlite: 7, postgres: 7, trips: 4}},
	{"GET /fhir/bulk/{id}/{name}", "", func(w *crowd) *reply {
		return w.get(bulkPath + "/" + w.bulkExport("/$export", "") + "/Patient.1.ndjson")
	}, cost{sqlite: 2, postgres: 3, trips: 3}},
	{"GET /fhir/R4/{type}", "", func(w *crowd) *reply { return w.get("/fhir/R4/Patient?_count=5") }, cost{sqlite: 2, postgres: 3, trips: 4}},
	{"GET /fhir/R4/{type}", "of a patient", func(w *crowd) *reply { return w.get("/fhir/R4/Observation?patient=" + w.fhirPatient()) }, cost{sqlite: 2, postgres: 3, trips: 4}},
	{"POST /fhir/R4/{type}/_search", "", func(w *crowd) *reply {
		return w.post("/fhir/R4/Observation/_search", "patient="+w.fhirPatient(), "Content-Type", formType)
	}, cost{sqlite: 2, postgres: 3, trips: 4}},
	{"POST /fhir/R4/{type}", "", func(w *crowd) *reply { return w.post("/fhir/R4/Patient", somePatient) }, cost{sqlite: 6, postgres: 6, trips: 3}},
	{"PUT /fhir/R4/{type}", "", func(w *crowd) *reply {
		return w.send("PUT", "/fhir/R4/Patient?identifier=mrn%7C"+w.number(), somePatient)
	}, cost{sqlite: 9, postgres: 9, trips: 4}},
	{"GET /fhir/R4/{type}/{id}", "", func(w *crowd) *reply { return w.get("/fhir/R4/Patient/" + w.fhirPatient()) }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"PUT /fhir/R4/{type}/{id}", "", func(w *crowd) *reply {
		return w.send("PUT", "/fhir/R4/Patient/"+w.fhirPatient(), `{"id":"`+w.fhirPatient()+`",`+strings.Replace(somePatient[1:], "Ada", w.key(), 1))
	}, cost{sqlite: 8, postgres: 8, trips: 4}},
	{"GET /fhir/R4/{type}/{id}/_history", "", func(w *crowd) *reply { return w.get("/fhir/R4/Patient/" + w.fhirPatient() + "/_history") }, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"GET /fhir/R4/{type}/{id}/_history/{version}", "", func(w *crowd) *reply {
		return w.get("/fhir/R4/Observation/" + strings.TrimPrefix(w.corrected, "rec_") + "/_history/1")
	}, cost{sqlite: 1, postgres: 2, trips: 2}},
	{"GET /fhir/R4/Patient/{id}/$everything", "", func(w *crowd) *reply { return w.get("/fhir/R4/Patient/" + w.fhirPatient() + "/$everything") }, cost{sqlite: 2, postgres: 3, trips: 4}},
	{"GET /healthz", "", func(w *crowd) *reply { return w.get("/healthz") }, cost{}},
	{"GET /readyz", "", func(w *crowd) *reply { return w.get("/readyz") }, cost{sqlite: 1, postgres: 1, trips: 1}},
	{"GET /openapi.json", "", func(w *crowd) *reply { return w.get("/openapi.json") }, cost{}},
	{"GET /openapi.yaml", "", func(w *crowd) *reply { return w.get("/openapi.yaml") }, cost{}},
}

const someReport = `{"type":"population_health","format":"json"}`
const someExport = `{"format":"csv","include":["patients"]}`

// The number of statements of a request does not depend on the amount of data.
func TestStatementsOfARequest(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		for _, route := range n.api.Routes() {
			if !slices.ContainsFunc(asked, func(q question) bool { return q.route == route }) {
				t.Errorf("%s: this test does not know what it costs", route)
			}
		}
		for _, size := range []int{1, 50} {
			w := n.crowd(size)
			for _, a := range asked {
				start := n.clock.stop() // a node that has not checked the epoch for three seconds looks up the token again
				a.ask(w)                // for what is kept in memory from then on
				if err := n.authority.Look(t.Context()); err != nil {
					t.Fatal(err)
				}
				reply := a.ask(w)
				start()
				if reply.status >= 500 || reply.status >= 400 && a.how != "unknown" {
					t.Fatalf("%s: %d %s", reply.what, reply.status, reply.body)
				}
				tally := n.trips.Last()
				statements, trips := tally.Count()
				want := a.cost.sqlite + a.cost.each*(size/16+bits.OnesCount(uint(size%16)))
				if n.store.Distributed() {
					// Counting has its own trip, and rows are divided into several statements.
					if statements > 2*a.cost.postgres+6 || trips > a.cost.trips+3 {
						t.Errorf("%d items: %s %s: %d statements in %d round trips, which is too many for Citus:%s", size, a.route, a.how, statements, trips, tally)
					}
					continue
				}
				if n.store.Engine() == storetest.Postgres {
					want = a.cost.postgres
					if trips != a.cost.trips {
						t.Errorf("%d items: %s %s: %d round trips, want %d:%s", size, a.route, a.how, trips, a.cost.trips, tally)
					}
				}
				if statements != want {
					t.Errorf("%d items: %s %s: %d statements, want %d:%s", size, a.route, a.how, statements, want, tally)
				}
			}
		}
	})
}

// crowd makes an organisation with so many of everything.
func (n *node) crowd(size int) *crowd {
	n.tb.Helper()
	w := &crowd{caller: n.callerOf(fmt.Sprintf("with %d", size), access.Enterprise, access.AllScopes), n: size}
	for i := range size {
		w.patients = append(w.patients, w.create(fmt.Sprintf("Patient %d", i)))
	}
	w.add(w.patients[0], w.batch(0)).is(http.StatusCreated)
	w.records = w.get(dataOf(w.patients[0])).ids()
	w.corrected, w.newest = w.records[0], w.records[0]
	for range size {
		w.correctNewest().is(http.StatusCreated)
	}
	for range size {
		w.reports = append(w.reports, w.ask(someReport))
	}
	for range size {
		w.exports = append(w.exports, w.export(someExport))
	}
	for range min(size, 90) { // of a hundred that there may be
		w.hooks = append(w.hooks, w.hook())
	}
	for range size {
		w.aliases = append(w.aliases, w.alias("stock "+w.key(), "7804"))
	}
	for range size {
		w.cohorts = append(w.cohorts, w.cohort("All", w.patients...))
	}
	for _, report := range w.reports {
		w.becomes(report, "completed")
	}
	for range size {
		w.delivery = w.tried(w.hooks[0])
	}
	return w
}

// somePatient is a patient as FHIR has them.
const somePatient = `{"resourceType":"Patient","name":[{"text":"Ada Finch"}],"birthDate":"1970-05-17"}`

// fhirPatient is the FHIR id of the first patient.
func (w *crowd) group() string { return "/fhir/R4/Group/" + strings.TrimPrefix(w.cohorts[0], "coh_") }

func (w *crowd) fhirPatient() string { return strings.TrimPrefix(w.patients[0], "pat_") }

// key is one that was not used yet.
func (w *crowd) key() string { return "key-" + w.number() }

// number is one that was not used yet.
func (w *crowd) number() string {
	w.keys++
	return strconv.Itoa(w.keys)
}

// batch returns a body of n records, on days of one month from an hour on:
// what is stored per year and per period of 128 days is written once for each
// of them.
func (w *crowd) batch(hour int) string {
	records := make([]string, w.n)
	for i := range records {
		records[i] = fmt.Sprintf(`{"data_type":"pain_scores","value":5,"recorded_at":"2025-01-%02dT%02d:00:00Z"}`, 1+i%28, hour+i/28)
	}
	return batchOf(records...)
}

// years returns a body of n records, each of another year.
func (w *crowd) years() string {
	records := make([]string, w.n)
	for i := range records {
		records[i] = fmt.Sprintf(`{"data_type":"pain_scores","value":5,"recorded_at":"%d-06-01"}`, 2024-i)
	}
	return batchOf(records...)
}

// correctNewest corrects the current version of the record that is corrected
// repeatedly.
func (w *crowd) correctNewest() *reply {
	w.tb.Helper()
	r := w.post(correctionsOf(w.patients[0], w.newest), `{"value":4}`).is(http.StatusCreated)
	w.newest = r.json()["id"].(string)
	return r
}
