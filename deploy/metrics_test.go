// Package deploy holds what an operator installs; its tests check these files
// against the program.
package deploy

import (
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/store/storetest"
)

// files returns the files in this directory by name, without the tests.
func files(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	if err != nil || len(found) < 10 {
		t.Fatalf("%d files, %v", len(found), err)
	}
	return found
}

var metric = regexp.MustCompile(`\b(?:anodyne|go|process)_[a-z0-9_]+\b`)

// Every metric used in an alert or panel is exported by a server.
func TestMetricsExist(t *testing.T) {
	t.Parallel()
	exposed := metricsOfServers(t)
	for _, name := range append([]string{rulesFile, "grafana/anodyne.json"}, rulesTests...) {
		names := metric.FindAllString(files(t)[name], -1)
		least := 5
		if name == daysTests {
			least = 2 // it is about backups alone
		}
		if len(names) < least {
			t.Errorf("%s asks for %q", name, names)
		}
		for _, asked := range names {
			if !exposed[asked] {
				t.Errorf("%s uses the metric %s, which is not exported", name, asked)
			}
		}
	}
}

// metricsOfServers starts a server on each engine, sends it a request and returns
// the names of the exported metrics.
func metricsOfServers(t *testing.T) map[string]bool {
	t.Helper()
	exposed := map[string]bool{}
	for _, engine := range storetest.Engines {
		n := newNode(t, engine, "")
		get(t, n.url+"/v1/patients")
		for line := range strings.Lines(get(t, n.metricsURL)) {
			if !strings.HasPrefix(line, "#") {
				exposed[metric.FindString(line)] = true
			}
		}
	}
	return exposed
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A dashboard is read by Grafana and edited by hand, so it breaks easily.
func TestDashboard(t *testing.T) {
	t.Parallel()
	var dashboard struct {
		Title  string
		Panels []struct {
			ID      int
			Type    string
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(files(t)["grafana/anodyne.json"]), &dashboard); err != nil {
		t.Fatal(err)
	}
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d, %q: its number is taken, or it has no title or nothing to show", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			if strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") || !metric.MatchString(target.Expr) {
				t.Errorf("%s: %s", p.Title, target.Expr)
			}
		}
	}
	if dashboard.Title == "" || len(ids) < 10 {
		t.Errorf("%q with %d panels", dashboard.Title, len(ids))
	}
}

var variable = regexp.MustCompile(`ANODYNE_[A-Z_]+`)

// Every setting made or recommended here is one that the program reads.
func TestSettingsExist(t *testing.T) {
	t.Parallel()
	var cfg config.Config
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	cfg.Serve(flags)
	var known []string
	flags.VisitAll(func(f *flag.Flag) { known = append(known, config.Variable(f.Name)) })
	used := 0
	for name, text := range files(t) {
		for _, setting := range variable.FindAllString(text, -1) {
			used++
			if setting != "ANODYNE_" && !slices.Contains(known, setting) {
				t.Errorf("%s sets %s, which nothing reads", name, setting)
			}
		}
	}
	if used < 10 {
		t.Errorf("only %d settings were found", used)
	}
}
