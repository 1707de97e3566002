package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/api/openapi/openapitest"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// hostileRequests is how many are sent to each engine in a round.
const hostileRequests = 5000

// Whatever is sent, the service responds properly: never with a 5xx, every
// error in the error format, and every response according to the document,
// with the rate-limit headers and a request ID.
//
// A request is one of the document's own examples, modified in one to three
// ways. These depend on its number alone, which a failure reports. More rounds
// send others: ROUNDS=10 RUN=TestHostileRequests scripts/faults ./internal/api
func TestHostileRequests(t *testing.T) {
	testneed.Long(t, "thousands of requests")
	unlimited := func(cfg *Config) { cfg.Addresses = ratelimit.NewAddresses(1<<40, 1000, cfg.Now) }
	eachWith(t, unlimited, func(t *testing.T, n *node) {
		c := n.callerOf("north", access.Enterprise, access.AllScopes)
		live := c.live()
		doomed := live
		// The document's DELETE would remove them for the others.
		doomed.WebhookID, doomed.PatientID, doomed.BulkID = c.hook(), c.create("Gone"), c.bulkExport("/$export", "")
		examples := openapitest.Examples()
		parameters := queryParameters()
		count, first := hostileRequests*faulttest.Rounds(t, 1), 0
		if n.store.Engine() == storetest.Postgres {
			first = count
		}
		example := func(i int) openapitest.Example { return examples[(first+i)%len(examples)] }
		replies := parallel(count, func(i int) *reply {
			target := live
			if example(i).Method == http.MethodDelete {
				target = doomed
			}
			request, err := example(i).Request(context.Background(), n.url, target)
			if err != nil {
				t.Error(err)
				return &reply{}
			}
			a := newAttack(uint64(first+i), parameters, request)
			a.spoil()
			return n.judge(fmt.Sprintf("number %d, %s, %s", first+i, example(i).Name, strings.Join(a.ways, " and ")), a.request())
		})
		answers := map[string]map[int]int{}
		for i, r := range replies {
			route := example(i).Method + " " + example(i).Path
			if answers[route] == nil {
				answers[route] = map[int]int{}
			}
			answers[route][r.status]++
			if r.status == http.StatusServiceUnavailable {
				t.Errorf("number %d, %s: 503 on every attempt", first+i, example(i).Name)
			}
		}
		checkSharp(t, answers)
		// It is none the worse for it.
		c.create("Arlo Finch")
		c.get("/v1/patients/" + live.PatientID).is(http.StatusOK)
	})
}

// live makes what the examples of the document are about.
func (c *caller) live() openapitest.Live {
	c.tb.Helper()
	patient, hook := c.create("Berta Finch"), c.hook()
	return openapitest.Live{
		PatientID: patient, RecordID: c.score(patient, 6), WebhookID: hook, DeliveryID: c.tried(hook), AliasID: c.alias("blue pills", "7804"), CohortID: c.cohort("North", patient), BulkID: c.bulkExport("/$export", ""),
		AccessToken: c.token, ClientID: c.client.ID.String(), ClientSecret: c.secret,
	}
}

// judge sends a request and checks the response; n.http itself checks it
// against the document.
func (n *node) judge(what string, request *http.Request) *reply {
	r := &reply{tb: n.tb, what: what}
	answer, err := n.http.Do(request)
	if err != nil {
		n.tb.Errorf("%s: %v", what, err)
		return r
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		n.tb.Errorf("%s: %v", what, err)
	}
	r.status, r.header = answer.StatusCode, answer.Header
	// On a busy machine, a request that waits for a lock may get 503 with
	// Retry-After; [parallel] then sends it again.
	if later := r.status == http.StatusServiceUnavailable && r.header.Get("Retry-After") != ""; r.status >= http.StatusInternalServerError && !later {
		n.tb.Errorf("%s: %d %.300s", what, r.status, body)
	}
	for _, name := range []string{"X-Request-Id", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		if values := answer.Header[name]; len(values) != 1 || values[0] == "" {
			n.tb.Errorf("%s: %d, header %s is %q", what, r.status, name, values)
		}
	}
	// A caller who prefers HTML gets an HTML page for 404.
	page := r.status == http.StatusNotFound && request.Header.Get("Accept") == "text/html"
	if r.status >= http.StatusBadRequest && request.Method != http.MethodHead && !page && !isError(request, body) {
		n.tb.Errorf("%s: %d %.300s", what, r.status, body)
	}
	return r
}

// isError reports whether a body is in the error format, which is another one
// under /fhir.
func isError(request *http.Request, body []byte) bool {
	if underFHIR(request.URL.Path) {
		return bytes.HasPrefix(body, []byte(`{"resourceType":"OperationOutcome","issue":[{"severity":"error"`))
	}
	return bytes.HasPrefix(body, []byte(`{"error":{"code":"`))
}

// checkSharp fails when a route was left out, when nothing sent to it was so
// bad that it was refused, or on the whole when a kind of answer is missing: a
// generator that has gone blunt is to be noticed.
func checkSharp(t *testing.T, answers map[string]map[int]int) {
	t.Helper()
	seen := map[int]bool{}
	for _, route := range openapi.Routes() {
		refused := 0
		for status, times := range answers[route.Method+" "+route.Path] {
			seen[status] = true
			if status >= http.StatusBadRequest {
				refused += times
			}
		}
		if refused == 0 {
			t.Errorf("%s %s refused nothing", route.Method, route.Path)
		}
	}
	for _, status := range []int{200, 201, 204, 400, 401, 404, 405, 409, 415} {
		if !seen[status] {
			t.Errorf("no request was answered with %d", status)
		}
	}
}

// queryParameters lists every query parameter that the document has.
func queryParameters() (names []string) {
	var document any
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		panic(err) // the document's own tests read it
	}
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, item := range value {
				walk(item)
			}
		case map[string]any:
			if name, ok := value["name"].(string); ok && value["in"] == "query" && !slices.Contains(names, name) {
				names = append(names, name)
			}
			for _, member := range value {
				walk(member)
			}
		}
	}
	walk(document)
	slices.Sort(names) // the same in every run
	return names
}
