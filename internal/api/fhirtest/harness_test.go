package fhirtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/api"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
	"anodyne.example/anodyne/internal/worker"
)

const base = "/fhir/R4"

// server is a running service.
type server struct {
	store     *store.Store
	authority *oauth.Authority
	handler   http.Handler
	url       string
}

// tests are run against one server of each engine, in parallel.
var tests = map[string]func(t *testing.T, s *server){}

func TestFHIR(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := start(t, engine)
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, s)
				})
			}
		})
	}
}

func start(t *testing.T, engine string) *server {
	t.Helper()
	database := storetest.Database(t, engine)
	database.Log = slog.New(slog.DiscardHandler)
	database.Now = time.Now
	s := &server{store: storetest.Start(t, database)}
	s.authority = oauth.New(s.store, time.Now)
	sys := s.store.System()
	limiter := ratelimit.NewClaiming(sys.Claim, sys.StartClaims, sys.Return, func(int64) int64 { return 0 }, time.Now)
	workers := worker.NewGroup(database.Log)
	workers.Start("sequencer", sys.Sequence)
	s.handler = api.New(api.Config{
		Store: s.store, Authority: s.authority, Limiter: limiter, Addresses: ratelimit.NewAddresses(1<<40, 1000, time.Now),
		Revocations: api.NewRevocations(1000, time.Now), Cohorts: cohort.New(16<<20, nil), Now: time.Now, Log: database.Log,
	})
	web := httptest.NewServer(s.handler)
	s.url = web.URL
	t.Cleanup(func() {
		web.Close()
		if err := limiter.Close(context.Background()); err != nil {
			t.Errorf("closing the limiter: %v", err)
		}
		workers.Stop()
	})
	return s
}

// caller is a client of an organisation.
type caller struct {
	t      *testing.T
	server *server
	token  string
	client clients.Client
}

// caller registers a client of an organisation of this test.
func (s *server) caller(t *testing.T, org string, scopes ...access.Scopes) *caller {
	t.Helper()
	granted := access.AllScopes
	if len(scopes) > 0 {
		granted = scopes[0]
	}
	_, hash := oauth.NewSecret()
	client, err := s.store.System().CreateClient(context.Background(), clients.NewClient{Org: t.Name() + " " + org, Name: "test", Tier: access.Enterprise, Scopes: granted, SecretHash: hash})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := s.authority.Issue(context.Background(), &client, "")
	if err != nil {
		t.Fatal(err)
	}
	return &caller{t, s, grant.Token, client}
}

// asking returns the client with a token for some scopes.
func (c *caller) asking(scopes string) *caller {
	c.t.Helper()
	grant, err := c.server.authority.Issue(context.Background(), &c.client, scopes)
	if err != nil {
		c.t.Fatal(err)
	}
	return &caller{c.t, c.server, grant.Token, c.client}
}

// reply is a response.
type reply struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	body   []byte
}

// send sends a request. header is names and values in turn.
func (c *caller) send(method, path, body string, header ...string) *reply {
	c.t.Helper()
	address := path
	if !strings.HasPrefix(path, "http") {
		address = c.server.url + path
	}
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/fhir+json")
		if strings.HasPrefix(path, "/v1") {
			request.Header.Set("Content-Type", "application/json")
		}
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	r := &reply{t: c.t, what: method + " " + path, status: response.StatusCode, header: response.Header}
	if r.body, err = io.ReadAll(response.Body); err != nil {
		c.t.Fatal(err)
	}
	if strings.HasPrefix(path, base) && r.status >= 400 && method != http.MethodHead {
		r.isOutcome()
	}
	return r
}

func (c *caller) get(path string, header ...string) *reply {
	c.t.Helper()
	return c.send(http.MethodGet, path, "", header...)
}

// isOutcome checks that an error is an OperationOutcome that says something.
func (r *reply) isOutcome() {
	r.t.Helper()
	var outcome struct {
		ResourceType string
		Issue        []struct {
			Severity, Code string
			Details        struct{ Text string }
		}
	}
	if err := json.Unmarshal(r.body, &outcome); err != nil || outcome.ResourceType != "OperationOutcome" || len(outcome.Issue) == 0 || outcome.Issue[0].Details.Text == "" || outcome.Issue[0].Code == "" {
		r.t.Errorf("%s: %d %s is no OperationOutcome: %v", r.what, r.status, r.body, err)
	}
	if got := r.header.Get("Content-Type"); got != "application/fhir+json; charset=utf-8" {
		r.t.Errorf("%s: an error of type %s", r.what, got)
	}
}

