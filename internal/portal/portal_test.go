package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
)

func TestFirstAdministratorComesByTheLink(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		link, hash := NewLink()
		if invited, err := h.store.System().InviteFirst(t.Context(), "default", hash, FirstLinkLifetime); err != nil || !invited {
			t.Fatalf("invited %v, error %v", invited, err)
		}
		b := h.browser()
		if p := b.get("/portal/join/" + link); p.status != http.StatusOK || !strings.Contains(p.text, "first administrator") {
			t.Fatalf("the link: %d\n%s", p.status, p.text)
		}
		form := []string{"name", "Ada", "email", "Ada@Clinic.example", "password", password, "again", password}
		for what, wrong := range map[string][]string{
			"short password": {"name", "Ada", "email", "ada@clinic.example", "password", "short", "again", "short"},
			"two passwords":  {"name", "Ada", "email", "ada@clinic.example", "password", password, "again", "another horse battery"},
			"no address":     {"name", "Ada", "email", "ada", "password", password, "again", password},
			"no name":        {"name", " ", "email", "ada@clinic.example", "password", password, "again", password},
		} {
			if p := b.post("/portal/join/"+link, wrong...); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, `role="alert"`) {
				t.Errorf("%s: %d", what, p.status)
			}
		}
		if p := b.post("/portal/join/"+link, form...); p.status != http.StatusSeeOther || p.location != "/portal/" {
			t.Fatalf("joining: %d %s\n%s", p.status, p.location, p.text)
		}
		if p := b.get("/portal/members"); p.status != http.StatusOK || !strings.Contains(p.text, "ada@clinic.example") {
			t.Errorf("the first administrator does not see the members: %d", p.status)
		}
		// Paths that are not clean lead to the clean one, on this server.
		for path, clean := range map[string]string{"/portal//x": "/portal/x", "/portal/./members": "/portal/members", "/portal///example.org": "/portal/example.org"} {
			if p := b.get(path); p.status != http.StatusTemporaryRedirect || p.location != clean {
				t.Errorf("%s: %d to %q", path, p.status, p.location)
			}
		}
		if p := b.get("/portal/x"); p.status != http.StatusNotFound {
			t.Errorf("a page that does not exist: %d", p.status)
		}
		if p := h.browser().get("/portal/join/" + link); p.status != http.StatusNotFound {
			t.Errorf("a used link: %d", p.status)
		}
		if p := h.browser().post("/portal/join/"+link, form...); p.status != http.StatusNotFound {
			t.Errorf("joining by a used link: %d", p.status)
		}
	})
}

var wildcard = regexp.MustCompile(`\{\w+\}`)

// TestEveryPageAsksWhoItIs walks the table, so that a new page cannot forget.
func TestEveryPageAsksWhoItIs(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		browsers := map[access.Role]*browser{}
		for _, role := range access.Roles() {
			browsers[role] = h.signedIn(role.String()+"@clinic.example", "default", role)
		}
		nobody, form := h.browser(), url.Values{"none": {"none"}}
		for _, rt := range new(Portal).table() {
			method, pattern, _ := strings.Cut(rt.pattern, " ")
			path := wildcard.ReplaceAllString(strings.TrimSuffix(pattern, "{$}"), "none")
			if rt.open || path == "/portal/sign-out" {
				continue
			}
			if method == http.MethodPost && !strings.HasPrefix(rt.form, "/portal/") {
				t.Errorf("%s does not say where its form is", rt.pattern)
			}
			if p := nobody.do(method, path, form); p.status != http.StatusSeeOther || !strings.HasPrefix(p.location, "/portal/sign-in") {
				t.Errorf("%s without signing in: %d %s", rt.pattern, p.status, p.location)
			}
			for role, b := range browsers {
				if p := b.do(method, path, form); (p.status == http.StatusForbidden) == (role.Has(rt.role) && role.Scopes().Has(rt.scopes)) {
					t.Errorf("%s as %s: %d; it takes %s with %s", rt.pattern, role, p.status, rt.role, rt.scopes)
				}
			}
		}
	})
}

func TestPostsFromElsewhereAreRefused(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("dev@clinic.example", "default", access.Developer)
		form := url.Values{"name": {"App"}, "scope": {"patients:read"}}
		for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
			if p := b.do(http.MethodPost, "/portal/applications", form, header...); p.status != http.StatusForbidden {
				t.Errorf("a post with %v: %d", header, p.status)
			}
		}
		if p := b.do(http.MethodPost, "/portal/applications", form, "Origin", h.url, "Sec-Fetch-Site", "same-origin"); p.status != http.StatusCreated {
			t.Errorf("a post from the portal itself: %d", p.status)
		}
	})
}

