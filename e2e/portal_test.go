package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/e2e/browser"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestPortal is a newcomer's way through the portal.
func TestPortal(t *testing.T) {
	t.Parallel()
	needsBrowser(t)
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--dev")
	_, path, _ := strings.Cut(n.await("first-administrator-link.txt"), "file=")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	link := strings.TrimSpace(string(text))
	v := newVisitor(t, n.url)

	// The first administrator comes by the link, which works once.
	v.must(v.Go(link))
	v.judge()
	v.fill("#name", "Ada Lovelace", "#email", "ada@clinic.example", "#password", portalPassword, "#again", portalPassword)
	v.must(v.Click("main button"))
	v.must(v.Wait(".who"))
	v.judge()
	v.must(v.Go(link))
	v.says("already been used or has expired")
	v.judge()

	// An application is registered; its credentials work.
	v.open("/portal/applications")
	v.says("No applications yet")
	v.open("/portal/applications/new")
	v.fill("#name", "EHR <bridge>", "#description", "Brings patients")
	for _, scope := range []string{"patients:write", "clinical_data:write", "events:read", "webhooks:read"} {
		v.must(v.Press(`input[value="` + scope + `"]`))
	}
	v.must(v.Click("main form button"))
	v.says("Copy the secret now")
	v.judge()
	clientID, err := v.Text(".facts dd:nth-of-type(1) code")
	v.must(err)
	secret, err := v.Text("#client-secret code")
	v.must(err)
	c := client.New(n.url, clientID, secret)
	t.Cleanup(c.CloseIdleConnections)
	patient, err := c.CreatePatient(t.Context(), client.NewPatient{Name: "Grace <b>Hopper</b>", DateOfBirth: "1966-12-09", Gender: "female"})
	if err != nil {
		t.Fatalf("the portal's credentials do not work: %v", err)
	}
	if _, err := c.AddRecords(t.Context(), patient.ID, []client.NewRecord{
		{DataType: "pain_scores", Value: map[string]any{"score": 7, "aspect": "average"}},
		{DataType: "medications", Value: map[string]any{"name": "oxycodone", "strength": 10, "strength_unit": "mg", "quantity": 60, "days_supply": 30, "route": "oral"}},
	}); err != nil {
		t.Fatal(err)
	}
	v.open("/portal/applications/" + clientID)
	v.must(v.Click(`form[action$="/rotate"] button`))
	v.says("New secret")
	rotated, err := v.Text("#client-secret code")
	v.must(err)
	for _, one := range []string{secret, rotated} { // both are good for a while
		again := client.New(n.url, clientID, one)
		if _, err := again.Patients(t.Context(), client.PatientQuery{}); err != nil {
			t.Errorf("after the rotation: %v", err)
		}
		again.CloseIdleConnections()
	}

	v.lookAtPatients(patient.ID)
	v.watchWebhook()
	v.makeReport(patient.ID)
	v.openTheRest()
	v.tryReference(clientID, rotated)
}

// lookAtPatients searches a patient and sees the page.
func (v *visitor) lookAtPatients(patientID string) {
	v.t.Helper()
	v.open("/portal/patients")
	v.fill("#search", "hopper")
	v.must(v.Click("main form button"))
	v.judge()
	v.must(v.Click(`a[href="/portal/patients/` + patientID + `"]`))
	v.says("Grace <b>Hopper</b>")
	v.says("oxycodone")
	v.must(v.Wait("#main svg")) // the curves
	v.judge()
	v.must(v.Click(`td a, tbody th a`))
	v.judge()
}

// watchWebhook makes an endpoint and sees a delivery arrive.
func (v *visitor) watchWebhook() {
	v.t.Helper()
	got := make(chan string, 16)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("webhook-signature")
		fmt.Fprint(w, "thank <you>")
	}))
	v.t.Cleanup(receiver.Close)
	v.open("/portal/webhooks")
	v.open("/portal/webhooks/new")
	v.fill("#url", receiver.URL+"/hook")
	v.must(v.Click("main form button"))
	v.says("Copy the signing secret now")
	v.judge()
	v.must(v.Click("main a.button"))
	v.must(v.Click(`form:has(input[value="test"]) button`))
	if signature := <-got; !strings.HasPrefix(signature, "v1,") {
		v.t.Errorf("signature %q", signature)
	}
	v.must(v.Wait("td .badge.good")) // the page looks by itself
	v.judge()
	v.must(v.Click("tbody th a"))
	v.says("thank <you>")
	v.judge()
	v.must(v.Click(`form[action$="/redeliver"] button`))
	<-got
	where, err := v.Location()
	v.must(err)
	v.must(v.Go(where + "/edit"))
	v.judge()
}

// makeReport requests a patient summary, waits for it and downloads it.
func (v *visitor) makeReport(patientID string) {
	v.t.Helper()
	v.open("/portal/reports")
	v.says("No reports yet")
	v.fill("#patient_id", "pat_nobody")
	v.must(v.Click("main form button"))
	v.says("Please correct the following")
	v.judge()
	v.open("/portal/reports?patient_id=" + patientID)
	v.must(v.Click("main form button"))
	v.must(v.Wait("main a.button[download]")) // the page looks by itself
	v.says("completed")
	v.judge()
	start, err := browser.Evaluate[string](v.Browser, `fetch(document.querySelector("a[download]").href).then(r => r.text()).then(t => t.slice(0, 5))`)
	v.must(err)
	if start != "%PDF-" {
		v.t.Errorf("the file begins with %q", start)
	}
	v.open("/portal/reports")
	v.says("completed")
	v.open("/portal/analytics")
	v.must(v.Wait("#main svg"))
	v.must(v.Choose("#gender", "female"))
	v.must(v.Click("main form button"))
	v.says("1\npatients match the filters")
}

