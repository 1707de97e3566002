package portal

import (
	"context"
	"strings"
	"testing"
	"time"

	headless "anodyne.example/anodyne/e2e/browser"
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/testneed"
)

// chromium opens a real browser at the house.
func chromium(t *testing.T) *headless.Browser {
	t.Helper()
	testneed.Long(t, "the browser")
	path, err := headless.Find()
	if err != nil {
		testneed.Skip(t, err.Error())
	}
	ctx, cancel := context.WithCancel(context.Background())
	b, err := headless.Open(ctx, path, t.TempDir())
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(); cancel() })
	return b
}

// TestSessionEndsInTheBrowser moves the clock past both limits of a session: a
// reader is informed, signs in and returns to the page; someone who submitted
// a form is informed that it was not saved, and returns to the form.
func TestSessionEndsInTheBrowser(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	h.member("dev@clinic.example", "default", access.Developer)
	b := chromium(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			page, _ := b.Page()
			t.Fatalf("%v\n%s", err, page)
		}
	}
	at := func(want string) {
		t.Helper()
		where, err := b.Location()
		must(err)
		if where != h.url+want {
			t.Errorf("the browser is at %s, want %s", strings.TrimPrefix(where, h.url), want)
		}
	}
	says := func(want string, not ...string) {
		t.Helper()
		page, err := b.Page()
		must(err)
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
		for _, word := range not {
			if strings.Contains(page, word) {
				t.Errorf("the page says %q:\n%s", word, page)
			}
		}
	}
	signIn := func() {
		t.Helper()
		must(b.Fill("#email", "dev@clinic.example"))
		must(b.Fill("#password", password))
		must(b.Click("main button"))
		must(b.Wait(".who"))
	}
	must(b.Go(h.url + "/portal/sign-in"))
	says("Sign in", "has ended")
	signIn()

	// Idle, while reading.
	must(b.Go(h.url + "/portal/patients?search=hopper"))
	h.pass(idleTime)
	must(b.Go(h.url + "/portal/patients?search=hopper"))
	says("Your session has ended.", "not saved")
	says("Sessions end after 30 minutes without activity, and after 12 hours in total.")
	must(b.Fill("#email", "dev@clinic.example"))
	must(b.Fill("#password", "wrong horse battery"))
	must(b.Click("main button"))
	says("is wrong")
	signIn()
	at("/portal/patients?search=hopper")

	// Idle, over a form.
	must(b.Go(h.url + "/portal/applications/new"))
	must(b.Fill("#name", "Half an hour of thought"))
	must(b.Press(`input[value="patients:read"]`))
	h.pass(idleTime)
	must(b.Click("main form button"))
	says("Your session has ended.")
	says("not saved")
	signIn()
	at("/portal/applications/new")
	if clients, err := h.store.System().Clients(t.Context()); err != nil || len(clients) > 0 {
		t.Errorf("clients %v, error %v: an ended session registered one", clients, err)
	}

	// However busy somebody is, the session has an end.
	passed := time.Duration(0)
	for step := idleTime - time.Minute; passed+step < lifetime; passed += step {
		h.pass(step)
		must(b.Go(h.url + "/portal/account"))
		at("/portal/account")
	}
	h.pass(lifetime - passed)
	must(b.Go(h.url + "/portal/account"))
	says("Your session has ended.")
	signIn()
	at("/portal/account")
}
