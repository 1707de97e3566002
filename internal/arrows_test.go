// Package internal contains tests of the repository as a whole: the imports
// between packages (see docs/architecture.md), the modules, generated files, and
// rules for source files.
package internal

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layers lists the packages from the top down. A name includes the packages
// below it that are not listed themselves. A package may import only packages
// of lower layers, never one of its own layer.
var layers = [][]string{
	{"cmd"},
	{"server", "bench", "cli", "lists"},
	{"config"},
	{"api", "portal", "oauth", "webhook", "report"},
	{"cohort", "backup", "importer", "export", "synth"},
	{"fhirwrite"},
	{"store/storetest"},
	{"store"},
	{"store/clients"},
	{"store/patients", "store/webhooks", "store/reports", "store/accounts"},
	{"store/idempotency"},
	{"store/journal", "store/lease"},
	{"store/engine"},
	{"store/private", "store/signal", "store/pgserver"},
	{"figure", "reporttype", "fhir"},
	{"analytics"},
	{"ratelimit", "worker", "tracing", "chart", "pain", "peer"},
	{"strictjson", "access", "event", "audit", "seal"},
	{"id", "fault", "decimal", "docs", "licenses", "giveway"},
	{"testnode"},
	{"testneed", "faulttest", "testwait", "testcert"}, // for tests, which are not checked, and for their helpers
}

// pkg is the output of go list for a package.
type pkg struct {
	ImportPath string
	Imports    []string
}

func TestArrowsPointDown(t *testing.T) {
	layerOf := map[string]int{}
	for i, names := range layers {
		for _, name := range names {
			layerOf[name] = i
		}
	}
	for _, p := range packages(t) {
		from := part(p.ImportPath)
		if _, known := layerOf[from]; !known && from != "client" && from != "e2e" && from != "deploy" && from != "internal" {
			t.Errorf("%s is in no layer; add it above", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			to := part(imported)
			switch {
			case !strings.HasPrefix(imported, "anodyne.example/anodyne/") || to == from:
			case from == "client":
				t.Errorf("%s imports %s, but others build against it", p.ImportPath, imported)
			case to == "client":
				if from != "cmd" {
					t.Errorf("%s imports %s, which is for those outside", p.ImportPath, imported)
				}
			case layerOf[from] >= layerOf[to]:
				t.Errorf("%s imports %s, which is in no lower layer", p.ImportPath, imported)
			}
		}
	}
}

// Packages for measuring, testing and generating data must not be linked into
// the deployed program, except for those that the demonstration needs.
func TestTheServerIsLinkedWithoutTools(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "anodyne.example/anodyne/cmd/anodyne").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 100 {
		t.Fatalf("go list found %d packages", len(linked))
	}
	tools := []string{"bench", "store/pgserver", "store/storetest", "testneed", "testnode", "faulttest", "testwait", "testcert"}
	for _, path := range linked {
		inside, _ := strings.CutPrefix(path, "anodyne.example/anodyne/internal/")
		if path == "testing" || strings.HasPrefix(path, "gonum.org/") || slices.ContainsFunc(tools, func(tool string) bool { return strings.HasPrefix(inside+"/", tool+"/") }) {
			t.Errorf("cmd/anodyne links %s", path)
		}
	}
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "github.com/brianvoe/gofakeit") && part(p.ImportPath) != "synth" {
				t.Errorf("%s imports %s, which is for the demonstration's patients", p.ImportPath, imported)
			}
			if part(imported) == "synth" && part(p.ImportPath) != "cmd" {
				t.Errorf("%s imports %s, which is for the demonstration", p.ImportPath, imported)
			}
		}
	}
}

// part returns the name under which layers lists a package: a folder of
// internal, or one of the store's packages, with all below it, or a folder next
// to internal.
func part(path string) string {
	path = strings.TrimPrefix(path, "anodyne.example/anodyne/")
	path = strings.TrimPrefix(path, "internal/")
	name, rest, _ := strings.Cut(path, "/")
	if name == "store" && rest != "" {
		below, _, _ := strings.Cut(rest, "/")
		return name + "/" + below
	}
	return name
}

// Transactions are not restricted to an organisation, so only the store may run
// them; access to an organisation's data goes through store.Org.
func TestTransactionsStayInTheStore(t *testing.T) {
	raw := regexp.MustCompile(`\bengine\.(Tx|Stmt|One)\b|\.Database\(\)|\.Journal\(\)`)
	for _, root := range []string{".", "../cmd", "../e2e", "../deploy"} {
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && path == "store" {
				return cmp.Or(err, fs.SkipDir)
			}
			if !strings.HasSuffix(path, ".go") || path == "arrows_test.go" {
				return nil
			}
			content, err := os.ReadFile(path)
			if found := raw.Find(content); found != nil {
				t.Errorf("%s has %s", path, found)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
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
