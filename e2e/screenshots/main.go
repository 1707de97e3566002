// Screenshots takes a screenshot of every page of the portal and the
// documentation, on a phone and on a desktop, light and dark, from a running
// demo:
//
//	go run ./e2e/screenshots --url http://127.0.0.1:8080 --state anodyne-demo/demo.json --out screenshots
//
// The screenshots are for review by people: whether elements overlap or are
// cut off, and whether empty pages are helpful.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"anodyne.example/anodyne/e2e/browser"
)

func main() {
	var s shooter
	flag.StringVar(&s.url, "url", "http://127.0.0.1:8080", "`address` of the demonstration")
	state := flag.String("state", filepath.Join("anodyne-demo", "demo.json"), "`file` that the demonstration keeps its credentials in")
	flag.StringVar(&s.out, "out", "screenshots", "`folder` for the pictures")
	flag.Parse()
	if err := s.run(context.Background(), *state); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

type shooter struct {
	*browser.Browser
	url, out string
}

func (s *shooter) run(ctx context.Context, state string) error {
	var creds struct{ Email, Password string }
	text, err := os.ReadFile(state)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &creds); err != nil {
		return err
	}
	path, err := browser.Find()
	if err != nil {
		return err
	}
	profile, err := os.MkdirTemp("", "screenshots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile)
	if s.Browser, err = browser.Open(ctx, path, profile); err != nil {
		return err
	}
	defer s.Close()
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	for _, page := range open {
		if err := s.shoot(page.name, page.path); err != nil {
			return err
		}
	}
	if err := errors.Join(s.Go(s.url+"/portal/sign-in"), s.Fill("#email", creds.Email), s.Fill("#password", creds.Password), s.Click("main button"), s.Wait(".who")); err != nil {
		return err
	}
	for _, page := range pages {
		if err := s.shoot(page.name, page.path); err != nil {
			return err
		}
	}
	if err := s.prepare(); err != nil {
		return err
	}
	for _, first := range firsts {
		if err := s.shootFirst(first.name, first.list, first.links); err != nil {
			return err
		}
	}
	return nil
}

// open are the pages that need no sign-in.
var open = []struct{ name, path string }{
	{"sign-in", "/portal/sign-in"}, {"sign-in-ended", "/portal/sign-in?ended=form&to=%2Fportal%2Freports"}, {"docs-open", "/docs/"},
}

var pages = []struct{ name, path string }{
	{"overview", "/portal/"}, {"patients", "/portal/patients"}, {"patients-none", "/portal/patients?search=nobody+at+all"},
	{"analytics", "/portal/analytics"}, {"reports", "/portal/reports"}, {"exports", "/portal/exports"}, {"medicines", "/portal/medicines?look=MS+Contin+100+mg"},
	{"applications", "/portal/applications"}, {"application-new", "/portal/applications/new"},
	{"webhooks", "/portal/webhooks"}, {"webhook-new", "/portal/webhooks/new"},
	{"members", "/portal/members"}, {"audit", "/portal/audit"}, {"account", "/portal/account"}, {"missing", "/portal/nothing"},
	{"docs", "/docs/"}, {"guide", "/docs/clinical-data"}, {"reference", "/docs/reference"},
	{"reference-operation", "/docs/reference/createPatient"}, {"reference-token", "/docs/reference/createToken"},
	{"reference-event", "/docs/reference/clinicalDataUpdated"}, {"reference-schemas", "/docs/reference/schemas"},
}

// firsts are pages reached from a list, through one or two links.
var firsts = []struct {
	name, list string
	links      []string
}{
	{"patient", "/portal/patients", []string{`/portal/patients/pat_\w+`}},
	{"record", "/portal/patients", []string{`/portal/patients/pat_\w+`, `/portal/patients/pat_\w+/records/rec_\w+`}},
	{"application", "/portal/applications", []string{`/portal/applications/cli_\w+`}},
	{"webhook", "/portal/webhooks", []string{`/portal/webhooks/whk_\w+`}},
	{"webhook-edit", "/portal/webhooks", []string{`/portal/webhooks/whk_\w+`, `/portal/webhooks/whk_\w+/edit`}},
	{"delivery", "/portal/webhooks", []string{`/portal/webhooks/whk_\w+`, `/portal/webhooks/whk_\w+/deliveries/dlv_\w+`}},
	{"report", "/portal/reports", []string{`/portal/reports/rep_\w+`}},
	{"export", "/portal/exports", []string{`/portal/exports/exp_\w+`}},
	{"patient-fhir", "/portal/patients", []string{`/portal/patients/pat_\w+`, `/portal/patients/pat_\w+/fhir`}},
	{"patient-remove", "/portal/patients", []string{`/portal/patients/pat_\w+`, `/portal/patients/pat_\w+/remove`}},
}

// prepare creates a report and an export and sends a test event, so that the
// lists have content. The empty lists were captured before.
func (s *shooter) prepare() error {
	if err := errors.Join(s.Go(s.url+"/portal/reports"), s.Choose("#type", "outcomes"), s.Click("main form button"), s.Wait("main a.button[download]")); err != nil {
		return err
	}
	if err := errors.Join(s.Go(s.url+"/portal/exports"), s.Click("main form button"), s.Wait("main a[download]")); err != nil {
		return err
	}
	return errors.Join(s.shoot("exports-some", "/portal/exports"), s.shoot("reports-some", "/portal/reports"), s.Go(s.url+"/portal/webhooks"), s.Click("tbody th a"),
		s.Click(`form:has(input[value="test"]) button`), s.Wait("td .badge.good"))
}

// shootFirst captures the page behind the first matching links, if there is
// one.
func (s *shooter) shootFirst(name, path string, links []string) error {
	for _, link := range links {
		if err := s.Go(s.url + path); err != nil {
			return err
		}
		found, err := browser.Evaluate[string](s.Browser, `[...document.querySelectorAll("main a")].map(a => a.pathname).join("\n")`)
		if err != nil {
			return err
		}
		pattern := regexp.MustCompile("(?m)^" + link + "$")
		if path = pattern.FindString(found); path == "" {
			return nil
		}
	}
	return s.shoot(name, path)
}

func (s *shooter) shoot(name, path string) error {
	for _, look := range []struct {
		name          string
		width, height int64
		dark          bool
	}{
		{"phone-light", 390, 844, false}, {"phone-dark", 390, 844, true}, {"desktop-light", 1280, 900, false}, {"desktop-dark", 1280, 900, true},
	} {
		if err := errors.Join(s.Look(look.width, look.height, look.dark), s.Go(s.url+path)); err != nil {
			return err
		}
		wide, err := browser.Evaluate[int](s.Browser, `document.documentElement.scrollWidth`)
		if err != nil {
			return err
		}
		if int64(wide) > look.width {
			fmt.Printf("%s, %s: the page is %d wide\n", path, look.name, wide)
		}
		picture, err := s.Picture()
		if err != nil {
			return err
		}
		file := filepath.Join(s.out, name+"-"+look.name+".png")
		if err := os.WriteFile(file, picture, 0o644); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}