func TestWrongPasswordIsSlowedThenLocked(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.member("ada@clinic.example", "default", access.Viewer)
		for _, email := range []string{"ada@clinic.example", "nobody@clinic.example"} { // the same for both, so that it does not reveal who is a member
			b := h.browser()
			for i := range 4 {
				if p := b.post("/portal/sign-in", "email", email, "password", "wrong password!"); p.status != http.StatusUnauthorized {
					t.Fatalf("%s, try %d: %d", email, i+1, p.status)
				}
			}
			if p := b.post("/portal/sign-in", "email", email, "password", password); p.status != http.StatusTooManyRequests || !strings.Contains(p.text, "wait 1 second ") {
				t.Errorf("%s, within the second: %d", email, p.status)
			}
			for i := range 12 {
				h.pass(15 * time.Minute)
				if p := b.post("/portal/sign-in", "email", email, "password", "wrong password!"); p.status != http.StatusUnauthorized {
					t.Fatalf("%s, later try %d: %d", email, i+1, p.status)
				}
			}
			h.pass(14 * time.Minute)
			if p := b.post("/portal/sign-in", "email", email, "password", password); p.status != http.StatusTooManyRequests {
				t.Errorf("%s, locked: %d", email, p.status)
			}
		}
		h.pass(time.Minute)
		if p := h.browser().post("/portal/sign-in", "email", "ada@clinic.example", "password", password); p.status != http.StatusSeeOther {
			t.Errorf("after the lock: %d", p.status)
		}
	})
}

// A member who mistyped the password while the clock was days ahead is not
// locked out until then.
func TestLockOfAClockPutBack(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.member("ada@clinic.example", "default", access.Viewer)
		h.pass(48 * time.Hour)
		for range 5 {
			h.pass(5 * time.Second)
			h.browser().post("/portal/sign-in", "email", "ada@clinic.example", "password", "wrong password!")
		}
		if p := h.browser().post("/portal/sign-in", "email", "ada@clinic.example", "password", password); p.status != http.StatusTooManyRequests {
			t.Errorf("locked: %d", p.status)
		}
		h.pass(-48 * time.Hour)
		if p := h.browser().post("/portal/sign-in", "email", "ada@clinic.example", "password", password); p.status != http.StatusSeeOther {
			t.Errorf("with the clock put right: %d", p.status)
		}
	})
}

func TestGuessesOfOneAddressAreBounded(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	b := h.browser()
	for i := range guessesAllowed {
		if p := b.post("/portal/sign-in", "email", "guess"+string(rune('a'+i%26))+string(rune('a'+i/26))+"@clinic.example", "password", "wrong password!"); p.status != http.StatusUnauthorized {
			t.Fatalf("guess %d: %d", i, p.status)
		}
	}
	h.member("ada@clinic.example", "default", access.Viewer)
	if p := b.post("/portal/sign-in", "email", "ada@clinic.example", "password", password); p.status != http.StatusTooManyRequests {
		t.Errorf("after %d guesses: %d", guessesAllowed, p.status)
	}
}

func TestSessionExpiresAndCookieIsGuarded(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.member("ada@clinic.example", "default", access.Viewer)
		b := h.browser()
		cookie := b.post("/portal/sign-in", "email", "ADA@clinic.example ", "password", password, "to", "/portal/account").header.Get("Set-Cookie")
		for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
			if !strings.Contains(cookie, want) {
				t.Errorf("cookie %q without %s", cookie, want)
			}
		}
		if p := b.get("/portal/account"); p.status != http.StatusOK {
			t.Fatalf("signed in: %d", p.status)
		}
		h.pass(idleTime)
		if p := b.get("/portal/account"); p.status != http.StatusSeeOther || p.location != "/portal/sign-in?ended=yes&to=%2Fportal%2Faccount" {
			t.Errorf("after %v: %d %s", idleTime, p.status, p.location)
		}
		if p := b.get("/portal/account"); p.location != "/portal/sign-in?to=%2Fportal%2Faccount" { // it is told once
			t.Errorf("after that: %d %s", p.status, p.location)
		}
	})
}

func TestPagesForbidWhatTheyDoNotNeed(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	for _, path := range []string{"/portal/sign-in", "/portal/nothing", "/portal/assets/portal.css"} {
		p := h.browser().get(path)
		if policy := p.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if p.header.Get("X-Frame-Options") != "DENY" || p.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: headers %v", path, p.header)
		}
	}
}

func TestOnlyOwnPagesAreGoneToAfterSigningIn(t *testing.T) {
	for to, want := range map[string]string{
		"":                           "/portal/",
		"/portal/audit?action=x":     "/portal/audit?action=x",
		"https://evil.example":       "/portal/",
		"//evil.example":             "/portal/",
		"/portal/\\evil.example":     "/portal/",
		"/v1/patients":               "/portal/",
		"/portal/sign-in":            "/portal/",
		"/portal/x\r\nSet-Cookie: y": "/portal/",
	} {
		if got := localPath(to); got != want {
			t.Errorf("localPath(%q) = %q", to, got)
		}
	}
}
