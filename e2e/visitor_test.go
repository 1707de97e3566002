package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"anodyne.example/anodyne/e2e/browser"
	"anodyne.example/anodyne/internal/testneed"
)

// visitor is a browser at a node, in a test.
type visitor struct {
	*browser.Browser
	t    *testing.T
	base string
	axe  browser.Axe
	// hosts are those that the browser may ask.
	hosts []string
}

// needsBrowser leaves a test out that cannot have one, and says where the
// browser and the npm packages are. A test calls it before it starts anything.
func needsBrowser(t *testing.T) (path, modules string) {
	t.Helper()
	testneed.Long(t, "the browser")
	path, err := browser.Find()
	if err != nil {
		testneed.Skip(t, err.Error())
	}
	if modules = os.Getenv("ANODYNE_TEST_NODE_MODULES"); modules == "" {
		testneed.Skip(t, "the npm package axe-core is not there; scripts/test fetches it")
	}
	return path, modules
}

func newVisitor(t *testing.T, base string) *visitor {
	t.Helper()
	path, modules := needsBrowser(t)
	axe, err := browser.LoadAxe(modules)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b, err := browser.Open(ctx, path, t.TempDir())
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	v := &visitor{b, t, base, axe, []string{base}}
	t.Cleanup(func() {
		v.noOtherHost()
		b.Close()
		cancel()
	})
	return v
}

func (v *visitor) must(err error) {
	v.t.Helper()
	if err != nil {
		page, _ := v.Page()
		where, _ := v.Location()
		v.t.Fatalf("%v\nat %s:\n%s", err, where, page)
	}
}

// noOtherHost checks that all requests of the visit went to the expected
// hosts.
func (v *visitor) noOtherHost() {
	v.t.Helper()
	requests := v.Requests()
	if len(requests) == 0 {
		v.t.Error("no request was seen; the test is blind")
	}
	for _, url := range requests {
		own := strings.HasPrefix(url, "data:") || strings.HasPrefix(url, "about:")
		for _, host := range v.hosts {
			own = own || strings.HasPrefix(url, host+"/")
		}
		if !own {
			v.t.Errorf("the browser asked %s", url)
		}
	}
}

// open shows a page and runs axe on it. TestEveryPageHolds does that for every
// kind of page in all sizes and themes; here it covers what the test put on
// the page.
func (v *visitor) open(path string) {
	v.t.Helper()
	v.must(v.Go(v.base + path))
	v.judgeIn(2)
}

// looks are the sizes and themes in which a page is checked. Axe applies all
// its rules once in each size; the other theme only changes the colours.
var looks = []look{
	{"desktop, light", 1280, 900, false, browser.AllRules}, {"desktop, dark", 1280, 900, true, browser.ColourRules},
	{"phone, dark", 390, 844, true, browser.AllRules}, {"phone, light", 390, 844, false, browser.ColourRules},
}

type look struct {
	name          string
	width, height int64
	dark          bool
	rules         string
}

// judge runs axe on the page that is shown, in all looks, and checks that
// nothing makes the page wider than the window.
func (v *visitor) judge() {
	v.t.Helper()
	v.judgeIn(0, 1, 2, 3)
}

// judgeIn is judge in some of the looks.
func (v *visitor) judgeIn(some ...int) {
	v.t.Helper()
	for _, i := range some {
		v.judgeBy(looks[i].rules, "", &looks[i])
	}
}

// judgeBy is judge by some rules, without one part of the page, in one look.
func (v *visitor) judgeBy(rules, leftOut string, look *look) {
	v.t.Helper()
	v.fits(look)
	wrong, err := v.axe.Violations(v.Browser, rules, leftOut)
	v.must(err)
	for _, w := range wrong {
		where, _ := v.Location()
		v.t.Errorf("%s (%s): %s", strings.TrimPrefix(where, v.base), look.name, w)
	}
}

// fits shows the page in a look and checks that nothing makes it wider than the
// window.
func (v *visitor) fits(look *look) {
	v.t.Helper()
	v.must(v.Look(look.width, look.height, look.dark))
	wide, err := browser.Evaluate[int64](v.Browser, `document.documentElement.scrollWidth`)
	v.must(err)
	if wide > look.width {
		where, _ := v.Location()
		v.t.Errorf("%s (%s): the page is %d wide", strings.TrimPrefix(where, v.base), look.name, wide)
	}
}

func (v *visitor) says(want string) {
	v.t.Helper()
	page, err := v.Page()
	v.must(err)
	if !strings.Contains(page, want) {
		where, _ := v.Location()
		v.t.Fatalf("%s does not say %q:\n%s", where, want, page)
	}
}

func (v *visitor) fill(fields ...string) {
	v.t.Helper()
	for i := 0; i+1 < len(fields); i += 2 {
		v.must(v.Fill(fields[i], fields[i+1]))
	}
}

func (v *visitor) signIn(email string) {
	v.t.Helper()
	v.must(v.Go(v.base + "/portal/sign-in"))
	v.fill("#email", email, "#password", portalPassword)
	v.must(v.Click("main button"))
	v.must(v.Wait(".who"))
}

// member makes a member on the command line.
func (s *service) member(email, role string) { s.tb.Helper(); s.memberNamed(email, "A "+role, role) }

func (s *service) memberNamed(email, name, role string) {
	s.tb.Helper()
	p := start(s.tb, func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader(portalPassword + "\n") },
		append([]string{"user", "create", "--email", email, "--name", name, "--role", role}, s.flags("operator")...)...)
	if p.wait() != 0 {
		s.tb.Fatalf("anodyne user create: exit code %d\n%s", p.code, p.stderr)
	}
}

const portalPassword = "correct horse battery"

// shows waits until an element says something.
func (v *visitor) shows(selector, want string) {
	v.t.Helper()
	var text string
	if !soon(patience, func() bool {
		var err error
		text, err = browser.Evaluate[string](v.Browser, fmt.Sprintf(`document.querySelector(%q)?.textContent ?? ""`, selector))
		v.must(err)
		return strings.Contains(text, want)
	}) {
		v.t.Fatalf("%s does not say %q but %q", selector, want, text)
	}
}