// is fails the test unless the response has a status.
func (r *reply) is(status int) *reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: %d, want %d: %s", r.what, r.status, status, r.body)
	}
	return r
}

// says fails the test unless the body has a text.
func (r *reply) says(text string) *reply {
	r.t.Helper()
	if !bytes.Contains(r.body, []byte(text)) {
		r.t.Errorf("%s: %s does not contain %s", r.what, r.body, text)
	}
	return r
}

func (r *reply) json() map[string]any {
	r.t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(r.body, &doc); err != nil {
		r.t.Fatalf("%s: %v: %s", r.what, err, r.body)
	}
	return doc
}

// id returns the id of a resource.
func (r *reply) id() string {
	r.t.Helper()
	text, _ := r.json()["id"].(string)
	if text == "" {
		r.t.Fatalf("%s: no id in %s", r.what, r.body)
	}
	return text
}

// found is a search result.
type found struct {
	total   float64 // -1 if it is absent
	next    string
	self    string
	ids     []string // Type/id of the matches
	include []string
	entries []map[string]any
}

// bundle parses a Bundle.
func (r *reply) bundle() (f found) {
	r.t.Helper()
	var doc struct {
		ResourceType, Type string
		Total              *float64
		Link               []struct{ Relation, URL string }
		Entry              []struct {
			FullURL  string
			Resource map[string]any
			Search   struct{ Mode string }
		}
	}
	if err := json.Unmarshal(r.body, &doc); err != nil || doc.ResourceType != "Bundle" {
		r.t.Fatalf("%s: %s is no Bundle: %v", r.what, r.body, err)
	}
	f.total = -1
	if doc.Total != nil {
		f.total = *doc.Total
	}
	for _, link := range doc.Link {
		switch link.Relation {
		case "next":
			f.next = link.URL
		case "self":
			f.self = link.URL
		}
	}
	for _, e := range doc.Entry {
		name := e.Resource["resourceType"].(string) + "/" + e.Resource["id"].(string)
		if !strings.HasSuffix(e.FullURL, base+"/"+name) {
			r.t.Errorf("%s: fullUrl %s of %s", r.what, e.FullURL, name)
		}
		if e.Search.Mode == "include" {
			f.include = append(f.include, name)
			continue
		}
		f.ids, f.entries = append(f.ids, name), append(f.entries, e.Resource)
	}
	return f
}

// search follows a search to its end.
func (c *caller) search(path string) (all found) {
	c.t.Helper()
	for at, pages := base+"/"+path, 0; at != ""; pages++ {
		if pages > 1000 {
			c.t.Fatalf("%s: there is no end", path)
		}
		f := c.get(at).is(http.StatusOK).bundle()
		all.ids, all.entries, all.include = append(all.ids, f.ids...), append(all.entries, f.entries...), append(all.include, f.include...)
		all.total = max(all.total, f.total)
		if at = f.next; at != "" && !strings.HasPrefix(at, c.server.url) {
			c.t.Fatalf("%s: next is %s", path, at)
		}
		if all.self == "" {
			all.self = f.self
		}
	}
	return all
}

// patient creates a patient through /v1 and returns its FHIR id.
func (c *caller) patient(body string) string {
	c.t.Helper()
	text := c.send("POST", "/v1/patients", body).is(http.StatusCreated).json()["id"].(string)
	return strings.TrimPrefix(text, "pat_")
}

// record adds a record through /v1 and returns the id of its first version.
func (c *caller) record(patient, body string) string {
	c.t.Helper()
	text := c.send("POST", "/v1/patients/pat_"+patient+"/clinical-data", body).is(http.StatusCreated).json()["id"].(string)
	return strings.TrimPrefix(text, "rec_")
}

// event waits for an event of a type.
func (c *caller) event(name string) {
	c.t.Helper()
	testwait.Until(c.t, name, func() bool { return strings.Contains(string(c.get("/v1/events").is(http.StatusOK).body), name) })
}

func escape(s string) string { return url.QueryEscape(s) }
