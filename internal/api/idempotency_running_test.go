package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// posts has, for each route that takes an Idempotency-Key, a path and a body
// that it accepts.
var posts = map[string]func(w *crowd) (path, body string){
	"POST /v1/patients": func(*crowd) (string, string) { return "/v1/patients", fullPatient },
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
				if !strings.HasPrefix(route, "POST /v1/") {
					continue
				}
				example := posts[route]
				if example == nil {
					t.Errorf("%s: this test does not know how to ask it", route)
					continue
				}
				for where, other := range nodes {
					path, body := example(w)
					header := []string{"Idempotency-Key", w.key()}
					second := w.caller.at(other)
					arrived, release := barrier.Hold("INSERT INTO idempotency", 1)
					answered := make(chan *reply, 1)
					go func() { answered <- w.post(path, body, header...) }()
					select {
					case <-arrived:
					case r := <-answered:
						t.Fatalf("%s: %d without an outcome that is kept: %s", route, r.status, r.body)
					}
					r := second.post(path, body, header...)
					if r.status != http.StatusConflict {
						t.Errorf("%s on %s: %d while the first is running: %s", route, where, r.status, r.body)
					} else if r.fault(http.StatusConflict, fault.IdempotencyRunning); r.header.Get("Retry-After") == "" {
						t.Errorf("%s on %s: no Retry-After", route, where)
					}
					release()
					first := <-answered
					if first.status/100 != 2 || first.header.Get("Idempotency-Replayed") != "" {
						t.Errorf("%s on %s: the first got %d: %s", route, where, first.status, first.body)
					}
					if again := second.post(path, body, header...); again.status != first.status || string(again.body) != string(first.body) || again.header.Get("Idempotency-Replayed") != "true" {
						t.Errorf("%s on %s: replayed %d %s, first %d %s", route, where, again.status, again.body, first.status, first.body)
					}
				}
			}
			for route := range posts {
				if !slices.Contains(n.api.Routes(), route) {
					t.Errorf("%s: there is no such route", route)
				}
			}
		})
	}
}
