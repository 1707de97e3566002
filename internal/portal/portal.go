// Package portal serves the developer portal and the documentation: pages on
// which the members of an organisation register applications, monitor
// deliveries, view patients and analytics and manage members; guides, and the
// API reference. It owns passwords, sessions, templates and the stylesheet;
// the data belongs to the store.
//
// Pages are rendered on the server and work without JavaScript. Nothing is
// loaded from another host. internal/api mounts the portal, so that its pages
// have the headers of every response.
package portal

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/portal/reference"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/strictjson"
)

// Config holds the dependencies and settings of the portal.
type Config struct {
	Store   *store.Store
	Cohorts *cohort.Cohorts
	// FHIR maps patients and records to FHIR resources.
	FHIR fhir.Mapping
	// NewSecret returns a new client secret and its hash.
	NewSecret func() (secret string, hash []byte)
	// ReadKeys parses public keys of an application, and CheckKeysURI returns
	// how many keys an address has that can be used.
	ReadKeys     func(jwks []byte) ([]clients.Key, error)
	CheckKeysURI func(ctx context.Context, uri string) (usable int, err error)
	// CheckWebhookURL checks whether events may be sent to an address, and
	// NewWebhookSecret creates a signing secret.
	CheckWebhookURL  func(address string) error
	NewWebhookSecret func() string
	// ReadReport parses a report request in the format of the API.
	ReadReport func(body *strictjson.Object, now time.Time) (reports.ReportRequest, error)
	// OpenAPI returns the OpenAPI document as JSON, for the reference.
	OpenAPI func() []byte
	// Source returns the caller's address.
	Source func(*http.Request) netip.Addr
	// Base returns the public URL of the service, without a trailing slash. It
	// does not depend on the request: a link with a secret must not lead to a
	// host chosen by the caller.
	Base func(*http.Request) string
	// Dev allows cookies without TLS, for development mode.
	Dev bool
	// SessionIdle is how long a session may be unused, and SessionLifetime how
	// long it may last in total.
	SessionIdle, SessionLifetime time.Duration

	// AnswerTime limits the time to render a page, except for downloads; 0
	// means no limit.
	AnswerTime time.Duration

	Now func() time.Time
	Log *slog.Logger
}

// Portal serves the pages under /portal and /docs.
type Portal struct {
	Config
	mux     http.Handler
	pages   pages
	guides  []guide
	guesses *ratelimit.Addresses
	hashes  *hashQueue
	here    *presence
	// reference is parsed on first use.
	reference func() *reference.Document
}

// guessesAllowed is the number of failed sign-ins allowed per hour from one
// address, for any e-mail addresses.
const guessesAllowed = 100

// New returns a portal with this configuration.
func New(cfg Config) *Portal {
	p := &Portal{Config: cfg, pages: readPages(), guides: readGuides(), guesses: ratelimit.NewAddresses(guessesAllowed, 10_000, cfg.Now), hashes: newHashQueue(), here: newPresence()}
	p.reference = sync.OnceValue(func() *reference.Document { return readReference(cfg.OpenAPI()) })
	mux := http.NewServeMux()
	for _, rt := range p.table() {
		mux.Handle(rt.pattern, p.page(rt))
	}
	mux.Handle("GET /portal/assets/", assets())
	mux.Handle("GET /portal/assets/charts.css", chartStyle())
	mux.Handle("GET /portal/assets/go.ttf", font(chart.Regular))
	mux.Handle("GET /portal/assets/go-bold.ttf", font(chart.Bold))
	mux.Handle("/", p.page(route{open: true, handle: notFound}))
	p.mux = http.NewCrossOriginProtection().Handler(mux)
	return p
}

// route is one page. Unless it is open, it requires a member with the role or
// above whose role has the scopes.
type route struct {
	pattern string
	role    access.Role
	scopes  access.Scopes
	open    bool
	handle  func(*visit) error
	// form is the path of the page with the form that is submitted here. Names
	// in braces are those of the pattern.
	form string
	// streams is set if the response is sent while it is read, with a time
	// limit for each part.
	streams bool
}

