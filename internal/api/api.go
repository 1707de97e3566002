// Package api is the HTTP interface: one route table, one file for each
// resource, and the phases every request passes, in the order in which the
// contract judges: token, rate limit, route, scope, body, record.
//
// A handler decodes, checks, calls the store once and returns an answer or an
// error; it cannot forget a phase, because the phases are not its own.
package api

import (
	"context"
	"errors"
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
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store"
)

// Config is what the interface is made of.
type Config struct {
	Store     *store.Store
	Authority Authority
	Limiter   *ratelimit.Limiter
	Addresses *ratelimit.Addresses
	// Revocations counts requests to end or look up a token whose client has
	// used up its own allowance, by client and source address; see
	// [NewRevocations].
	Revocations *ratelimit.Addresses
	Cohorts     *cohort.Cohorts
	// ReadReport reads what POST /v1/reports is sent.
	ReadReport ReadReport
	// TrustedProxies may name the caller's address in X-Forwarded-For.
	TrustedProxies []netip.Prefix
	// CORSOrigins may read answers in a browser; none by default.
	CORSOrigins []string
	// BaseURL is the public address, for the OAuth metadata; when empty it is
	// that of the listener.
	BaseURL string
	Now     func() time.Time
	Log     *slog.Logger
	// Registry may be nil.
	Registry prometheus.Registerer
	// RequestLog takes a line for every request; nil for none.
	RequestLog slog.Handler
	// Traced says that the context of requests has a span, which gets the
	// route's name.
	Traced bool
	// Pages answers the portal and the documentation; nil when there is none.
	Pages http.Handler
	// CheckWebhookURL judges where events may be sent, and NewWebhookSecret
	// makes what signs them; internal/webhook has both.
	CheckWebhookURL  func(address string) error
	NewWebhookSecret func() string
	// AnswerTime is how long an answer may take from the head of the request on:
	// a little less than the server lets a connection be written to. What takes
	// longer is answered with 503; 0 is without end.
	AnswerTime time.Duration
	// MaxWaiting is how many callers may wait for events at a time; 0 is without
	// a bound.
	MaxWaiting int
	// Draining ends when the server is about to stop; nil when it never does.
	Draining context.Context
}

// Authority knows clients and tokens; internal/oauth has it.
type Authority interface {
	// Verify says whose the token of an Authorization header is.
	Verify(ctx context.Context, header []string) (*access.Principal, error)
	// Authenticate knows a client by its secret.
	Authenticate(ctx context.Context, clientID, secret string) (*store.Client, error)
	Issue(ctx context.Context, c *store.Client, scope string) (access.Grant, error)
	Revoke(ctx context.Context, c *store.Client, token string, line audit.Entry) error
	Introspect(ctx context.Context, c *store.Client, token string) (t store.Token, active bool, err error)
}

// API answers requests.
type API struct {
	Config
	routes  []route
	mux     *http.ServeMux
	metrics *metrics
	usage   usage
	base    func(*http.Request) string
	// behindTLS is true when BaseURL says that callers come by TLS.
	behindTLS bool
	lines     requestLines
	waiters   *waiters
}

// New makes the interface.
func New(cfg Config) *API {
	a := &API{Config: cfg, mux: http.NewServeMux(), base: Base(cfg.BaseURL), behindTLS: strings.HasPrefix(cfg.BaseURL, "https://")}
	a.waiters = newWaiters(cfg.MaxWaiting)
	a.routes = a.table()
	a.metrics = newMetrics(cfg.Registry, a.routes)
	a.lines = newRequestLines(cfg.RequestLog, a.routes)
	for i := range a.routes {
		rt := &a.routes[i]
		a.mux.HandleFunc(rt.method+" "+rt.pattern, func(w http.ResponseWriter, _ *http.Request) { a.serve(w.(*exchange), rt) })
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { a.unknown(w.(*exchange)) })
	return a
}

// ServeHTTP takes a request through its phases. Everything under /v1 needs a
// token before anything else is said about it.
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
	if underV1(r.URL.Path) {
		if err := a.admit(x); err != nil {
			x.fail(err)
			return
		}
	}
	if !isClean(r.URL.Path) {
		a.unknown(x)
		return
	}
	a.mux.ServeHTTP(x, r)
}

// admit is the first two phases: whose token is it, and is the client within
// its allowance. Without a valid token the source address is counted instead.
func (a *API) admit(x *exchange) error {
	p, err := a.Authority.Verify(x.ctx(), x.r.Header["Authorization"])
	if err != nil {
		return a.refuse(x, err)
	}
	return a.take(x, p)
}

// take counts a request for its client.
func (a *API) take(x *exchange, p *access.Principal) error {
	x.principal, x.org = p, a.Store.For(p)
	d, err := a.Limiter.Take(x.ctx(), p.Client, p.Tier.Limit())
	if err != nil {
		x.limited(a.Limiter.Peek(p.Client, p.Tier.Limit()))
		return err
	}
	x.limited(d)
	if !d.Allowed {
		return d.Fault()
	}
	return nil
}

// refuse counts a request without valid credentials for its source address:
// guessing gets slower, and callers with valid ones behind the same address
// do not notice.
func (a *API) refuse(x *exchange, err error) error {
	if code := fault.CodeOf(err); code == fault.Internal || code == fault.Unavailable {
		return err // the credentials were not judged, and may be valid
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

// wasOurs reports whether a token was refused that was once good. Its caller
// guesses nothing and has to learn that it needs a new one, so it is not
// counted.
func wasOurs(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Code == fault.Unauthorized && (f.Details["reason"] == "expired_token" || f.Details["reason"] == "revoked_token")
}

// serve is the phases after routing.
func (a *API) serve(x *exchange, rt *route) {
	x.route = rt
	if rt.scope != 0 && !x.principal.Scopes.Has(rt.scope) {
		x.fail(forbidden(rt.scope, x.principal.Scopes))
		return
	}
	out, err := rt.handle(x)
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

// line begins the audit line of this request.
func (x *exchange) line(action audit.Action, resource string) audit.Entry {
	return audit.Entry{At: x.now, RequestID: x.requestID, Action: action, Resource: resource, Source: x.source.String(), Actor: x.clientID()}
}

// saw begins the audit line of a read, which is left before the answer goes
// out.
func (x *exchange) saw(action audit.Action, resource string) *audit.Entry {
	x.seen = x.line(action, resource)
	return &x.seen
}

// ctx is the context of the request, which ends while there is still time to
// answer.
func (x *exchange) ctx() context.Context {
	if x.api.AnswerTime == 0 {
		return x.r.Context()
	}
	if x.limitedTo == nil {
		x.limitedTo, x.release = context.WithDeadline(x.r.Context(), x.began.Add(x.api.AnswerTime))
	}
	return x.limitedTo
}
