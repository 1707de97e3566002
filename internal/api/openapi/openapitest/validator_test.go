package openapitest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// recorder is a testing.TB that records what is reported to it.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	faults []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// always are the headers of every response.
var always = map[string]string{
	"Content-Type":          "application/json",
	"X-Request-Id":          "req_1",
	"X-RateLimit-Limit":     "1000",
	"X-RateLimit-Remaining": "999",
	"X-RateLimit-Reset":     "1768475820",
	"RateLimit":             `"hour";r=999;t=3600`,
	"RateLimit-Policy":      `"hour";q=1000;w=3600`,
}

const (
	emptyList = `{"data":[],"pagination":{"page":1,"limit":50,"total":0}}`
	noToken   = `{"error":{"code":"UNAUTHORIZED","message":"No token.","details":{"reason":"missing_token"}}}`
	notFound  = `{"error":{"code":"NOT_FOUND","message":"Nothing here.","details":{}}}`
	noMethod  = `{"error":{"code":"METHOD_NOT_ALLOWED","message":"Not so.","details":{}}}`
	link      = `</v1/patients?page=1>; rel="first"`
)

// answer is the response of a test server. Headers are added to those of every
// response; an empty value removes one.
type answer struct {
	status  int
	headers map[string]string
	body    string
}

func (a answer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	headers := maps.Clone(always)
	maps.Copy(headers, a.headers)
	for name, value := range headers {
		if value != "" {
			w.Header()[name] = []string{value}
		}
	}
	w.WriteHeader(a.status)
	if a.status != http.StatusNotModified {
		_, _ = io.WriteString(w, a.body)
	}
}

