package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

// A release is built for systems that no test runs on. Compiling for each of
// them takes minutes; their types are checked in seconds, and what breaks is
// a name or a type that one system lacks.
func TestProgramFitsEveryTarget(t *testing.T) {
	testneed.Long(t, "checking the types of three more systems")
	out, err := exec.Command("../scripts/release", "--targets").Output()
	if err != nil {
		t.Fatal(err)
	}
	targets := strings.Fields(string(out))
	if len(targets) < 2 {
		t.Fatalf("targets: %q", targets)
	}
	sources := source{token.NewFileSet(), map[string]*ast.File{}}
	for _, target := range targets {
		if target != runtime.GOOS+"/"+runtime.GOARCH { // which is compiled anyway
			t.Run(target, sources.fit)
		}
	}
}

// source has the files that were parsed; targets share most of them.
type source struct {
	set   *token.FileSet
	files map[string]*ast.File
}

// fit checks the types of the program for the target that the test is named
// after: of this module in full, of all others the declarations.
func (s source) fit(t *testing.T) {
	_, target, _ := strings.Cut(t.Name(), "/")
	system, arch, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap", "anodyne.example/anodyne/cmd/anodyne")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; { // what is imported comes first
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
			ImportMap       map[string]string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			files = append(files, s.parse(t, filepath.Join(p.Dir, name)))
		}
		ours := strings.HasPrefix(p.ImportPath, "anodyne.example/anodyne/")
		check := types.Config{
			Sizes: types.SizesFor("gc", arch), IgnoreFuncBodies: !ours,
			Importer: importer(func(path string) (*types.Package, error) {
				if mapped, ok := p.ImportMap[path]; ok {
					path = mapped
				}
				if done[path] == nil {
					return nil, fmt.Errorf("%s is not there", path)
				}
				return done[path], nil
			}),
			Error: func(err error) { t.Error(err) },
		}
		done[p.ImportPath], _ = check.Check(p.ImportPath, s.set, files, nil) // errors have been reported
	}
	if done["anodyne.example/anodyne/cmd/anodyne"] == nil {
		t.Error("the program was not checked")
	}
}

func (s source) parse(t *testing.T, path string) *ast.File {
	t.Helper()
	if s.files[path] == nil {
		file, err := parser.ParseFile(s.set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.files[path] = file
	}
	return s.files[path]
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
