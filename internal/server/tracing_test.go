package server

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// otelCollector is an OpenTelemetry collector as far as OTLP over HTTP goes.
type otelCollector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*otlp.Span
	raw   []byte
	about map[string]string
}

func newCollector(t *testing.T) *otelCollector {
	c := &otelCollector{about: map[string]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var got collector.ExportTraceServiceRequest
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &got) != nil {
			t.Errorf("the collector got %s %s, %v", r.Method, r.URL, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw = append(c.raw, body...)
		for _, of := range got.ResourceSpans {
			for _, kv := range of.Resource.Attributes {
				c.about[kv.Key] = kv.Value.GetStringValue()
			}
			for _, scope := range of.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// named gives the spans of a name.
func (c *otelCollector) named(name string) (found []*otlp.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

func attributeOf(s *otlp.Span, key string) string {
	for _, kv := range s.Attributes {
		if kv.Key == key {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}

// traceCaller is somebody with a token who is traced himself.
type traceCaller struct {
	t     *testing.T
	s     *Server
	token string
}

func newTraceCaller(t *testing.T, s *Server) *traceCaller {
	t.Helper()
	client := storetest.Client(t, s.Store(), "general")
	answer, err := http.PostForm(s.URL()+"/oauth/token", url.Values{"grant_type": {"client_credentials"},
		"client_id": {client.ClientID.String()}, "client_secret": {"secret of general"}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var grant struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&grant); err != nil || grant.Token == "" {
		t.Fatal(answer.Status, err)
	}
	return &traceCaller{t, s, grant.Token}
}

const (
	theirTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	theirSpan  = "00f067aa0ba902b7"
)

func (c *traceCaller) send(method, path, body string, want int) map[string]any {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.s.URL()+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Traceparent", "00-"+theirTrace+"-"+theirSpan+"-01")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil || answer.StatusCode != want {
		c.t.Fatalf("%s %s: %s, %v, %v", method, path, answer.Status, out, err)
	}
	return out
}

// Requests, their store operations, and deliveries reach the collector, at the
// latest when the server stops, and contain no patient data.
func TestTraces(t *testing.T) {
	t.Parallel()
	there := newCollector(t)
	delivered := make(chan http.Header, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { delivered <- r.Header }))
	t.Cleanup(receiver.Close)

	unhurried := limits
	unhurried.spans, unhurried.attempt = testwait.Bound, testwait.Bound
	s := serveWith(t, unhurried, "--dev", "--otlp-endpoint", there.URL)
	c := newTraceCaller(t, s)
	hook := c.send("POST", "/v1/webhooks", `{"url":"`+receiver.URL+`/secret-path","events":["patient.created"]}`, http.StatusCreated)["id"].(string)
	patient := c.send("POST", "/v1/patients", `{"name":"Arlo Finch","date_of_birth":"1961-03-14"}`, http.StatusCreated)["id"].(string)
	c.send("GET", "/v1/patients/"+patient, "", http.StatusOK)
	c.send("GET", "/v1/patients?search=Arlo", "", http.StatusOK)
	c.send("GET", "/v1/nothing/"+patient, "", http.StatusNotFound)
	if header := <-delivered; header.Get("Traceparent") != "" || header.Get("Tracestate") != "" || header.Get("Baggage") != "" {
		t.Errorf("a receiver is told of the trace: %v", header)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"GET /v1/patients/{id}", "POST /v1/patients", "GET /v1/patients", "unknown"} {
		spans := there.named(name)
		if len(spans) != 1 {
			t.Errorf("%d spans %q", len(spans), name)
			continue
		}
		span := spans[0]
		if hex.EncodeToString(span.TraceId) != theirTrace || hex.EncodeToString(span.ParentSpanId) != theirSpan || span.Kind != otlp.Span_SPAN_KIND_SERVER {
			t.Errorf("%s is not below the caller's span: %v", name, span)
		}
		if attributeOf(span, "anodyne.request_id") == "" || attributeOf(span, "anodyne.client") == "" || span.EndTimeUnixNano < span.StartTimeUnixNano {
			t.Errorf("%s: %v", name, span)
		}
	}
	below := map[string]int{} // spans of the store, by the name of what they are below
	parents := map[string]string{}
	for _, span := range there.spans {
		parents[string(span.SpanId)] = span.Name
	}
	for _, kind := range []string{"store.read", "store.snapshot", "store.write"} {
		for _, span := range there.named(kind) {
			below[kind+" of "+parents[string(span.ParentSpanId)]]++
			if len(span.ParentSpanId) == 0 || attributeOf(span, "db.system.name") != "sqlite" {
				t.Errorf("%v", span)
			}
		}
	}
	if below["store.write of POST /v1/patients"] == 0 || below["store.read of GET /v1/patients/{id}"]+below["store.snapshot of GET /v1/patients/{id}"] == 0 {
		t.Errorf("spans of the store: %v", below)
	}
	deliveries := there.named("webhook.delivery")
	if len(deliveries) != 1 || attributeOf(deliveries[0], "anodyne.webhook") != hook {
		t.Errorf("deliveries: %v", deliveries)
	}
	if there.about["service.name"] != "anodyne" {
		t.Errorf("about: %v", there.about)
	}
	for _, secret := range []string{patient, "Arlo", "Finch", "secret-path", c.token, "INSERT", "SELECT"} {
		if bytes.Contains(there.raw, []byte(secret)) {
			t.Errorf("the collector is told %q", secret)
		}
	}
}

// A collector that is away, slow or angry costs spans and nothing else.
func TestTracesWithoutCollector(t *testing.T) {
	t.Parallel()
	angry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	t.Cleanup(angry.Close)
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(silent.Close)
	t.Cleanup(func() { close(release) }) // before Close, which waits
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, endpoint := range map[string]string{"angry": angry.URL, "silent": silent.URL, "gone": gone.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, "--admin-listen", "127.0.0.1:0", "--otlp-endpoint", endpoint)
			c := newTraceCaller(t, s)
			for range 3 {
				c.send("POST", "/v1/patients", `{"name":"Arlo Finch","date_of_birth":"1961-03-14"}`, http.StatusCreated)
			}
			c.send("GET", "/v1/patients", "", http.StatusOK)
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}
