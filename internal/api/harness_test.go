package api

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/api/openapi/openapitest"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/report"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/webhook"
	"anodyne.example/anodyne/internal/worker"
)

// node is one running process of the service, assembled as in internal/server,
// and served over a real socket.
type node struct {
	tb        testing.TB
	database  store.Config
	clock     *clock
	log       *logbook
	store     *store.Store
	authority *oauth.Authority
	limiter   *ratelimit.Limiter
	gate      *gate
	registry  *prometheus.Registry
	trips     storetest.Trips // what requests ask of the database
	drain     func()          // what the server does before it stops
	api       *API
	url       string
	http      *http.Client
}

// each runs a test against a fresh service on each engine.
func each(t *testing.T, test func(t *testing.T, n *node)) {
	t.Helper()
	eachWith(t, nil, test)
}

// eachWith is each with a change to the configuration.
func eachWith(t *testing.T, tweak func(*Config), test func(t *testing.T, n *node)) {
	t.Helper()
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, start(t, engine, tweak))
		})
	}
}

// start starts a service on a new database.
func start(tb testing.TB, engine string, tweak func(*Config)) *node {
	tb.Helper()
	database := storetest.Database(tb, engine)
	book := &logbook{}
	tb.Cleanup(func() { book.check(tb) }) // comes last, when all is closed
	clock := &clock{}
	database.Now, database.Log = clock.now, book.logger()
	return startNode(tb, database, clock, book, tweak)
}

// another starts another node on the same database.
func (n *node) another() *node {
	n.tb.Helper()
	return startNode(n.tb, storetest.Node(n.tb, n.database), n.clock, n.log, nil)
}

func startNode(tb testing.TB, database store.Config, clock *clock, book *logbook, tweak func(*Config)) *node {
	tb.Helper()
	n := &node{tb: tb, database: database, clock: clock, log: book, registry: prometheus.NewRegistry()}
	n.trips.Watch(&database)
	n.store = storetest.Start(tb, database)
	sys := n.store.System()
	n.authority = oauth.New(n.store, clock.now)
	n.limiter = n.newLimiter()
	draining, drain := context.WithCancel(context.Background())
	n.drain = drain
	n.gate = &gate{Cohorts: cohort.New(16<<20, nil)}
	cfg := Config{
		Store: n.store, Authority: n.authority, Limiter: n.limiter,
		Addresses:   ratelimit.NewAddresses(access.Standard.Limit(), 1000, clock.now),
		Revocations: NewRevocations(1000, clock.now),
		Cohorts:     n.gate.Cohorts,
		ReadReport:  report.ReadRequest,
		Now:         clock.now, Log: database.Log, RequestLog: book, Registry: n.registry, Draining: draining,
		CheckWebhookURL:  func(address string) error { return webhook.CheckURL(address, false) },
		NewWebhookSecret: webhook.NewSecret,
	}
	if tweak != nil {
		tweak(&cfg)
	}
	n.api = New(cfg)
	workers := worker.NewGroup(database.Log)
	workers.Start("sequencer", sys.Sequence)
	workers.Start("listener", sys.Listen)
	workers.Start("reports", report.NewWorker(report.Config{Store: n.store, Analyst: n.gate, Retention: 30 * 24 * time.Hour, Log: database.Log}).Run)
	server := httptest.NewUnstartedServer(n.trips.Of(n.api))
	server.Config.DisableGeneralOptionsHandler = true // net/http would answer "OPTIONS *" itself
	server.Start()
	transport := &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}
	n.url, n.http = server.URL, &http.Client{Transport: openapitest.New(tb).Wrap(transport), CheckRedirect: noRedirect}
	tb.Cleanup(func() {
		drain()
		transport.CloseIdleConnections()
		server.Close()
		if err := n.limiter.Close(context.Background()); err != nil {
			tb.Errorf("closing the limiter: %v", err)
		}
		workers.Stop()
	})
	return n
}

