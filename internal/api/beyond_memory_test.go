package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/storetest"
)

// beyond is a service on which no organisation fits into memory, with a
// deadline for every answer as a server has it, and a database that can be held
// up.
func beyond(t *testing.T, engine string, write time.Duration) (*node, *storetest.Barrier) {
	t.Helper()
	barrier := &storetest.Barrier{}
	database := storetest.Database(t, engine)
	book := &logbook{}
	t.Cleanup(func() { book.check(t) })
	clock := &clock{}
	database.Now, database.Log = clock.now, book.logger()
	barrier.Watch(&database)
	n := startNode(t, database, clock, book, func(cfg *Config) {
		cfg.Cohorts = cohort.New(0, nil)
		cfg.AnswerTime = write / 2
	})
	server := httptest.NewUnstartedServer(n.api)
	server.Config.WriteTimeout = write
	server.Start()
	t.Cleanup(server.Close)
	n.url = server.URL
	return n, barrier
}

// However many questions are asked at once about organisations that do not fit
// into memory, and however long the database takes: every one is answered, with
// what is true or with 503, and no connection is closed without an answer.
func TestQuestionsBeyondMemoryAreAlwaysAnswered(t *testing.T) {
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			const callers = 24
			n, barrier := beyond(t, engine, 2*time.Second)
			c := n.caller("north")
			for i := range 3 {
				patiently(func() *reply {
					return c.send(http.MethodPost, "/v1/patients", fmt.Sprintf(`{"name":"Patient %d","date_of_birth":"1970-01-01"}`, i))
				}).is(http.StatusCreated)
			}
			paths := []func(i int) string{
				func(i int) string { return "/v1/analytics/outcomes?age_min=" + strconv.Itoa(i) },
				func(i int) string { return "/v1/analytics/population-health?age_min=" + strconv.Itoa(i) },
				func(i int) string { return "/v1/patients?search=" + strconv.Itoa(i) },
			}
			texts := []string{"FROM patient_series", "FROM patient_series", "FROM patient WHERE org_no = $1 AND patient_no BETWEEN"}
			for k, path := range paths {
				_, release := barrier.Hold(texts[k], 1000)
				for _, r := range impatient(callers, func(i int) *reply { return c.get(path(i)) }) {
					r.fault(http.StatusServiceUnavailable, fault.Unavailable)
					if wait, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || wait < 1 {
						t.Errorf("%s: Retry-After %q", r.what, r.header.Get("Retry-After"))
					}
				}
				release()
				for i := range 2 { // the database is well again
					r := c.get(path(i))
					for r.status == http.StatusServiceUnavailable { // on a busy machine
						r = c.get(path(i))
					}
					r.is(http.StatusOK)
				}
			}
		})
	}
}