// seesPatients is required to view a patient's page.
const seesPatients = access.PatientsRead | access.ClinicalDataRead

// table lists all pages.
func (p *Portal) table() []route {
	return []route{
		{pattern: "GET /portal/{$}", handle: p.home},
		{pattern: "GET /portal/sign-in", open: true, handle: p.signInForm},
		{pattern: "POST /portal/sign-in", open: true, handle: p.signIn},
		{pattern: "POST /portal/sign-out", handle: p.signOut},
		{pattern: "GET /portal/join/{link}", open: true, handle: p.joinForm},
		{pattern: "POST /portal/join/{link}", open: true, handle: p.join},
		{pattern: "GET /portal/reset/{link}", open: true, handle: p.resetForm},
		{pattern: "POST /portal/reset/{link}", open: true, handle: p.reset},

		{pattern: "GET /portal/applications", handle: p.applications},
		{pattern: "GET /portal/applications/new", role: access.Developer, handle: p.newApplication},
		{pattern: "POST /portal/applications", role: access.Developer, handle: p.registerApplication, form: "/portal/applications/new"},
		{pattern: "GET /portal/applications/{id}", handle: p.application},
		{pattern: "POST /portal/applications/{id}/rotate", role: access.Developer, handle: p.rotateApplication, form: "/portal/applications/{id}"},
		{pattern: "POST /portal/applications/{id}/keys", role: access.Developer, handle: p.addKeys, form: "/portal/applications/{id}"},
		{pattern: "POST /portal/applications/{id}/keys/remove", role: access.Developer, handle: p.removeKey, form: "/portal/applications/{id}"},
		{pattern: "POST /portal/applications/{id}/jwks-uri", role: access.Developer, handle: p.setKeysURI, form: "/portal/applications/{id}"},
		{pattern: "POST /portal/applications/{id}/revoke", role: access.Developer, handle: p.revokeApplication, form: "/portal/applications/{id}"},
		{pattern: "POST /portal/applications/{id}/request", role: access.Developer, handle: p.requestScopes, form: "/portal/applications/{id}"},
		{pattern: "POST /portal/applications/{id}/decide", role: access.Administrator, handle: p.decideScopes, form: "/portal/applications/{id}"},
		{pattern: "POST /portal/applications/{id}/scopes", role: access.Administrator, handle: p.setScopes, form: "/portal/applications/{id}"},
		{pattern: "POST /portal/applications/{id}/tier", role: access.Administrator, handle: p.setApplicationTier, form: "/portal/applications/{id}"},

		{pattern: "GET /portal/webhooks", handle: p.webhooks},
		{pattern: "GET /portal/webhooks/new", role: access.Developer, handle: p.newWebhook},
		{pattern: "POST /portal/webhooks", role: access.Developer, handle: p.createWebhook, form: "/portal/webhooks/new"},
		{pattern: "GET /portal/webhooks/{id}", handle: p.showWebhook},
		{pattern: "POST /portal/webhooks/{id}", role: access.Developer, handle: p.actOnWebhook, form: "/portal/webhooks/{id}"},
		{pattern: "GET /portal/webhooks/{id}/edit", role: access.Developer, handle: p.editWebhook},
		{pattern: "POST /portal/webhooks/{id}/edit", role: access.Developer, handle: p.saveWebhook, form: "/portal/webhooks/{id}/edit"},
		{pattern: "GET /portal/webhooks/{id}/deliveries/{delivery}", handle: p.delivery},
		{pattern: "POST /portal/webhooks/{id}/deliveries/{delivery}/redeliver", role: access.Developer, handle: p.redeliver, form: "/portal/webhooks/{id}/deliveries/{delivery}"},

		{pattern: "GET /portal/patients", scopes: access.PatientsRead, handle: p.patients},
		{pattern: "GET /portal/patients/{id}", scopes: seesPatients, handle: p.patient},
		{pattern: "GET /portal/patients/{id}/fhir", scopes: seesPatients, handle: p.fhirResources},
		{pattern: "GET /portal/patients/{id}/remove", scopes: seesPatients | access.PatientsWrite, handle: p.removal},
		{pattern: "POST /portal/patients/{id}/merge", scopes: access.PatientsWrite, handle: p.mergePatient, form: "/portal/patients/{id}/remove"},
		{pattern: "POST /portal/patients/{id}/erase", scopes: access.PatientsErase, handle: p.erasePatient, form: "/portal/patients/{id}/remove"},
		{pattern: "GET /portal/patients/{id}/records/{record}", scopes: seesPatients, handle: p.record},

		{pattern: "GET /portal/medicines", scopes: access.ClinicalDataRead, handle: p.medicines},
		{pattern: "POST /portal/medicines", scopes: access.ClinicalDataWrite, handle: p.addAlias, form: "/portal/medicines"},
		{pattern: "POST /portal/medicines/{id}/remove", scopes: access.ClinicalDataWrite, handle: p.removeAlias, form: "/portal/medicines"},

		{pattern: "GET /portal/analytics", scopes: access.AnalyticsRead, handle: p.analytics},
		{pattern: "GET /portal/reports", scopes: access.ReportsRead, handle: p.reports},
		{pattern: "POST /portal/reports", scopes: access.ReportsWrite, handle: p.createReport, form: "/portal/reports"},
		{pattern: "GET /portal/reports/{id}", scopes: access.ReportsRead, handle: p.report},
		{pattern: "GET /portal/reports/{id}/download", scopes: access.ReportsRead, handle: p.download, streams: true},
		{pattern: "POST /portal/reports/{id}/delete", scopes: access.ReportsWrite, handle: p.deleteReport, form: "/portal/reports/{id}"},

		{pattern: "GET /portal/exports", scopes: access.ExportsRead, handle: p.exports},
		{pattern: "POST /portal/exports", scopes: access.ExportsWrite | seesPatients, handle: p.createExport, form: "/portal/exports"},
		{pattern: "GET /portal/exports/{id}", scopes: access.ExportsRead, handle: p.export},
		{pattern: "GET /portal/exports/{id}/files/{name}", scopes: access.ExportsRead | seesPatients, handle: p.downloadExport, streams: true},
		{pattern: "POST /portal/exports/{id}/delete", scopes: access.ExportsWrite, handle: p.deleteExport, form: "/portal/exports/{id}"},

		{pattern: "GET /portal/audit", role: access.Administrator, handle: p.audit},
		{pattern: "GET /portal/members", role: access.Administrator, handle: p.members},
		{pattern: "POST /portal/members/invite", role: access.Administrator, handle: p.invite, form: "/portal/members"},
		{pattern: "POST /portal/members/{id}", role: access.Administrator, handle: p.changeMember, form: "/portal/members"},
		{pattern: "GET /portal/account", handle: p.account},
		{pattern: "POST /portal/account/password", handle: p.changePassword, form: "/portal/account"},

		{pattern: "GET /docs/{$}", open: true, handle: p.docsIndex},
		{pattern: "GET /docs/reference", open: true, handle: p.referenceIndex},
		{pattern: "GET /docs/reference/{$}", open: true, handle: p.referenceIndex},
		{pattern: "GET /docs/reference/schemas", open: true, handle: p.referenceSchemas},
		{pattern: "GET /docs/reference/{operation}", open: true, handle: p.referenceOperation},
		{pattern: "GET /docs/{guide}", open: true, handle: p.docsGuide},
	}
}

// ServeHTTP serves a request under /portal or /docs.
func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, value := range headers {
		h[name] = value
	}
	if r.URL.Path == "/portal" || r.URL.Path == "/docs" {
		http.Redirect(w, r, r.URL.Path+"/", http.StatusSeeOther)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	p.mux.ServeHTTP(w, r)
}

// headers are set on every page. They forbid external content, framing and
// caching, and suppress the referrer, because a link may hold a secret.
var headers = http.Header{
	"Content-Security-Policy": {"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
	"Referrer-Policy":              {"no-referrer"},
	"X-Frame-Options":              {"DENY"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Permissions-Policy":           {"camera=(), geolocation=(), microphone=()"},
	"Cache-Control":                {"no-store"},
}