// faultsOf sends a request to a server that gives this response, and returns
// what the validator reports.
func faultsOf(t *testing.T, method, path string, a answer) []string {
	t.Helper()
	server := httptest.NewServer(a)
	defer server.Close()
	seen := &recorder{TB: t}
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{
		Transport:     New(seen).Wrap(server.Client().Transport),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want := a.body; method != http.MethodHead && a.status != http.StatusNotModified && string(body) != want {
		t.Errorf("the caller got %q, want %q", body, want)
	}
	return seen.faults
}

func TestWrapAccepts(t *testing.T) {
	for _, c := range []struct {
		name, method, path string
		answer             answer
	}{
		{"a list", "GET", "/v1/patients?limit=1", answer{200, map[string]string{"Link": link}, emptyList}},
		{"HEAD like GET", "HEAD", "/v1/patients", answer{200, map[string]string{"Link": link}, ""}},
		{"text that looks like a number", "GET", "/healthz", answer{200, map[string]string{"X-Request-Id": "12345"}, `{"status":"ok"}`}},
		{"a media type with a parameter", "GET", "/healthz", answer{200, map[string]string{"Content-Type": "application/json; charset=utf-8"}, `{"status":"ok"}`}},
		{"no body", "GET", "/v1/patients/pat_1", answer{304, map[string]string{"ETag": `"1"`, "Content-Type": ""}, ""}},
		{"a body that is not JSON", "GET", "/openapi.yaml", answer{200, map[string]string{"Content-Type": "application/yaml"}, "openapi: 3.1.0"}},
		{"a document that is not documented in full", "GET", "/openapi.json", answer{200, nil, `{"openapi":"3.1.0","info":{},"paths":{},"more":1}`}},
		{"an error", "POST", "/v1/patients", answer{401, map[string]string{"WWW-Authenticate": "Bearer"}, noToken}},
		{"an error of OAuth", "POST", "/oauth/token", answer{401, map[string]string{"WWW-Authenticate": "Basic"},
			`{"error":{"code":"INVALID_CLIENT","message":"No.","details":{"oauth_error":"invalid_client"}},"error_description":"No."}`}},
		{"an unknown path", "GET", "/v9/patients", answer{404, nil, notFound}},
		{"an escaped slash in an identifier", "GET", "/v1/patients/a%2Fb", answer{404, nil, `{"error":{"code":"NOT_FOUND","message":"No.","details":{"resource":"patient","id":"a/b"}}}`}},
		{"an unknown path, refused earlier", "GET", "/v1/nothing", answer{401, nil, noToken}},
		{"a wrong method", "PUT", "/v1/patients/pat_1", answer{405, map[string]string{"Allow": "DELETE, GET, HEAD, PATCH"}, noMethod}},
		{"a page", "GET", "/portal", answer{200, map[string]string{"Content-Type": "text/html; charset=utf-8"}, "<p>"}},
		{"a missing page", "GET", "/portal/x", answer{404, map[string]string{"Content-Type": "text/html"}, "<p>"}},
		{"a question about CORS", "OPTIONS", "/v1/patients", answer{204, nil, ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, fault := range faultsOf(t, c.method, c.path, c.answer) {
				t.Error(fault)
			}
		})
	}
}

func TestWrapReports(t *testing.T) {
	list := func(data string) answer {
		return answer{200, map[string]string{"Link": link}, `{"data":[` + data + `],"pagination":{"page":1,"limit":50,"total":1}}`}
	}
	const item = `"id":"pat_01kf0k8y20a14c3emmv2g2jemj","name":"A","created_at":"2026-01-15T10:30:00Z"`
	for _, c := range []struct {
		name, method, path string
		answer             answer
		want               string
	}{
		{"a missing member", "GET", "/v1/patients", list(`{` + item + `}`), "date_of_birth"},
		{"a member too many", "GET", "/v1/patients", list(`{` + item + `,"date_of_birth":"1968-04-02","gender":""}`), "gender"},
		{"a day that is none", "GET", "/v1/patients", list(`{` + item + `,"date_of_birth":"1968-02-30"}`), "/data/0/date_of_birth"},
		{"a time with a fraction", "GET", "/v1/events", answer{200, nil,
			`{"data":[{"id":"evt_01kf0k8y20a14c3emmv2g2jemj","type":"patient.created","timestamp":"2026-01-15T10:30:00.5Z","data":{}}],"next_cursor":"x"}`}, "/data/0/timestamp"},
		{"a malformed identifier", "GET", "/v1/patients", list(`{` + strings.Replace(item, "pat_", "PAT_", 1) + `,"date_of_birth":"1968-04-02"}`), "/data/0/id"},
		{"null for text", "GET", "/v1/patients", list(`{` + strings.Replace(item, `"A"`, "null", 1) + `,"date_of_birth":"1968-04-02"}`), "/data/0/name"},
		{"an unknown code", "GET", "/v1/events", answer{500, nil, `{"error":{"code":"OOPS","message":"No.","details":{"request_id":"r"}}}`}, "/error/code"},
		{"the code of another status", "GET", "/v1/events", answer{500, nil, notFound}, "/error/code"},
		{"no parameter in the details", "GET", "/v1/events", answer{400, nil, `{"error":{"code":"INVALID_PARAMETER","message":"No.","details":{"value":1}}}`}, "parameter"},
		{"details that are no object", "GET", "/v1/events", answer{503, map[string]string{"Retry-After": "1"}, `{"error":{"code":"SERVICE_UNAVAILABLE","message":"No.","details":null}}`}, "/error/details"},
		{"an undocumented status", "GET", "/v1/patients", answer{202, nil, `{}`}, "status is not documented"},
		{"an undocumented operation", "GET", "/v1/nothing", answer{200, nil, `{}`}, "operation is not documented"},
		{"a redirect of the router", "GET", "/v1/patients/", answer{301, nil, ""}, "operation is not documented"},
		{"a missing header", "GET", "/v1/patients", answer{200, nil, emptyList}, "header Link is missing"},
		{"a missing header of HEAD", "HEAD", "/v1/patients", answer{200, nil, ""}, "header Link is missing"},
		{"a missing header of an unknown path", "GET", "/v9", answer{404, map[string]string{"X-RateLimit-Reset": ""}, notFound}, "header X-RateLimit-Reset is missing"},
		{"a method that should work", "GET", "/v1/patients", answer{405, map[string]string{"Allow": "POST"}, noMethod}, "status is not documented"},
		{"a missing Allow", "DELETE", "/v1/patients", answer{405, nil, noMethod}, "header Allow is missing"},
		{"a header that is no number", "GET", "/healthz", answer{200, map[string]string{"X-RateLimit-Remaining": "many"}, `{"status":"ok"}`}, "header X-RateLimit-Remaining"},
		{"a header of another form", "GET", "/healthz", answer{200, map[string]string{"RateLimit": "r=1"}, `{"status":"ok"}`}, "header RateLimit"},
		{"another media type", "GET", "/healthz", answer{200, map[string]string{"Content-Type": "text/plain"}, `{"status":"ok"}`}, "text/plain"},
		{"no media type", "GET", "/healthz", answer{200, map[string]string{"Content-Type": "?/"}, `{"status":"ok"}`}, "Content-Type"},
		{"no JSON", "GET", "/healthz", answer{200, nil, `{"status":`}, "not JSON"},
		{"something after the JSON", "GET", "/healthz", answer{200, nil, `{"status":"ok"} {}`}, "not JSON"},
		{"an empty body", "GET", "/healthz", answer{200, nil, ``}, "the body is empty"},
		{"an unknown path in another shape", "GET", "/v9", answer{404, nil, `{"message":"no"}`}, "body"},
		{"a page for a known path", "GET", "/v1/patients/x", answer{404, map[string]string{"Content-Type": "text/html"}, "<p>"}, "text/html"},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults := faultsOf(t, c.method, c.path, c.answer)
			if len(faults) != 1 || !strings.Contains(faults[0], c.want) {
				t.Fatalf("reported %q, want one fault with %q", faults, c.want)
			}
			path, _, _ := strings.Cut(c.path, "?")
			if prefix := fmt.Sprintf("openapi: %s %s: %d: ", c.method, path, c.answer.status); !strings.HasPrefix(faults[0], prefix) {
				t.Errorf("reported %q, want it to start with %q", faults[0], prefix)
			}
			if len(faults[0]) > 600 {
				t.Errorf("the report has %d characters", len(faults[0]))
			}
		})
	}
}

