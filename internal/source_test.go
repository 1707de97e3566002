package internal

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const mostLines = 400

// Files that people edit stay short. Tests, generated files and data are
// exempt.
func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	kinds := []string{".go", ".ts", ".js", ".mjs", ".css", ".html", ".sh", ""}
	eachSource(t, func(path string, content []byte) {
		if isTest(path) || isGenerated(content) || !slices.Contains(kinds, filepath.Ext(path)) {
			return
		}
		if lines := bytes.Count(content, []byte("\n")); lines > mostLines {
			t.Errorf("%s has %d lines; divide it into files of at most %d", path, lines, mostLines)
		}
	})
}

// Every package and every exported name of both modules has a comment.
func TestExportedNamesHaveComments(t *testing.T) {
	t.Parallel()
	described := map[string]bool{} // by directory: whether a file has a package comment
	eachSource(t, func(path string, content []byte) {
		if filepath.Ext(path) != ".go" || isTest(path) {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		described[filepath.Dir(path)] = described[filepath.Dir(path)] || file.Doc != nil
		for _, name := range uncommented(file) {
			t.Errorf("%s: %s has no comment", fset.Position(name.Pos()), name.Name)
		}
	})
	for dir, ok := range described {
		if !ok {
			t.Errorf("%s: the package has no comment", dir)
		}
	}
}

func TestUncommented(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"// F is.\nfunc F() {}":                            "",
		"func F() {}":                                      "F",
		"func f() {}":                                      "",
		"// T is.\ntype T int\nfunc (T) M() {}":            "M",
		"type t int\nfunc (*t) M() {}":                     "",
		"// T is.\ntype T[P any] int\nfunc (*T[P]) M() {}": "M",
		"type A struct{ B int }":                           "A",
		"// Two consts.\nconst (\n\tA = 1\n\tB = 2\n)":     "",
		"const (\n\t// A is.\n\tA = 1\n\tB = 2\n)":         "B",
		"const (\n\tA = 1 // the first\n)":                 "",
		"var (\n\ta = 1\n\tb, C = 2, 3\n)":                 "C",
		"//go:noinline\nfunc F() {}":                       "F",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\n"+source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, name := range uncommented(file) {
			got += name.Name
		}
		if got != want {
			t.Errorf("found %q, want %q in\n%s", got, want, source)
		}
	}
}

// uncommented returns the exported names of a file that have no comment. The
// comment of a group counts for its constants and variables.
func uncommented(file *ast.File) (names []*ast.Ident) {
	check := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		// Text leaves out directives.
		says := func(c *ast.CommentGroup) bool { return strings.TrimSpace(c.Text()) != "" }
		if name.IsExported() && !slices.ContainsFunc(comments, says) {
			names = append(names, name)
		}
	}
	for _, declared := range file.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			if receiver := receiverOf(d); receiver == "" || ast.IsExported(receiver) {
				check(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					check(s.Name, s.Doc, d.Doc)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						check(name, s.Doc, s.Comment, d.Doc)
					}
				}
			}
		}
	}
	return names
}

// receiverOf returns the name of the type of a method, or "" for a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	for e := d.Recv.List[0].Type; ; {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			panic(fmt.Sprintf("a receiver of type %T", e))
		}
	}
}

// eachSource calls a function with each file of the repository, except hidden
// directories, test data and what a build or npm leaves behind.
func eachSource(t *testing.T, each func(path string, content []byte)) {
	t.Helper()
	const root = ".."
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path != root && strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"testdata", "node_modules", "bin", "dist"}, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		each(strings.TrimPrefix(filepath.ToSlash(path), "../"), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isTest(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, "_test.go") || strings.Contains(name, ".test.")
}

func isGenerated(content []byte) bool {
	head := content[:min(len(content), 300)]
	return bytes.Contains(head, []byte("DO NOT EDIT")) || bytes.Contains(head, []byte("auto-generated"))
}
