package portal

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

const nextPassword = "another horse battery"

// A member who has forgotten the password sets a new one with a link created
// by an administrator.
func TestResetLinkSetsAPassword(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		storeRun(t, h)
		admin := h.signedIn("admin@clinic.example", "default", access.Administrator)
		grace := h.member("grace@clinic.example", "default", access.Administrator)
		path := "/portal/members/" + grace.ID.String()
		signedIn := h.browser()
		signedIn.tries("grace@clinic.example", password)
		makeLink := func() string {
			t.Helper()
			p := admin.post(path, "act", "reset")
			if p.status != http.StatusCreated || !strings.Contains(p.text, "grace@clinic.example") {
				t.Fatalf("making a link: %d\n%s", p.status, p.text)
			}
			return strings.TrimPrefix(p.find(t, `http://[^<]*/portal/reset/[\w-]+`), h.url)
		}
		older := makeLink()
		link := makeLink()
		b := h.browser()
		for range 5 { // the address is locked
			b.tries("grace@clinic.example", wrongPassword)
		}
		if p := b.get(older); p.status != http.StatusNotFound {
			t.Errorf("a link that was replaced: %d", p.status)
		}
		if p := b.get(link); p.status != http.StatusOK || !strings.Contains(p.text, "grace@clinic.example") {
			t.Fatalf("the link: %d", p.status)
		}
		for what, form := range map[string][]string{
			"short":    {"password", "short", "again", "short"},
			"not same": {"password", nextPassword, "again", password},
			"the name": {"password", "grace@clinic.example", "again", "grace@clinic.example"},
		} {
			if p := b.post(link, form...); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, `role="alert"`) {
				t.Errorf("%s: %d", what, p.status)
			}
		}
		if p := b.post(link, "password", nextPassword, "again", nextPassword); p.status != http.StatusSeeOther || p.location != "/portal/sign-in?password=set" {
			t.Fatalf("setting the password: %d %s", p.status, p.location)
		}
		for _, used := range []page{b.get(link), b.post(link, "password", password, "again", password)} {
			if used.status != http.StatusNotFound {
				t.Errorf("a used link: %d", used.status)
			}
		}
		if p := signedIn.get("/portal/account"); p.status != http.StatusSeeOther {
			t.Error("a session goes on")
		}
		if status := b.tries("grace@clinic.example", nextPassword); status != http.StatusSeeOther {
			t.Errorf("with the new password, at the address that was locked: %d", status)
		}
		settle(t, h, admin, "member.reset")
		settle(t, h, admin, "member.password")

		if p := b.post("/portal/members/"+grace.ID.String(), "act", "reset"); p.status != http.StatusBadRequest {
			t.Errorf("a link for oneself: %d", p.status)
		}
		stranger := h.signedIn("admin@other.example", "theirs", access.Administrator)
		if p := stranger.post(path, "act", "reset"); p.status != http.StatusNotFound {
			t.Errorf("another organisation's administrator: %d", p.status)
		}
		dev := h.signedIn("dev@clinic.example", "default", access.Developer)
		if p := dev.post(path, "act", "reset"); p.status != http.StatusForbidden {
			t.Errorf("a developer: %d", p.status)
		}
	})
}

// What a request says about the host is in no link.
func TestLinksDoNotFollowTheHost(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	b := h.signedIn("admin@clinic.example", "default", access.Administrator)
	grace := h.member("grace@clinic.example", "default", access.Viewer)
	for path, form := range map[string][]string{
		"/portal/members/" + grace.ID.String(): {"act", "reset"},
		"/portal/members/invite":               {"role", "viewer"},
		"/portal/applications":                 {"name", "App", "scope", "events:read"},
	} {
		b.host = "evil.example"
		p := b.post(path, form...)
		b.host = ""
		if p.status != http.StatusCreated || strings.Contains(p.text, "evil.example") || !strings.Contains(p.text, h.url) {
			t.Errorf("%s: %d, with links of the Host header", path, p.status)
		}
	}
}
