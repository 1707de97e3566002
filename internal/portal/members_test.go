package portal

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

func TestAnInvitationMakesAMember(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		admin := h.signedIn("admin@clinic.example", "default", access.Administrator)
		p := admin.post("/portal/members/invite", "role", "developer")
		link := strings.TrimPrefix(p.find(t, `http://[^<]*/portal/join/[\w-]+`), h.url)
		b := h.browser()
		if p := b.post(link, "name", "Grace", "email", "grace@clinic.example", "password", password, "again", password); p.status != http.StatusSeeOther {
			t.Fatalf("joining: %d\n%s", p.status, p.text)
		}
		if p := b.get("/portal/applications/new"); p.status != http.StatusOK {
			t.Errorf("a developer registers: %d", p.status)
		}
		if p := b.get("/portal/members"); p.status != http.StatusForbidden {
			t.Errorf("a developer sees the members: %d", p.status)
		}
		if p := admin.get("/portal/members"); strings.Contains(p.text, "/portal/join/") {
			t.Error("the link is shown again")
		}
		again := admin.post("/portal/members/invite", "role", "viewer")
		link = strings.TrimPrefix(again.find(t, `http://[^<]*/portal/join/[\w-]+`), h.url)
		if p := h.browser().post(link, "name", "Grace", "email", "grace@clinic.example", "password", password, "again", password); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, "already") {
			t.Errorf("an address twice: %d", p.status)
		}
	})
}

func TestRoleAndStateOfMembers(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		admin := h.signedIn("admin@clinic.example", "default", access.Administrator)
		grace := h.member("grace@clinic.example", "default", access.Viewer)
		path := "/portal/members/" + grace.ID.String()
		b := h.browser()
		signIn := func() int {
			return b.post("/portal/sign-in", "email", "grace@clinic.example", "password", password).status
		}
		if signIn() != http.StatusSeeOther {
			t.Fatal("a new member cannot sign in")
		}
		if p := admin.post(path, "act", "role", "role", "developer"); p.status != http.StatusSeeOther {
			t.Fatalf("setting the role: %d", p.status)
		}
		if p := b.get("/portal/account"); p.status != http.StatusSeeOther {
			t.Errorf("the session goes on under the old role: %d", p.status)
		}
		signIn()
		if p := b.get("/portal/applications/new"); p.status != http.StatusOK {
			t.Errorf("as developer: %d", p.status)
		}
		if p := admin.post(path, "act", "disable"); p.status != http.StatusSeeOther {
			t.Fatalf("disabling: %d", p.status)
		}
		if p := b.get("/portal/account"); p.status != http.StatusSeeOther {
			t.Errorf("a disabled member's session goes on: %d", p.status)
		}
		if status := signIn(); status != http.StatusUnauthorized {
			t.Errorf("a disabled member signs in: %d", status)
		}
		if p := admin.post(path, "act", "enable"); p.status != http.StatusSeeOther || signIn() != http.StatusSeeOther {
			t.Errorf("enabling: %d", p.status)
		}
	})
}

func TestPasswordIsChangedByWhoKnowsIt(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("ada@clinic.example", "default", access.Viewer)
		other := h.browser()
		other.post("/portal/sign-in", "email", "ada@clinic.example", "password", password)
		const next = "another horse battery"
		for what, form := range map[string][]string{
			"wrong old": {"old", "wrong password!", "password", next, "again", next},
			"not same":  {"old", password, "password", next, "again", next + "!"},
			"too short": {"old", password, "password", "short", "again", "short"},
		} {
			if p := b.post("/portal/account/password", form...); p.status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d", what, p.status)
			}
		}
		if p := b.post("/portal/account/password", "old", password, "password", next, "again", next); p.status != http.StatusSeeOther {
			t.Fatalf("changing: %d", p.status)
		}
		if p := other.get("/portal/account"); p.status != http.StatusSeeOther {
			t.Error("another browser is still signed in")
		}
		if p := b.post("/portal/sign-in", "email", "ada@clinic.example", "password", next); p.status != http.StatusSeeOther {
			t.Errorf("with the new password: %d", p.status)
		}
	})
}

func TestAuditPageShowsActsNewestFirst(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		storeRun(t, h)
		b := h.signedIn("admin@clinic.example", "default", access.Administrator)
		clientID := b.post("/portal/applications", "name", "App", "scope", "patients:read").find(t, `cli_[0-9a-z]{26}`)
		b.post("/portal/applications/"+clientID+"/revoke", "sure", "yes")
		settle(t, h, b, "client.revoke")
		p := b.get("/portal/audit")
		created, revoked := strings.Index(p.text, "<code>client.create</code>"), strings.Index(p.text, "<code>client.revoke</code>")
		if created < 0 || revoked < 0 || revoked > created {
			t.Errorf("client.create at %d, client.revoke at %d", created, revoked)
		}
		if !strings.Contains(p.text, "<dt>tier</dt> <dd><bdi>standard</bdi></dd>") || strings.Contains(p.text, "{&#34;") {
			t.Error("details are not shown as names and values")
		}
		if p := b.get("/portal/audit?action=client.create"); strings.Contains(p.text, "<code>client.revoke</code>") || !strings.Contains(p.text, clientID) {
			t.Error("the filter does not filter")
		}
		if p := b.get("/portal/audit?resource=" + clientID + "&action="); !strings.Contains(p.text, "client.revoke") || strings.Contains(p.text, "<code>session.create</code>") {
			t.Error("the filter by resource does not filter")
		}
		for _, bad := range []string{"?action=nothing", "?before=x", "?before=-1-0"} {
			if p := b.get("/portal/audit" + bad); p.status != http.StatusBadRequest {
				t.Errorf("%s: %d", bad, p.status)
			}
		}
	})
}
