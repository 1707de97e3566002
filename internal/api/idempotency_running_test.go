package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// keyed has, for each route that takes an Idempotency-Key, a path and a body
// that it accepts.
var keyed = map[string]func(w *crowd) (path, body string){
	"POST /v1/patients": func(*crowd) (string, string) { return "/v1/patients", fullPatient },
	"PUT /v1/patients": func(w *crowd) (string, string) {
		return "/v1/patients?identifier=mrn%7C" + w.key(), fletcher
	},
	"POST /v1/patients/{id}/clinical-data": func(w *crowd) (string, string) {
		return dataOf(w.patients[0]), `{"data_type":"pain_scores","value":5}`
	},
	"POST /v1/patients/{id}/clinical-data/{record_id}/corrections": func(w *crowd) (string, string) {
		record := w.add(w.patients[0], `{"data_type":"pain_scores","value":5}`).is(http.StatusCreated).json()["id"].(string)
		return correctionsOf(w.patients[0], record), `{"value":3}`
	},
	"POST /v1/patients/{id}/merge": func(w *crowd) (string, string) {
		return "/v1/patients/" + w.create("Again") + "/merge", `{"into":"` + w.patients[0] + `"}`
	},
	"POST /v1/cohorts": func(w *crowd) (string, string) {
		return cohortsPath, cohortBody("North", w.caller.create("Arlo Finch"))
	},
	"POST /v1/reference/medications/aliases": func(w *crowd) (string, string) { return aliasesPath, aliasBody("stock "+w.key(), "7804") },
	"POST /v1/exports":                       func(*crowd) (string, string) { return "/v1/exports", someExport },
	"POST /v1/reports":                       func(*crowd) (string, string) { return "/v1/reports", someReport },
	"POST /v1/webhooks":                      func(*crowd) (string, string) { return "/v1/webhooks", hookBody },
	"POST /v1/webhooks/{id}/rotate-secret":   func(w *crowd) (string, string) { return "/v1/webhooks/" + w.hook() + "/rotate-secret", "" },
	"POST /v1/webhooks/{id}/test":            func(w *crowd) (string, string) { return "/v1/webhooks/" + w.hook() + "/test", "" },
	"POST /v1/webhooks/{id}/recover": func(w *crowd) (string, string) {
		return "/v1/webhooks/" + w.hook() + "/recover", `{"since":"2026-01-01"}`
	},
	"POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver": func(w *crowd) (string, string) {
		return "/v1/webhooks/" + w.hooks[0] + "/deliveries/" + w.delivery + "/redeliver", ""
	},
	"POST /fhir/R4": func(*crowd) (string, string) {
		return fhirBase, `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":` + somePatient + `,"request":{"method":"POST","url":"Patient"}}]}`
	},
	"POST /fhir/R4/{type}": func(*crowd) (string, string) { return fhirBase + "/Patient", somePatient },
	"POST /fhir/R4/Group": func(w *crowd) (string, string) {
		return fhirBase + "/Group", groupBody("North", w.caller.create("Ada"))
	},
	"POST /fhir/R4/$export":            func(*crowd) (string, string) { return fhirBase + "/$export", "" },
	"POST /fhir/R4/Patient/$export":    func(*crowd) (string, string) { return fhirBase + "/Patient/$export", "" },
	"POST /fhir/R4/Group/{id}/$export": func(w *crowd) (string, string) { return w.group() + "/$export", "" },
}

// keyless are the routes other than GET that ignore an Idempotency-Key, by method
// and path.
var keyless = map[string]string{
	"POST /fhir/R4/{type}/_search": "reads",
	"PUT /fhir/R4/{type}":          "repeating it has no further effect",
	"PUT /fhir/R4/{type}/{id}":     "repeating it has no further effect",
	"POST /oauth/token":            "issues another token",
	"POST /oauth/revoke":           "repeating it has no further effect",
	"POST /oauth/introspect":       "reads",
}

// On every route, on the same node and on another: a request with the key of
// one that is still running gets 409, changes nothing, and is replayed once
// the first is done.
func TestKeyOfARequestThatIsStillRunning(t *testing.T) {
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var barrier storetest.Barrier
			database := storetest.Database(t, engine)
			book := &logbook{}
			t.Cleanup(func() { book.check(t) })
			clock := &clock{}
			database.Now, database.Log, database.KeyWait, database.Patience = clock.now, book.logger(), 50*time.Millisecond, testwait.Bound
			barrier.Watch(&database)
			n := startNode(t, database, clock, book, nil)
			nodes := map[string]*node{"the same node": n}
			if engine == storetest.Postgres { // one process serves a SQLite file
				database.Database += "&lock_timeout=50"
				nodes["another node"] = startNode(t, storetest.Node(t, database), clock, book, nil)
			}
			w := n.crowd(1)
			for _, route := range n.api.Routes() {
				method, pattern, _ := strings.Cut(route, " ")
				example := keyed[route]
				if documented := takesKey(t, method, pattern); documented != (example != nil) {
					t.Errorf("%s: an Idempotency-Key in the OpenAPI document: %v, in this test: %v", route, documented, example != nil)
				}
				if example == nil {
					if (method == "POST" || method == "PUT") && keyless[route] == "" {
						t.Errorf("%s: does it take an Idempotency-Key?", route)
					}
					continue
				}
				for where, other := range nodes {
					path, body := example(w)
					header := []string{"Idempotency-Key", w.key(), "Prefer", "respond-async"}
					second := w.caller.at(other)
					arrived, release := barrier.Hold("INSERT INTO idempotency", 1)
					answered := make(chan *reply, 1)
					go func() { answered <- w.send(method, path, body, header...) }()
					select {
					case <-arrived:
					case r := <-answered:
						t.Fatalf("%s: %d without an outcome that is kept: %s", route, r.status, r.body)
					}
					r := second.send(method, path, body, header...)
					if r.status != http.StatusConflict {
						t.Errorf("%s on %s: %d while the first is running: %s", route, where, r.status, r.body)
					} else if r.header.Get("Retry-After") == "" {
						t.Errorf("%s on %s: no Retry-After", route, where)
					} else if strings.HasPrefix(path, fhirBase) {
						r.outcome(http.StatusConflict)
					} else {
						r.fault(http.StatusConflict, fault.IdempotencyRunning)
					}
					release()
					first := <-answered
					if first.status/100 != 2 || first.header.Get("Idempotency-Replayed") != "" {
						t.Errorf("%s on %s: the first got %d: %s", route, where, first.status, first.body)
					}
					// Absolute links may be to the node that was asked.
					bare := strings.NewReplacer(n.url, "", other.url, "")
					if again := second.send(method, path, body, header...); again.status != first.status || bare.Replace(string(again.body)) != bare.Replace(string(first.body)) || again.header.Get("Idempotency-Replayed") != "true" {
						t.Errorf("%s on %s: replayed %d %s, first %d %s", route, where, again.status, again.body, first.status, first.body)
					}
				}
			}
			for route := range keyed {
				if !slices.Contains(n.api.Routes(), route) {
					t.Errorf("%s: there is no such route", route)
				}
			}
		})
	}
}

// takesKey reports whether a route has an Idempotency-Key in the OpenAPI
// document.
func takesKey(t *testing.T, method, pattern string) bool {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(document.Paths[pattern][strings.ToLower(method)], []byte("parameters/IdempotencyKey"))
}