// openTheRest shows the pages that were not on the way.
func (v *visitor) openTheRest() {
	v.t.Helper()
	for _, path := range []string{"/portal/", "/portal/members", "/portal/audit", "/portal/account", "/portal/webhooks", "/portal/nothing", "/docs/", "/docs/quick-start"} {
		v.open(path)
	}
}

// tryReference gets a token in the API reference, keeps it across pages and
// tries operations with it.
func (v *visitor) tryReference(clientID, secret string) {
	v.t.Helper()
	v.must(v.Go(v.base + "/docs/reference#/Patients/listPatients")) // as it was linked to in the past
	v.must(v.Wait("#get-token"))
	v.fill("#try-client", clientID, "#try-secret", "wrong")
	v.must(v.Press("#get-token"))
	v.shows("#token-state", "No token: ")
	v.fill("#try-secret", secret)
	v.must(v.Press("#get-token"))
	v.shows("#token-state", "There is a token for an hour")
	v.fill(`[data-name="search"]`, "hopper")
	v.must(v.Press("#try-send"))
	v.shows("#try-status", "200 ")
	v.shows("#try-text", `"name": "Grace <b>Hopper</b>"`)
	v.shows("#try-headers", "x-ratelimit-remaining")
	v.shows("#try-headers", "x-request-id")
	v.shows("#try-curl", "curl -i '"+v.base+"/v1/patients?search=hopper' \\\n  -H \"Authorization: Bearer $TOKEN\"")
	v.judge()

	v.must(v.Go(v.base + "/docs/reference/createPatient"))
	v.shows("#token-state", "There is a token.")
	v.fill("#try-body", `{"name": "O'Brien", "date_of_birth": "1990-11-31"}`)
	v.must(v.Press("#try-send"))
	v.shows("#try-status", "400 ")
	v.shows("#try-text", "INVALID_PARAMETER")
	v.fill("#try-body", `{"name": "O'Brien", "date_of_birth": "1990-11-30"}`)
	v.shows("#try-curl", `{"name": "O'\''Brien"`)
	v.must(v.Press("#try-send"))
	v.shows("#try-status", "201 ")
	v.shows("#try-headers", "/v1/patients/pat_")
	v.must(v.Press("#forget-token"))
	v.must(v.Press("#try-send"))
	v.shows("#try-status", "401 ")
}

// TestPortalKeepsPeopleApart: wrong passwords, roles, ended sessions, posts
// from another page.
func TestPortalKeepsPeopleApart(t *testing.T) {
	t.Parallel()
	needsBrowser(t)
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--dev", "--session-idle", "5m", "--session-lifetime", "1h")
	for email, role := range map[string]string{"viewer@clinic.example": "viewer", "admin@clinic.example": "administrator"} {
		s.member(email, role)
	}
	v := newVisitor(t, n.url)

	// How long a session lasts is the operator's.
	v.must(v.Go(v.base + "/portal/sign-in?ended=yes"))
	v.says("Sessions end after 5 minutes without activity, and after 1 hour in total.")

	// A wrong password is slowed down, then locked: after the fourth for a
	// second, after each more for twice as long, until one comes within that.
	v.must(v.Go(v.base + "/portal/sign-in"))
	v.judge()
	for locked := false; !locked; {
		v.fill("#email", "admin@clinic.example", "#password", "wrong horse battery")
		v.must(v.Click("main button"))
		page, err := v.Page()
		v.must(err)
		locked = strings.Contains(page, "Too many failed sign-in attempts with this e-mail address")
		if !locked {
			v.says("The e-mail address or the password is wrong.")
		}
	}
	v.judge()

	// A viewer is not offered what it cannot do, and cannot do it.
	v.signIn("viewer@clinic.example")
	v.open("/portal/applications")
	page, err := v.Page()
	v.must(err)
	if strings.Contains(page, "Register an application") || strings.Contains(page, "Audit log") {
		t.Errorf("a viewer is offered too much:\n%s", page)
	}
	for _, path := range []string{"/portal/members", "/portal/audit", "/portal/applications/new", "/portal/webhooks/new"} {
		v.must(v.Go(v.base + path))
		v.says("This requires the role")
	}
	status, err := browser.Evaluate[int](v.Browser, `fetch("/portal/applications", {method: "POST", body: new URLSearchParams({name: "x", scope: "patients:read"})}).then(r => r.status)`)
	v.must(err)
	if status != http.StatusForbidden {
		t.Errorf("a viewer registers an application: %d", status)
	}

	// A form of another page does nothing.
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form method="post" action="%s/portal/sign-out"><button>win</button></form>`, n.url)
	}))
	t.Cleanup(evil.Close)
	other := newVisitor(t, n.url)
	other.signIn("viewer@clinic.example")
	other.hosts = append(other.hosts, evil.URL)
	other.must(other.Go(evil.URL))
	other.must(other.Click("button"))
	other.must(other.Go(n.url + "/portal/"))
	other.must(other.Wait(".who")) // still signed in

	// Signed out everywhere, the first browser's session has ended too.
	other.must(other.Go(n.url + "/portal/account"))
	other.must(other.Click(`form:has(input[name="everywhere"]) button`))
	v.must(v.Go(v.base + "/portal/account"))
	v.must(v.Wait("#password"))
	where, err := v.Location()
	v.must(err)
	if !strings.Contains(where, "/portal/sign-in") {
		t.Errorf("still signed in, at %s", where)
	}
}
