package portal

import (
	"net/http"
	"testing"

	"anodyne/internal/access"
	"anodyne/internal/oauth"
)

// A developer cannot give an application what he does not have.
func TestADeveloperGivesWhatHeHas(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("dev@clinic.example", "default", access.Developer)
		p := b.post("/portal/applications", "name", "App", "scope", "patients:read", "scope", "events:read", "scope", "webhooks:write", "scope", "audit:read")
		if p.status != http.StatusCreated {
			t.Fatalf("registering: %d\n%s", p.status, p.text)
		}
		known, err := oauth.New(h.store, h.now).Authenticate(t.Context(), p.find(t, `cli_[0-9a-z]{26}`), p.find(t, `cs_[0-9A-Za-z]{43}`))
		if err != nil {
			t.Fatal(err)
		}
		if known.Scopes != access.EventsRead|access.WebhooksWrite {
			t.Errorf("the application has %s", known.Scopes)
		}
	})
}

// What an administrator or the operator made is not a developer's to change.
func TestNobodyChangesWhatSomebodyAboveOwns(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		admin := h.signedIn("admin@clinic.example", "default", access.Administrator)
		dev := h.signedIn("dev@clinic.example", "default", access.Developer)
		app := "/portal/applications/" + admin.post("/portal/applications", "name", "App", "scope", "webhooks:read").find(t, `cli_[0-9a-z]{26}`)
		hook := admin.post("/portal/webhooks", "url", "https://clinic.example/hook", "event", "*").find(t, `/portal/webhooks/whk_[0-9a-z]{26}`)
		for what, p := range map[string]page{
			"rotate":         dev.post(app+"/rotate", "overlap", "0"),
			"revoke":         dev.post(app+"/revoke", "sure", "yes"),
			"rotate webhook": dev.post(hook, "act", "rotate"),
			"edit webhook":   dev.post(hook+"/edit", "url", "https://evil.example/hook", "event", "*"),
			"delete webhook": dev.post(hook, "act", "delete", "sure", "yes"),
		} {
			if p.status != http.StatusForbidden {
				t.Errorf("%s: %d", what, p.status)
			}
		}
	})
}

// A developer sees no patients, nor what is made of them.
func TestADeveloperSeesNoPatients(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("dev@clinic.example", "default", access.Developer)
		for _, path := range []string{"/portal/patients", "/portal/analytics", "/portal/reports"} {
			if p := b.get(path); p.status != http.StatusForbidden {
				t.Errorf("%s: %d", path, p.status)
			}
		}
		if p := b.post("/portal/reports", "type", "population_health", "format", "json"); p.status != http.StatusForbidden {
			t.Errorf("making a report: %d", p.status)
		}
	})
}
