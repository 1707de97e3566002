package portal

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/portal/reference"
	"anodyne.example/anodyne/internal/report"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
	"anodyne.example/anodyne/internal/webhook"
)

// What the program itself has, before TestMain changes it.
var (
	programCost   = today
	programNobody = nobody
)

func TestMain(m *testing.M) {
	// Most tests are about something else than the strength of a hash.
	hashAt(cost{memory: 8, rounds: 1, lanes: 1})
	testwait.Main(m)
}

func hashAt(c cost) {
	today = c
	nobody = c.print(make([]byte, saltBytes), make([]byte, hashBytes))
}

// fullCost has passwords hashed as the program does, until the test ends. It is
// for tests in which the time that takes matters, and which do not run beside
// others.
func fullCost(t *testing.T) {
	t.Helper()
	before := today
	hashAt(programCost)
	t.Cleanup(func() { hashAt(before) })
}

const password = "correct horse battery"

// How long sessions last here, as they do by default.
const (
	idleTime = 30 * time.Minute
	lifetime = 12 * time.Hour
)

// house is a portal on a real store, served on a real socket.
type house struct {
	t     *testing.T
	store *store.Store
	pages *Portal
	url   string
	trips storetest.Trips // what requests ask of the database
	mu    sync.Mutex
	at    time.Time
}

func (h *house) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *house) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// each runs a test on both engines.
func each(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) { test(t, newHouse(t, cfg)) })
}

// referenceOnce reads the document for all tests, as a portal does for all
// requests.
var referenceOnce = sync.OnceValue(func() *reference.Document { return readReference(openapi.JSON()) })

func newHouse(t *testing.T, cfg store.Config) *house {
	t.Helper()
	h := &house{t: t, at: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)}
	cfg.Now = h.now
	h.trips.Watch(&cfg)
	h.store = storetest.Start(t, cfg)
	h.pages = New(Config{
		Store: h.store, Cohorts: cohort.New(1<<30, nil), NewSecret: oauth.NewSecret, ReadKeys: oauth.ReadKeys, Dev: true,
		CheckKeysURI: func(_ context.Context, uri string) (int, error) { return checkURI(uri) }, Now: h.now, Log: slog.New(slog.DiscardHandler),
		CheckWebhookURL: func(address string) error { return webhook.CheckURL(address, true) }, NewWebhookSecret: webhook.NewSecret,
		ReadReport: report.ReadRequest, OpenAPI: openapi.JSON, SessionIdle: idleTime, SessionLifetime: lifetime,
		Source: sourceOf, Base: func(*http.Request) string { return h.url },
	})
	h.pages.reference = referenceOnce
	h.pages.hashes.longest = testwait.Bound // however long a hash takes
	server := httptest.NewServer(h.trips.Of(h.pages))
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// sourceOf is the address that a browser pretends to be at, or has.
func sourceOf(r *http.Request) netip.Addr {
	if from := r.Header.Get("X-From"); from != "" {
		return netip.MustParseAddr(from)
	}
	return netip.MustParseAddrPort(r.RemoteAddr).Addr()
}

// member creates a member; the password is always the same.
func (h *house) member(email, org string, role access.Role) accounts.Account {
	h.t.Helper()
	a, err := h.store.System().CreateAccount(h.t.Context(), org, accounts.NewAccount{Email: email, Name: "Member " + email, Role: role, PasswordHash: HashPassword(password)})
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// browser follows no redirects and keeps cookies.
type browser struct {
	h      *house
	client *http.Client
	from   string // its address, when it is not this machine's
	host   string // what it says as Host, when it lies
}

func (h *house) browser() *browser {
	h.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	transport := &http.Transport{}
	h.t.Cleanup(transport.CloseIdleConnections)
	return &browser{h: h, client: &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// at is the browser at another address.
func (b *browser) at(address string) *browser { b.from = address; return b }

// tries signs in and gives the status.
func (b *browser) tries(email, password string) int {
	b.h.t.Helper()
	return b.post("/portal/sign-in", "email", email, "password", password).status
}

// signedIn returns a browser in which a new member has signed in.
func (h *house) signedIn(email, org string, role access.Role) *browser {
	h.t.Helper()
	h.member(email, org, role)
	b := h.browser()
	if page := b.post("/portal/sign-in", "email", email, "password", password); page.status != http.StatusSeeOther {
		h.t.Fatalf("signing in: %d\n%s", page.status, page.text)
	}
	return b
}

// page is an answer.
type page struct {
	status   int
	location string
	text     string
	header   http.Header
}

func (b *browser) get(path string) page {
	b.h.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

func (b *browser) post(path string, form ...string) page {
	b.h.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	return b.do(http.MethodPost, path, values)
}

func (b *browser) do(method, path string, form url.Values, header ...string) page {
	b.h.t.Helper()
	r, err := http.NewRequestWithContext(b.h.t.Context(), method, b.h.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.h.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if b.host != "" {
		for _, c := range b.client.Jar.Cookies(r.URL) { // which the client sends to the host only
			r.AddCookie(c)
		}
		r.Host = b.host
	}
	if b.from != "" {
		r.Header.Set("X-From", b.from)
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.h.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.h.t.Fatal(err)
	}
	return page{answer.StatusCode, answer.Header.Get("Location"), string(body), answer.Header}
}

// find returns the first match of a pattern in a page.
func (p page) find(t *testing.T, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindString(p.text)
	if found == "" {
		t.Fatalf("the page has no %s:\n%s", pattern, p.text)
	}
	return found
}

// storeRun runs the store's workers, which assign positions to entries.
func storeRun(t *testing.T, h *house) { storetest.Run(t, h.store) }

// settle waits until the audit log shows an action.
func settle(t *testing.T, h *house, b *browser, action string) {
	t.Helper()
	testwait.Until(t, "a line of "+action, func() bool {
		return strings.Contains(b.get("/portal/audit?action="+action).text, "<code>"+action+"</code>")
	})
}
