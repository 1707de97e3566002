package portal

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/storetest"
)

func sqliteDatabase(t *testing.T) store.Config { return storetest.Database(t, storetest.SQLite) }

func TestRegisteringYieldsWorkingCredentials(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("dev@clinic.example", "default", access.Developer)
		p := b.post("/portal/applications", "name", "EHR <bridge>", "description", "Reads & writes", "scope", "webhooks:read", "scope", "events:read", "tier", "enterprise")
		if p.status != http.StatusCreated {
			t.Fatalf("registering: %d\n%s", p.status, p.text)
		}
		clientID, secret := p.find(t, `cli_[0-9a-z]{26}`), p.find(t, `cs_[0-9A-Za-z]{43}`)
		if !strings.Contains(p.text, "EHR &lt;bridge&gt;") || strings.Contains(p.text, "<bridge>") {
			t.Error("the name is not shown as text")
		}
		authority := oauth.New(h.store, h.now)
		known, err := authority.Authenticate(t.Context(), clientID, secret)
		if err != nil {
			t.Fatalf("the credentials do not work: %v", err)
		}
		if known.Scopes != access.WebhooksRead|access.EventsRead || known.Tier != access.Standard {
			t.Errorf("scopes %s, tier %s; a developer cannot choose the tier", known.Scopes, known.Tier)
		}
		path := "/portal/applications/" + clientID
		if p := b.get(path); p.status != http.StatusOK || strings.Contains(p.text, secret) {
			t.Errorf("the secret is shown again, or the page is not there: %d", p.status)
		}

		p = b.post(path+"/rotate", "overlap", "1h")
		next := p.find(t, `cs_[0-9A-Za-z]{43}`)
		for _, s := range []string{secret, next} {
			if _, err := authority.Authenticate(t.Context(), clientID, s); err != nil {
				t.Errorf("during the overlap: %v", err)
			}
		}
		h.pass(time.Hour)
		if _, err := authority.Authenticate(t.Context(), clientID, secret); err == nil {
			t.Error("the old secret outlives its overlap")
		}
		b = h.signedIn("admin@clinic.example", "default", access.Administrator)
		if p := b.post(path+"/tier", "tier", "professional"); p.status != http.StatusSeeOther {
			t.Errorf("setting the tier: %d", p.status)
		}
		if p := b.post(path + "/revoke"); p.status != http.StatusBadRequest {
			t.Errorf("revoking without being sure: %d", p.status)
		}
		if p := b.post(path+"/revoke", "sure", "yes"); p.status != http.StatusSeeOther {
			t.Errorf("revoking: %d", p.status)
		}
		if _, err := authority.Authenticate(t.Context(), clientID, next); err == nil {
			t.Error("a revoked application signs in")
		}
		if p := b.get(path); !strings.Contains(p.text, "revoked") || !strings.Contains(p.text, "professional") {
			t.Errorf("the page does not say so:\n%s", p.text)
		}
	})
}

func TestAnotherOrganisationsApplicationIsNotThere(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		theirs, err := h.store.System().CreateClient(t.Context(), clients.NewClient{Org: "theirs", Name: "Secret app", Scopes: access.AllScopes, SecretHash: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		b := h.signedIn("admin@clinic.example", "ours", access.Administrator)
		path := "/portal/applications/" + theirs.ID.String()
		for what, p := range map[string]page{
			"page": b.get(path), "rotate": b.post(path+"/rotate", "overlap", "0"), "revoke": b.post(path+"/revoke", "sure", "yes"),
			"tier": b.post(path+"/tier", "tier", "enterprise"), "keys": b.post(path+"/keys", "jwks", publicKey), "key": b.post(path+"/keys/remove", "kid", "x"),
			"URL": b.post(path+"/jwks-uri", "jwks_uri", "https://ehr.example/jwks.json"),
		} {
			if p.status != http.StatusNotFound || strings.Contains(p.text, "Secret app") {
				t.Errorf("%s: %d", what, p.status)
			}
		}
	})
}

func TestWrongApplicationsAreExplained(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	b := h.signedIn("dev@clinic.example", "default", access.Developer)
	for what, form := range map[string][]string{
		"no name":       {"scope", "patients:read"},
		"no scope":      {"name", "App"},
		"unknown scope": {"name", "App", "scope", "everything"},
		"long name":     {"name", strings.Repeat("x", 101), "scope", "patients:read"},
	} {
		if p := b.post("/portal/applications", form...); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, `role="alert"`) {
			t.Errorf("%s: %d", what, p.status)
		}
	}
	if p := b.get("/portal/applications"); !strings.Contains(p.text, "No applications yet") {
		t.Error("a refused application was registered")
	}
}

func TestUsageIsPutIntoDays(t *testing.T) {
	since := time.Date(2026, 1, 9, 0, 0, 0, 0, time.UTC)
	now := since.AddDate(0, 0, 6).Add(10*time.Hour + 30*time.Minute)
	got := tableOf([]clients.Usage{
		{Hour: since, Outcome: clients.UsageAnswered, Requests: 3},
		{Hour: since.Add(23 * time.Hour), Outcome: clients.UsageAnswered, Requests: 4},
		{Hour: since.Add(24 * time.Hour), Outcome: clients.UsageLimited, Requests: 5},
		{Hour: since.Add(-time.Hour), Outcome: clients.UsageAnswered, Requests: 100},
	}, since, now)
	if len(got.Days) != 7 || len(got.Hours) != 6*24+11 || got.Total != 12 {
		t.Fatalf("%d days, %d hours, %d requests", len(got.Days), len(got.Hours), got.Total)
	}
	if got.Days[0].Counts[clients.UsageAnswered] != 7 || got.Days[1].Counts[clients.UsageLimited] != 5 || got.Hours[23].Counts[clients.UsageAnswered] != 4 {
		t.Errorf("days %v", got.Days)
	}
}
