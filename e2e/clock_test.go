package e2e

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// TestFaultClockUnderLoad moves the clock of a node three hours forward and
// back under load, past the end of every token, lease and window. Clients only
// notice that they need new tokens, and nothing is lost or done twice.
func TestFaultClockUnderLoad(t *testing.T) {
	t.Parallel()
	needsLoad(t)
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			s := newService(t, engine)
			n := s.node(0)
			now := n.clock()
			apps := []application{s.register("enterprise"), s.register("enterprise")}
			clients := dial(n, apps)
			all := newLoad(newLedger(t), faulttest.Seed(t))
			all.moving = true
			for range faulttest.Rounds(t, 2) {
				end := all.background(clients)
				all.answered(t, patience, 100)
				for _, jump := range []time.Duration{3 * time.Hour, -3 * time.Hour} {
					now.pass(jump)
					all.answered(t, patience, 150)
				}
				end()
				all.verify(clients)
			}
			all.verifyAll(clients)
			if code := n.terminate(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			s.check()
		})
	}
}

// TestFaultClock moves the clock of a node two days forward and back: nothing
// that is valid for a limited time lasts longer, and nothing waits for two
// days.
func TestFaultClock(t *testing.T) {
	testneed.Long(t, "waiting for retries while the clock is moved by days")
	t.Parallel()
	for range faulttest.Rounds(t, 1) {
		for _, engine := range storetest.Engines {
			t.Run(engine, func(t *testing.T) {
				t.Parallel()
				twoDaysAhead(t, newService(t, engine))
			})
		}
	}
}

func twoDaysAhead(t *testing.T, s *service) {
	const jump = 48 * time.Hour
	n := s.node(0, "--dev")
	now := n.clock()
	app := s.register("enterprise")
	s.member("ada@clinic.example", "viewer")
	before := issuedBy(t, n, app)
	visitorBefore := signIn(t, n)
	limitedApp := n.as(s.register("standard"))
	// It asks for a longer pause than any test takes, so that the retry comes
	// after the clock was set back, and not before.
	var open atomic.Bool
	tried, arrived := make(chan struct{}, 1), make(chan struct{}, 1)
	inbox := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !open.Load() {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
			tell(tried)
			return
		}
		tell(arrived)
	}))
	t.Cleanup(inbox.Close)
	c := n.as(app)
	subscribe(t, c, inbox.URL, client.EventPatientCreated)

	now.pass(jump)
	refusedToken(t, "one from before, two days later", before)
	c = n.as(app)
	if _, err := c.CreatePatient(t.Context(), client.NewPatient{Name: "Ahead", DateOfBirth: "1980-02-29"}); err != nil {
		t.Fatal(err)
	}
	await(t, "a first attempt, which fails", tried)
	ahead := issuedBy(t, n, app)
	visitorAhead := signIn(t, n)
	used := spend(t, []*client.Client{limitedApp}, standardLimit+10)
	if used.passed.Load() != standardLimit-1 { // the token was the first
		t.Errorf("%d passed", used.passed.Load())
	}

	open.Store(true) // from here on: the retry is due as soon as the clock is back
	now.pass(-jump)
	if _, err := before.Patients(t.Context(), client.PatientQuery{}); err != nil {
		t.Errorf("a token from before the jump: %v", err)
	}
	refusedToken(t, "one of two days ahead", ahead)
	if got := visitorBefore.page(); got != http.StatusOK {
		t.Errorf("a session from before the jump: %d", got)
	}
	if got := visitorAhead.page(); got != http.StatusSeeOther {
		t.Errorf("a session of two days ahead: %d", got)
	}
	again := spend(t, []*client.Client{limitedApp}, 20)
	if reset := limitedApp.RateLimit().Reset; again.passed.Load() != 0 || reset.After(now.now().Add(time.Hour+time.Second)) {
		t.Errorf("%d more passed; the window ends at %v", again.passed.Load(), reset)
	}
	await(t, "the retry of two days ahead", arrived)
	report, err := c.CreateReport(t.Context(), someReport(0))
	if err != nil {
		t.Fatal(err)
	}
	if made := wholeReport(t, t.Context(), c, report.ID); made.Status != client.ReportCompleted {
		t.Errorf("%+v", made)
	}
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.check()
}

// tell wakes whoever waits for something, once.
func tell(what chan struct{}) {
	select {
	case what <- struct{}{}:
	default:
	}
}

// await waits for something that comes about, be it late on a busy machine.
func await(t *testing.T, what string, happens <-chan struct{}) {
	t.Helper()
	select {
	case <-happens:
	case <-time.After(takeover):
		t.Fatalf("%s did not come about", what)
	}
}

// issuedBy returns a client that has one token and never requests another.
func issuedBy(t *testing.T, n *node, app application) *client.Client {
	t.Helper()
	token, err := n.as(app).Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n.as(application{}, client.WithToken(token.AccessToken))
}

// refusedToken uses a token that must have expired.
func refusedToken(t *testing.T, what string, c *client.Client) {
	t.Helper()
	_, err := c.Patients(t.Context(), client.PatientQuery{})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusUnauthorized {
		t.Errorf("%s: %v", what, err)
	}
}

// signedIn is a browser, as far as it takes to have a session.
type signedIn struct {
	t    *testing.T
	http *http.Client
	base string
}

// signIn signs the member of these tests in.
func signIn(t *testing.T, n *node) *signedIn {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &signedIn{t, &http.Client{Transport: n.transport, Jar: jar, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, n.url}
	resp, err := v.http.PostForm(v.base+"/portal/sign-in", url.Values{"email": {"ada@clinic.example"}, "password": {portalPassword}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := v.page(); resp.StatusCode != http.StatusSeeOther || got != http.StatusOK {
		t.Fatalf("signing in: %d, and then %d", resp.StatusCode, got)
	}
	return v
}

// page returns the status of a page that requires a session.
func (v *signedIn) page() int {
	v.t.Helper()
	resp, err := v.http.Get(v.base + "/portal/account")
	if err != nil {
		v.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
