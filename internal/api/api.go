// Package api is the HTTP interface: one route table, one file per resource,
// and the phases that every request passes, in the order of the contract:
// token, rate limit, route, scope, body, record.
//
// A handler decodes, validates, calls the store once and returns a response or
// an error. The phases run outside the handlers, so no handler can skip one.
package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
)

// Config holds the dependencies and settings of the API.
type Config struct {
	Store     *store.Store
	Authority Authority
	Limiter   *ratelimit.Limiter
	Addresses *ratelimit.Addresses
	// Revocations limits revocation and introspection requests of clients that
	// have used up their own allowance, by client and source address; see
	// [NewRevocations].
	Revocations *ratelimit.Addresses
	Cohorts     *cohort.Cohorts
	// FHIR maps patients and records to FHIR resources.
	FHIR fhir.Mapping
	// ReadReport parses the body of POST /v1/reports.
	ReadReport ReadReport
	// TrustedProxies are the proxies whose X-Forwarded-For header is trusted.
	TrustedProxies []netip.Prefix
	// CORSOrigins are the origins allowed to read responses in a browser; none
	// by default.
	CORSOrigins []string
	// BaseURL is the public address, for the OAuth metadata. It defaults to the
	// address of the listener.
	BaseURL string
	Now     func() time.Time
	Log     *slog.Logger
	// Registry may be nil.
	Registry prometheus.Registerer
	// RequestLog receives a line for every request, unless it is nil, in the JSON or
	// the text format of package slog. Calls of Write are concurrent.
	RequestLog     io.Writer
	RequestLogJSON bool
	// Traced is set if the context of requests has a span, which is then named
	// after the route.
	Traced bool
	// Pages serves the portal and the documentation; nil if there are none.
	Pages http.Handler
	// CheckWebhookURL checks whether events may be sent to an address, and
	// NewWebhookSecret creates a signing secret; internal/webhook implements
	// both.
	CheckWebhookURL  func(address string) error
	NewWebhookSecret func() string
	// AnswerTime limits the time from the request header to the response. It is
	// a little less than the server's write timeout. Requests that take longer
	// get a 503; 0 means no limit.
	AnswerTime time.Duration
	// ReadyTime limits how long /readyz waits for the database, so that a load
	// balancer can switch to another node; 0 means no limit of its own.
	ReadyTime time.Duration
	// MaxWaiting limits the number of callers waiting for events; 0 means no
	// limit.
	MaxWaiting int
	// Draining ends when the server is about to stop; nil if it never does.
	Draining context.Context
}

// Authority authenticates clients and manages tokens. It is implemented by
// internal/oauth.
type Authority interface {
	// Verify returns the principal of the token in an Authorization header.
	Verify(ctx context.Context, header []string) (*access.Principal, error)
	// Authenticate returns the client with these credentials.
	Authenticate(ctx context.Context, clientID, secret string) (*clients.Client, error)
	// AuthenticateAssertion returns the client that signed an assertion, which
	// it accepts once. clientID is the client_id parameter, or "". Each
	// audience of the assertion must be one of audience.
	AuthenticateAssertion(ctx context.Context, clientID, assertion string, audience []string) (*clients.Client, error)
	// Issue creates an access token for the client. scope narrows its scopes;
	// "" means all that were granted. A scope that was not granted is an error.
	Issue(ctx context.Context, c *clients.Client, scope string) (access.Grant, error)
	// Revoke revokes a token of the client and records line in the audit log.
	// It does nothing if the token is not the client's.
	Revoke(ctx context.Context, c *clients.Client, token string, line audit.Entry) error
	// Introspect returns a token if it is active and belongs to the client's
	// organisation.
	Introspect(ctx context.Context, c *clients.Client, token string) (t clients.Token, active bool, err error)
}

// API is the HTTP handler of the service.
type API struct {
	Config
	routes  []route
	routeOf map[string]*route // by pattern of mux
	mux     *http.ServeMux
	metrics *metrics
	usage   usage
	base    func(*http.Request) string
	mapping fhirMapping
	// behindTLS is set if BaseURL is an https address.
	behindTLS bool
	// boundsCounts is that of the store.
	boundsCounts bool
	lines        *requestLines
	waiters      *waiters
}

// New returns an API with this configuration.
func New(cfg Config) *API {
	a := &API{Config: cfg, mux: http.NewServeMux(), base: Base(cfg.BaseURL), behindTLS: strings.HasPrefix(cfg.BaseURL, "https://"), mapping: fhirMapping{cfg.FHIR}}
	a.boundsCounts = cfg.Store != nil && cfg.Store.BoundsCounts()
	a.waiters = newWaiters(cfg.MaxWaiting)
	a.routes, a.routeOf = a.table(), map[string]*route{}
	a.metrics = newMetrics(cfg.Registry, a.routes)
	a.lines = newRequestLines(cfg.RequestLog, cfg.RequestLogJSON, a.routes)
	for i := range a.routes {
		rt := &a.routes[i]
		a.routeOf[rt.name()] = rt
		a.mux.HandleFunc(rt.name(), func(w http.ResponseWriter, _ *http.Request) { a.serve(w.(*exchange), rt) })
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { a.unknown(w.(*exchange)) })
	return a
}