// newLimiter makes the limiter as a node of this engine has it.
func (n *node) newLimiter() *ratelimit.Limiter {
	sys := n.store.System()
	ahead := func(limit int64) int64 {
		if n.store.Engine() == storetest.SQLite {
			return limit / 50
		}
		return 0
	}
	l := ratelimit.NewClaiming(sys.Claim, sys.StartClaims, sys.Return, ahead, n.clock.now)
	l.OnUse(sys.WarnQuota)
	return l
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// clock runs like the real one, and can be moved forward and stopped.
type clock struct {
	ahead   atomic.Int64
	stopped atomic.Pointer[time.Time]
}

func (c *clock) now() time.Time {
	at := c.stopped.Load()
	if at == nil {
		at = new(time.Now())
	}
	return at.Add(time.Duration(c.ahead.Load()))
}

// stop stops the clock until the function it returns is called: what a node
// remembers for a time does not become old on a machine that is slow.
func (c *clock) stop() (start func()) {
	c.stopped.Store(new(time.Now()))
	return func() { c.stopped.Store(nil) }
}

func (c *clock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// caller is a registered client with a token.
type caller struct {
	*node
	client clients.Client
	secret string
	token  string
}

// caller registers a client of an organisation. Scopes are all when none are
// given. Its token costs it nothing of its allowance.
func (n *node) caller(org string, scopes ...access.Scopes) *caller {
	n.tb.Helper()
	granted := access.AllScopes
	if len(scopes) > 0 {
		granted = scopes[0]
	}
	return n.callerOf(org, access.Standard, granted)
}

func (n *node) callerOf(org string, tier access.Tier, scopes access.Scopes) *caller {
	n.tb.Helper()
	secret, hash := oauth.NewSecret()
	client, err := n.store.System().CreateClient(context.Background(),
		clients.NewClient{Org: org, Name: "test", Tier: tier, Scopes: scopes, SecretHash: hash})
	if err != nil {
		n.tb.Fatal(err)
	}
	c := &caller{node: n, client: client, secret: secret}
	c.token = c.issue("")
	return c
}

// issue gives a token without a request.
func (c *caller) issue(scope string) string {
	c.tb.Helper()
	grant, err := c.authority.Issue(context.Background(), &c.client, scope)
	if err != nil {
		c.tb.Fatal(err)
	}
	return grant.Token
}

// at is the same client, talking to another node.
func (c *caller) at(n *node) *caller {
	moved := *c
	moved.node = n
	return &moved
}

// send sends a request with the caller's token; see [node.send].
func (c *caller) send(method, path, body string, header ...string) *reply {
	c.tb.Helper()
	if !slices.Contains(header, "Authorization") {
		header = append(header, "Authorization", "Bearer "+c.token)
	}
	return c.node.send(method, path, body, header...)
}

func (c *caller) get(path string, header ...string) *reply {
	c.tb.Helper()
	return c.send(http.MethodGet, path, "", header...)
}

func (c *caller) post(path, body string, header ...string) *reply {
	c.tb.Helper()
	return c.send(http.MethodPost, path, body, header...)
}

// create creates a patient and returns its identifier.
func (c *caller) create(name string) string {
	c.tb.Helper()
	return c.post("/v1/patients", `{"name":`+quote(name)+`,"date_of_birth":"1970-05-17"}`).is(http.StatusCreated).json()["id"].(string)
}

// send sends a request. header is names and values in turn; without a
// Content-Type a body is JSON, and with an empty one it has none. It can be
// called from any goroutine.
func (n *node) send(method, path, body string, header ...string) *reply {
	n.tb.Helper()
	n.log.expectNot(body)
	request, err := http.NewRequest(method, n.url+path, strings.NewReader(body))
	if err != nil {
		n.tb.Error(err)
		return &reply{tb: n.tb, what: method + " " + path}
	}
	typed := body == ""
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Content-Type" {
			typed = true
		}
		if header[i] != "Content-Type" || header[i+1] != "" {
			request.Header.Add(header[i], header[i+1])
		}
	}
	if !typed {
		request.Header.Set("Content-Type", "application/json")
	}
	return n.do(request)
}

// do sends a request as it is.
func (n *node) do(request *http.Request) *reply {
	n.tb.Helper()
	r := &reply{tb: n.tb, what: request.Method + " " + request.URL.RequestURI()}
	answer, err := n.http.Do(request)
	if err != nil {
		n.tb.Error(err)
		return r
	}
	defer answer.Body.Close()
	r.status, r.header = answer.StatusCode, answer.Header
	if r.body, err = io.ReadAll(answer.Body); err != nil {
		n.tb.Error(err)
	}
	return r
}
