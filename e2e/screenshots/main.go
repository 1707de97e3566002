// Screenshots takes a picture of every page of the portal and the
// documentation, on a phone and on a desktop, light and dark, from a running
// demonstration:
//
//	go run ./e2e/screenshots --url http://127.0.0.1:8080 --state anodyne-demo/demo.json --out screenshots
//
// The pictures are for people to look at: does anything overlap, is anything
// cut off, are empty pages friendly.
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
	"strings"

	"anodyne/e2e/browser"
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
	if err := s.shoot("sign-in", "/portal/sign-in"); err != nil {
		return err
	}
	if err := errors.Join(s.Go(s.url+"/portal/sign-in"), s.Fill("#email", creds.Email), s.Fill("#password", creds.Password), s.Click("main button"), s.Wait(".who")); err != nil {
		return err
	}
	for _, page := range pages {
		if err := s.shoot(page.name, page.path); err != nil {
			return err
		}
	}
	for _, first := range firsts {
		if err := s.shootFirst(first.name, first.list, first.link); err != nil {
			return err
		}
	}
	return nil
}

var pages = []struct{ name, path string }{
	{"overview", "/portal/"}, {"patients", "/portal/patients"}, {"patients-none", "/portal/patients?search=nobody+at+all"},
	{"analytics", "/portal/analytics"}, {"reports", "/portal/reports"},
	{"applications", "/portal/applications"}, {"application-new", "/portal/applications/new"},
	{"webhooks", "/portal/webhooks"}, {"webhook-new", "/portal/webhooks/new"},
	{"members", "/portal/members"}, {"audit", "/portal/audit"}, {"account", "/portal/account"}, {"missing", "/portal/nothing"},
	{"docs", "/docs/"}, {"guide", "/docs/clinical-data"}, {"reference", "/docs/reference"},
}

// firsts are pages that a list leads to.
var firsts = []struct{ name, list, link string }{
	{"patient", "/portal/patients", `/portal/patients/pat_\w+`},
	{"application", "/portal/applications", `/portal/applications/cli_\w+`},
	{"webhook", "/portal/webhooks", `/portal/webhooks/whk_\w+`},
	{"report", "/portal/reports", `/portal/reports/rep_\w+`},
}

// shootFirst takes the first page that a list leads to, if there is one.
func (s *shooter) shootFirst(name, list, link string) error {
	if err := s.Go(s.url + list); err != nil {
		return err
	}
	links, err := browser.Evaluate[string](s.Browser, `[...document.querySelectorAll("main a")].map(a => a.pathname).join("\n")`)
	if err != nil {
		return err
	}
	pattern := regexp.MustCompile("^" + link + "$")
	for path := range strings.SplitSeq(links, "\n") {
		if pattern.MatchString(path) {
			return s.shoot(name, path)
		}
	}
	return nil
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
