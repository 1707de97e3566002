// Package internal holds the test of how the rooms of the house may lead into
// each other; see docs/architecture.md.
package internal

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// floors lists the rooms from the top down. A room imports only rooms of lower
// floors; rooms of one floor never import each other.
var floors = [][]string{
	{"cmd"},
	{"server", "bench", "cli", "lists"},
	{"config"},
	{"api", "portal", "oauth", "webhook", "report"},
	{"cohort", "backup", "importer", "synth"},
	{"store"},
	{"figure", "reporttype"},
	{"analytics"},
	{"ratelimit", "worker", "tracing", "chart", "pain"},
	{"strictjson", "access", "event", "audit", "seal"},
	{"id", "fault", "docs", "licenses"},
	{"testneed", "faulttest", "testwait"}, // for tests, which are not looked at, and for what helps them
}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Imports    []string
}

func TestArrowsPointDown(t *testing.T) {
	floorOf := map[string]int{}
	for i, rooms := range floors {
		for _, room := range rooms {
			floorOf[room] = i
		}
	}
	for _, p := range packages(t) {
		from := room(p.ImportPath)
		if _, known := floorOf[from]; !known && from != "client" && from != "e2e" && from != "deploy" && from != "internal" {
			t.Errorf("%s stands on no floor; say above on which", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			to := room(imported)
			switch {
			case !strings.HasPrefix(imported, "anodyne.example/anodyne/") || to == from:
			case from == "client":
				t.Errorf("%s imports %s, but others build against it", p.ImportPath, imported)
			case to == "client":
				if from != "cmd" {
					t.Errorf("%s imports %s, which is for those outside", p.ImportPath, imported)
				}
			case floorOf[from] >= floorOf[to]:
				t.Errorf("%s imports %s, which does not stand below it", p.ImportPath, imported)
			}
		}
	}
}

// What measures, tests and makes things up stays out of the program that is
// deployed, as far as it is not the demonstration's.
func TestTheServerIsLinkedWithoutTools(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "anodyne.example/anodyne/cmd/anodyne").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 100 {
		t.Fatalf("go list found %d packages", len(linked))
	}
	tools := []string{"bench", "store/pgserver", "store/storetest", "testneed", "faulttest", "testwait"}
	for _, path := range linked {
		inside, _ := strings.CutPrefix(path, "anodyne.example/anodyne/internal/")
		if path == "testing" || strings.HasPrefix(path, "gonum.org/") || slices.ContainsFunc(tools, func(tool string) bool { return strings.HasPrefix(inside+"/", tool+"/") }) {
			t.Errorf("cmd/anodyne links %s", path)
		}
	}
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "github.com/brianvoe/gofakeit") && room(p.ImportPath) != "synth" {
				t.Errorf("%s imports %s, which is for the demonstration's patients", p.ImportPath, imported)
			}
			if room(imported) == "synth" && room(p.ImportPath) != "cmd" {
				t.Errorf("%s imports %s, which is for the demonstration", p.ImportPath, imported)
			}
		}
	}
}

// room is the part of the house a package is in: a folder of internal, with
// all below it, or a folder beside internal.
func room(path string) string {
	path = strings.TrimPrefix(path, "anodyne.example/anodyne/")
	path = strings.TrimPrefix(path, "internal/")
	name, _, _ := strings.Cut(path, "/")
	return name
}

func packages(t *testing.T) (list []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "work")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 10 {
		t.Fatalf("go list found %d packages", len(list))
	}
	return list
}
