package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/portal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// After somebody has signed in, and before the page of analytics is looked at,
// what it shows is counted; the page itself counts nothing new.
func TestAnalyticsAreCountedAfterSignIn(t *testing.T) {
	t.Parallel()
	now := time.Now() // what is counted depends on the day
	s := serveAt(t, func() time.Time { return now }, limits, "--dev", "--admin-listen", "127.0.0.1:0")
	principal := storetest.Client(t, s.Store(), "general")
	org := s.Store().For(&principal)
	const patients, writers = 8192, 256 // tallies of fewer are not kept
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for range patients / writers {
				storetest.AddPatient(t, org, "Anna")
			}
		})
	}
	writing.Wait()
	const password = "correct horse battery"
	if _, err := s.Store().System().CreateAccount(t.Context(), "general", accounts.NewAccount{
		Email: "anna@example.org", Name: "Anna", Role: access.Viewer, PasswordHash: portal.HashPassword(password),
	}); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer browser.CloseIdleConnections()
	signedIn, err := browser.PostForm(s.URL()+"/portal/sign-in", url.Values{"email": {"anna@example.org"}, "password": {password}})
	if err != nil || signedIn.Body.Close() != nil || signedIn.StatusCode != http.StatusSeeOther {
		t.Fatalf("signing in: %v, %v", signedIn, err)
	}
	const loads, tallies = `anodyne_cohort_loads_total{model="series"}`, `anodyne_cohort_bytes{model="tallies"}`
	want := talliesOfBoth(t, org, now)
	if !testwait.Within(testwait.Bound, func() bool { return s.metric(t, tallies) == want }) {
		t.Fatalf("tallies take %v bytes, want %v", s.metric(t, tallies), want)
	}
	shown, err := browser.Get(s.URL() + "/portal/analytics")
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(shown.Body)
	if err != nil || shown.Body.Close() != nil || shown.StatusCode != http.StatusOK || !strings.Contains(string(page), "8,192") {
		t.Fatalf("%d, %v:\n%s", shown.StatusCode, err, page)
	}
	if got := s.metric(t, tallies); got != want {
		t.Errorf("tallies take %v bytes, and %v before the page: it asked something else", got, want)
	}
	if got := s.metric(t, loads); got != 1 {
		t.Errorf("series were loaded %v times", got)
	}
}

// talliesOfBoth returns the size of the tallies of both measures for the first
// query of the page.
func talliesOfBoth(t *testing.T, org store.Org, now time.Time) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	cohorts := cohort.New(1<<30, registry)
	var fields fault.Fields
	params := analytics.Request{}.Params(pain.DateOf(now), &fields)
	if _, err := cohorts.Outcomes(t.Context(), org, &params, now); err != nil {
		t.Fatal(err)
	}
	if _, err := cohorts.Population(t.Context(), org, &params, now); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "anodyne_cohort_bytes" && m.GetLabel()[0].GetValue() == "tallies" {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatal("no tallies are kept")
	return 0
}

// metric reads one value, or 0 when there is none yet.
func (s *Server) metric(t *testing.T, name string) (value float64) {
	t.Helper()
	r, err := http.Get(s.AdminURL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if value, err = strconv.ParseFloat(strings.TrimSpace(rest), 64); err != nil {
				t.Fatal(fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return value
}
