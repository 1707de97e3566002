package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestMembersAndScopes: a developer requests more than they may grant, an
// administrator decides; a forgotten password is reset with a link, and a
// member is disabled, on the command line while the server runs.
func TestMembersAndScopes(t *testing.T) {
	t.Parallel()
	needsBrowser(t)
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--dev")
	s.member("admin@clinic.example", "administrator")
	s.member("dev@clinic.example", "developer")

	dev := newVisitor(t, n.url)
	dev.signIn("dev@clinic.example")
	dev.must(dev.Go(n.url + "/portal/"))
	page, err := dev.Page()
	dev.must(err)
	if strings.Contains(page, "Patients") || strings.Contains(page, "Analytics") {
		t.Errorf("a developer is offered patients:\n%s", page)
	}
	dev.must(dev.Go(n.url + "/portal/patients"))
	dev.says("does not include this page")
	dev.open("/portal/applications/new")
	dev.fill("#name", "Bridge", "#description", "Brings patients")
	for _, scope := range []string{"patients:read", "clinical_data:read"} {
		dev.must(dev.Press(`input[value="` + scope + `"]`))
	}
	dev.must(dev.Click("main form button"))
	dev.says("An administrator must grant")
	dev.judgeIn(0, 2)
	clientID, err := dev.Text(".facts dd:nth-of-type(1) code")
	dev.must(err)
	secret, err := dev.Text("#client-secret code")
	dev.must(err)
	patients := func() error {
		c := client.New(n.url, clientID, secret)
		defer c.CloseIdleConnections()
		_, err := c.Patients(t.Context(), client.PatientQuery{})
		return err
	}
	if err := patients(); !client.IsCode(err, client.CodeForbidden) {
		t.Errorf("before the decision: %v", err)
	}
	dev.open("/portal/applications/" + clientID)

	admin := newVisitor(t, n.url)
	admin.signIn("admin@clinic.example")
	admin.says("waiting for your approval")
	admin.open("/portal/applications")
	admin.says("A developer")
	admin.must(admin.Click("td a.button"))
	admin.judgeIn(0, 2)
	admin.must(admin.Press(`#decide input[value="clinical_data:read"]`)) // not that
	admin.must(admin.Click(`#decide button[value="grant"]`))
	admin.must(admin.Wait("main form"))
	eventually(t, patience, "the scope that was granted", func() bool { return patients() == nil })

	// The password is forgotten; the link works once and ends the session.
	link := strings.TrimSpace(s.must("user", "reset", "dev@clinic.example", "--base-url", n.url))
	dev.must(dev.Go(link))
	dev.judgeIn(0, 2)
	const next = "another horse battery"
	dev.fill("#password", next, "#again", next)
	dev.must(dev.Click("main button"))
	dev.says("The password is set")
	dev.must(dev.Go(link))
	dev.says("already been used")
	dev.must(dev.Go(n.url + "/portal/account"))
	dev.must(dev.Wait("#email")) // the session has ended
	dev.fill("#email", "dev@clinic.example", "#password", next)
	dev.must(dev.Click("main button"))
	dev.must(dev.Wait(".who"))

	// An administrator makes one in the portal.
	admin.must(admin.Go(n.url + "/portal/members"))
	admin.must(admin.Click(`form:has(input[value="reset"]) button`))
	admin.says("works once, within 24 hours")
	admin.judgeIn(0, 2)

	// A member who is disabled is out at once.
	s.must("user", "disable", "dev@clinic.example")
	dev.must(dev.Go(n.url + "/portal/account"))
	dev.must(dev.Wait("#password"))
	where, err := dev.Location()
	dev.must(err)
	if !strings.Contains(where, "/portal/sign-in") {
		t.Errorf("a disabled member is at %s", where)
	}
	if p := s.anodyne("user", "disable", "admin@clinic.example"); p.code != 1 || !strings.Contains(p.stderr.String(), "only administrator") {
		t.Errorf("the only administrator is disabled: %d\n%s", p.code, p.stderr)
	}
	s.check()
}

// TestParallelGuessesOverNodes sends 300 guesses at once over three nodes, the
// right one among them: no more are judged than of guesses one after the other,
// and somebody else signs in meanwhile.
func TestParallelGuessesOverNodes(t *testing.T) {
	s := newService(t, storetest.Postgres)
	nodes := s.nodes(3)
	s.member("ada@clinic.example", "administrator")
	s.member("grace@clinic.example", "viewer")
	transport := &http.Transport{MaxIdleConnsPerHost: 300}
	defer transport.CloseIdleConnections()
	web := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	signIn := func(i int, email, password string) int {
		answer, err := web.PostForm(nodes[i%len(nodes)].url+"/portal/sign-in", url.Values{"email": {email}, "password": {password}})
		if err != nil {
			t.Error(err)
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	var mu sync.Mutex
	statuses := map[int]int{}
	var group sync.WaitGroup
	for i := range 300 {
		password := "wrong horse battery"
		if i == 250 {
			password = portalPassword
		}
		group.Go(func() {
			status := signIn(i, "ada@clinic.example", password)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	if status := signIn(0, "grace@clinic.example", portalPassword); status != http.StatusSeeOther {
		t.Errorf("somebody else meanwhile: %d", status)
	}
	group.Wait()
	if judged := statuses[http.StatusUnauthorized] + statuses[http.StatusSeeOther]; judged == 0 || judged > 40 || statuses[http.StatusTooManyRequests] < 250 {
		t.Errorf("answers %v", statuses)
	}
	t.Logf("answers %v", statuses)
}