// ServeHTTP takes a request through its phases. Under /v1 and /fhir, a missing
// or invalid token is reported before any other error.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(a, w, r)
	defer x.end()
	if a.cors(x) {
		return
	}
	if a.Pages != nil && isPage(r.URL.Path) {
		a.showPage(x)
		return
	}
	if a.Pages != nil && asksForPortal(r) {
		a.sendToPortal(x)
		return
	}
	if needsToken(r.URL.Path) {
		if err := a.admit(x); err != nil {
			if isClean(r.URL.Path) { // for the log and the metrics
				_, pattern := a.mux.Handler(r)
				x.route = a.routeOf[pattern]
			}
			x.fail(err)
			return
		}
	}
	if !isClean(r.URL.Path) {
		a.unknown(x)
		return
	}
	if r.URL.Path == fhirBase+"/" { // where some FHIR clients send bundles
		r.URL.Path = fhirBase
	}
	a.mux.ServeHTTP(x, r)
}

// admit runs the first two phases: it verifies the token and takes the request
// from the client's allowance. Without a valid token, the request counts for
// the source address instead.
func (a *API) admit(x *exchange) error {
	p, err := a.Authority.Verify(x.lookupCtx(), x.r.Header["Authorization"])
	if err != nil {
		return a.refuse(x, err)
	}
	if err := a.begin(x, p); err != nil {
		return err
	}
	if mayReadEarly(x.r) {
		return nil
	}
	return x.settle()
}

// take counts a request for its client.
func (a *API) take(x *exchange, p *access.Principal) error {
	if err := a.begin(x, p); err != nil {
		return err
	}
	return x.settle()
}

// begin begins to count a request for its client, unless it is already known
// that it is refused.
func (a *API) begin(x *exchange, p *access.Principal) (err error) {
	x.principal, x.org = p, a.Store.For(p)
	if x.ticket, err = a.Limiter.Begin(x.lookupCtx(), p.Client, p.Tier.Limit(), 1); err != nil {
		x.limited(a.Limiter.Peek(p.Client, p.Tier.Limit()))
		return err
	}
	x.counting = true
	if x.ticket.Known() {
		return x.settle()
	}
	return nil
}

// settle waits until the request is counted and returns an error if it is
// refused. It must be called before a response is sent, and before a handler
// does more than a lookup by key.
func (x *exchange) settle() error {
	if !x.counting {
		return nil
	}
	x.counting = false
	d, err := x.ticket.Await(x.countCtx())
	if err != nil {
		x.limited(x.api.Limiter.Peek(x.principal.Client, x.principal.Tier.Limit()))
		return err
	}
	x.limited(d)
	if !d.Allowed {
		return d.Fault()
	}
	return nil
}

// mayReadEarly reports whether the route of a request may have early set, so
// that the request can be routed before it is counted.
func mayReadEarly(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/patients")
}

// refuse counts a request without valid credentials for its source address.
// This slows down guessing and does not affect callers with valid credentials
// behind the same address.
func (a *API) refuse(x *exchange, err error) error {
	if code := fault.CodeOf(err); code == fault.Internal || code == fault.Unavailable {
		return err // the credentials were not checked and may be valid
	}
	if wasOurs(err) {
		return err
	}
	a.metrics.guesses.Inc()
	d := a.Addresses.Take(x.source)
	x.limited(d)
	if !d.Allowed {
		return d.Fault()
	}
	return err
}

// wasOurs reports whether err rejects a token that was once valid. Such a
// caller is not guessing and must learn that it needs a new token, so the
// request is not counted.
func wasOurs(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Code == fault.Unauthorized && (f.Details["reason"] == "expired_token" || f.Details["reason"] == "revoked_token")
}

// serve runs the phases after routing.
func (a *API) serve(x *exchange, rt *route) {
	x.route = rt
	if !rt.early {
		if err := x.settle(); err != nil {
			x.fail(err)
			return
		}
	}
	out, err := a.handle(x, rt)
	if refused := x.settle(); refused != nil { // comes before errors of the phases that follow
		err = refused
	}
	if err != nil {
		x.fail(err)
		return
	}
	if out.line != nil {
		if err := x.org.Saw(out.line); err != nil {
			x.fail(err)
			return
		}
	}
	x.send(out)
}

// handle checks the scopes of a request and calls its handler.
func (a *API) handle(x *exchange, rt *route) (answer, error) {
	if rt.scope != 0 && !x.principal.Scopes.Has(rt.scope) {
		return answer{}, forbidden(rt.scope, x.principal.Scopes)
	}
	if rt.fhir != 0 {
		if err := x.admitFHIR(rt.fhir); err != nil {
			return answer{}, err
		}
	}
	return rt.handle(x)
}

// line starts the audit entry of this request.
func (x *exchange) line(action audit.Action, resource string) audit.Entry {
	return audit.Entry{At: x.now, RequestID: x.requestID, Action: action, Resource: resource, Source: x.source.String(), Actor: x.clientID()}
}

// saw starts the audit entry of a read, which is recorded before the response
// is sent.
func (x *exchange) saw(action audit.Action, resource string) *audit.Entry {
	x.seen = x.line(action, resource)
	return &x.seen
}

// ctx returns the context of the request, which ends early enough to send a
// response.
func (x *exchange) ctx() context.Context {
	if x.api.AnswerTime == 0 {
		return x.r.Context()
	}
	if x.limitedTo == nil {
		x.limitedTo, x.release = context.WithDeadline(x.r.Context(), x.began.Add(x.api.AnswerTime))
	}
	return x.limitedTo
}

// countCtx is ctx for counting the request.
func (x *exchange) countCtx() context.Context {
	if x.ticket.Known() || x.api.boundsCounts {
		return x.lookupCtx()
	}
	return x.ctx()
}

// lookupCtx is ctx for a lookup by key. The store bounds these anyway, so it
// saves the timer of a deadline, unless time has passed already.
func (x *exchange) lookupCtx() context.Context {
	if x.limitedTo == nil && time.Since(x.began) < x.api.AnswerTime/8 {
		return x.r.Context()
	}
	return x.ctx()
}
