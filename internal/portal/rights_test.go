package portal

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/oauth"
)

// Developers cannot grant an application what they do not have.
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

// Developers see no patients, and nothing derived from them.
func TestADeveloperSeesNoPatients(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("dev@clinic.example", "default", access.Developer)
		for _, path := range []string{"/portal/patients", "/portal/analytics", "/portal/reports", "/portal/exports"} {
			if p := b.get(path); p.status != http.StatusForbidden {
				t.Errorf("%s: %d", path, p.status)
			}
		}
		if p := b.post("/portal/reports", "type", "population_health", "format", "json"); p.status != http.StatusForbidden {
			t.Errorf("making a report: %d", p.status)
		}
	})
}

// Requests beyond a developer's rights wait until an administrator has seen
// who asks for what, and grants or declines them.
func TestAnAdministratorDecidesAboutScopes(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		admin := h.signedIn("admin@clinic.example", "default", access.Administrator)
		dev := h.signedIn("dev@clinic.example", "default", access.Developer)
		p := dev.post("/portal/applications", "name", "Bridge", "scope", "patients:read", "scope", "audit:read")
		clientID, secret := p.find(t, `cli_[0-9a-z]{26}`), p.find(t, `cs_[0-9A-Za-z]{43}`)
		path := "/portal/applications/" + clientID
		if !strings.Contains(p.text, "An administrator must grant") {
			t.Error("the developer does not learn that the scopes wait")
		}
		for _, page := range []page{admin.get("/portal/applications"), admin.get(path)} {
			for _, want := range []string{"Bridge", "Member dev@clinic.example", "patients:read", "audit:read"} {
				if !strings.Contains(page.text, want) {
					t.Errorf("the administrator does not see %s", want)
				}
			}
		}
		if p := admin.get("/portal/"); !strings.Contains(p.text, "waiting for your approval") {
			t.Error("the overview does not say that something waits")
		}
		if p := dev.get(path); strings.Contains(p.text, "/decide") {
			t.Error("a developer is offered to decide")
		}
		if p := dev.post(path+"/decide", "seen", "patients:read audit:read", "scope", "patients:read"); p.status != http.StatusForbidden {
			t.Errorf("a developer decides: %d", p.status)
		}
		if p := dev.post(path+"/scopes", "scope", "patients:read"); p.status != http.StatusForbidden {
			t.Errorf("a developer sets scopes: %d", p.status)
		}
		if p := admin.post(path+"/decide", "seen", "patients:read", "scope", "patients:read"); p.status != http.StatusConflict {
			t.Errorf("deciding about another request: %d", p.status)
		}
		if p := admin.post(path+"/decide", "seen", "patients:read audit:read", "act", "grant"); p.status != http.StatusBadRequest {
			t.Errorf("granting nothing: %d", p.status)
		}
		granted := func() access.Scopes {
			t.Helper()
			known, err := oauth.New(h.store, h.now).Authenticate(t.Context(), clientID, secret)
			if err != nil {
				t.Fatal(err)
			}
			return known.Scopes
		}
		if granted() != 0 {
			t.Errorf("before the decision it has %s", granted())
		}
		if p := admin.post(path+"/decide", "seen", "patients:read audit:read", "scope", "patients:read", "scope", "patients:write", "act", "grant"); p.status != http.StatusSeeOther {
			t.Fatalf("granting: %d\n%s", p.status, p.text)
		}
		if granted() != access.PatientsRead {
			t.Errorf("granted %s, and only patients:read was asked for and ticked", granted())
		}
		if p := dev.post(path+"/request", "scope", "audit:read", "scope", "events:read"); p.status != http.StatusSeeOther || granted() != access.PatientsRead|access.EventsRead {
			t.Errorf("asking for more: %d, %s", p.status, granted())
		}
		if p := admin.post(path+"/decide", "seen", "audit:read", "scope", "audit:read", "act", "decline"); p.status != http.StatusSeeOther || granted() != access.PatientsRead|access.EventsRead {
			t.Errorf("declining: %d, %s", p.status, granted())
		}
		if p := admin.post(path+"/scopes", "scope", "events:read"); p.status != http.StatusSeeOther || granted() != access.EventsRead {
			t.Errorf("taking scopes back: %d, %s", p.status, granted())
		}
		other := h.signedIn("other@clinic.example", "default", access.Developer)
		if p := other.post(path+"/rotate", "overlap", "0"); p.status != http.StatusForbidden {
			t.Errorf("another developer gets the secret: %d", p.status)
		}
		if p := dev.post(path+"/rotate", "overlap", "0"); p.status != http.StatusOK {
			t.Errorf("the developer who registered it rotates: %d", p.status)
		}
	})
}

// An administrator who becomes a developer does not get back into applications
// that it registered with more than a developer may give.
func TestALoweredAdministratorLosesItsApplications(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	admin := h.signedIn("admin@clinic.example", "default", access.Administrator)
	ada := h.member("ada@clinic.example", "default", access.Administrator)
	b := h.browser()
	b.tries("ada@clinic.example", password)
	path := "/portal/applications/" + b.post("/portal/applications", "name", "App", "scope", "patients:read").find(t, `cli_[0-9a-z]{26}`)
	p := admin.post("/portal/members/"+ada.ID.String(), "act", "role", "role", "developer")
	if p = admin.get(p.location); !strings.Contains(p.text, "may know its secret") {
		t.Error("the administrator does not learn that the application goes on")
	}
	b.tries("ada@clinic.example", password)
	if p := b.post(path+"/rotate", "overlap", "0"); p.status != http.StatusForbidden {
		t.Errorf("rotating: %d", p.status)
	}
	if p := b.get(path); strings.Contains(p.text, "Rotate secret") || !strings.Contains(p.text, "Only an administrator") {
		t.Error("the page offers it")
	}
}