// TestBodyWhereThereIsNone calls the check directly: no connection permits a
// body after a status that has none.
func TestBodyWhereThereIsNone(t *testing.T) {
	none := &response{}
	if faults := none.checkBody("", nil); len(faults) != 0 {
		t.Errorf("reported %q for no body", faults)
	}
	if faults := none.checkBody("application/json", []byte("{}")); len(faults) != 1 {
		t.Errorf("reported %q for a body, want one fault", faults)
	}
}

func TestWrapReadsGzip(t *testing.T) {
	for body, faults := range map[string]int{`{"status":"ok"}`: 0, `{"status":"no"}`: 1} {
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		_, _ = io.WriteString(writer, body)
		_ = writer.Close()
		server := httptest.NewServer(answer{200, map[string]string{"Content-Encoding": "gzip"}, packed.String()})
		defer server.Close()

		// The transport decompresses by itself, unless the caller requests
		// compression.
		for _, asked := range []string{"", "gzip"} {
			seen := &recorder{TB: t}
			request, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/healthz", nil)
			if err != nil {
				t.Fatal(err)
			}
			want := body
			if asked != "" {
				request.Header.Set("Accept-Encoding", asked)
				want = packed.String()
			}
			response, err := New(seen).Wrap(nil).RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(response.Body); err != nil || string(got) != want {
				t.Errorf("the caller got %q, %v; want %q", got, err, want)
			}
			if len(seen.faults) != faults {
				t.Errorf("%s: reported %q, want %d", body, seen.faults, faults)
			}
		}
	}
}

// TestWrapReadsARecorder uses header names as written by the handler.
func TestWrapReadsARecorder(t *testing.T) {
	seen := &recorder{TB: t}
	wrapped := New(seen).Wrap(roundTripper(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		answer{200, nil, `{"status":"ok"}`}.ServeHTTP(w, r)
		return w.Result(), nil
	}))
	if _, err := wrapped.RoundTrip(httptest.NewRequestWithContext(t.Context(), "GET", "/healthz", nil)); err != nil {
		t.Fatal(err)
	}
	if len(seen.faults) > 0 {
		t.Error(seen.faults)
	}
}

// TestWrapHandsErrorsOn cuts off a response in the middle of its body.
func TestWrapHandsErrorsOn(t *testing.T) {
	seen := &recorder{TB: t}
	server := httptest.NewServer(answer{200, map[string]string{"Content-Length": "100"}, `{"status":`})
	defer server.Close()
	client := &http.Client{Transport: New(seen).Wrap(nil)}
	response, err := client.Get(server.URL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err == nil || string(body) != `{"status":` {
		t.Errorf("the caller got %q, %v", body, err)
	}
	server.Close()
	if response, err := client.Get(server.URL + "/healthz"); err == nil {
		response.Body.Close()
		t.Error("the error of the transport was lost")
	}
	if len(seen.faults) > 0 {
		t.Errorf("reported %q on an answer that did not come", seen.faults)
	}
}

func TestWrapInParallel(t *testing.T) {
	seen := &recorder{TB: t}
	server := httptest.NewServer(answer{200, nil, `{"status":"no"}`})
	defer server.Close()
	client := &http.Client{Transport: New(seen).Wrap(nil)}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			response, err := client.Get(server.URL + "/healthz")
			if err != nil {
				t.Error(err)
				return
			}
			response.Body.Close()
		})
	}
	all.Wait()
	if len(seen.faults) != 20 {
		t.Errorf("reported %d faults, want 20", len(seen.faults))
	}
}

// BenchmarkCheck measures the check of a full page of patients.
func BenchmarkCheck(b *testing.B) {
	item := `{"id":"pat_01kf0k8y20a14c3emmv2g2jemj","name":"A","date_of_birth":"1968-04-02","created_at":"2026-01-15T10:30:00Z"}`
	for name, body := range map[string][]byte{
		"page":  []byte(`{"data":[` + strings.Repeat(item+",", 99) + item + `],"pagination":{"page":1,"limit":100,"total":100}}`),
		"small": []byte(emptyList),
	} {
		b.Run(name, func(b *testing.B) {
			w := httptest.NewRecorder()
			answer{200, map[string]string{"Link": link}, string(body)}.ServeHTTP(w, nil)
			request, response := httptest.NewRequest("GET", "/v1/patients", nil), w.Result()
			d := compiled()
			for b.Loop() {
				if faults := d.check(request, response, body); len(faults) > 0 {
					b.Fatal(faults)
				}
			}
		})
	}
}
