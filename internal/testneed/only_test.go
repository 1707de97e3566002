package testneed

import (
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

// TestOnlyHere walks the module: a skip that does not go through this package
// would be missing from the closing summary and would pass where nothing may
// be left out.
func TestOnlyHere(t *testing.T) {
	root := moduleRoot(t)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "testneed") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, where := range skips(path, source) {
			t.Errorf("%s: call testneed.Skip instead", where)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSkipsFinds(t *testing.T) {
	for source, want := range map[string]int{
		`package p; import "testing"; func TestX(t *testing.T) { t.Skip("no") }`:                                                  1,
		`package p; import "testing"; func TestX(t *testing.T) { t.SkipNow(); t.Run("y", func(u *testing.T) { u.Skipf("no") }) }`: 2,
		`package p; import "testing"; func TestX(t *testing.T) { testneed.Skip(t, "no") }`:                                        0,
		`package p; import "encoding/xml"; func x(d *xml.Decoder) error { return d.Skip() }`:                                      0,
	} {
		if got := len(skips("p.go", []byte(source))); got != want {
			t.Errorf("%d skips found, want %d in %s", got, want, source)
		}
	}
}

// skips names the places where a file that imports testing calls a method
// named like those of testing.TB. A file that does not parse is the compiler's
// business.
func skips(path string, source []byte) []string {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, 0)
	if err != nil || !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
		return nil
	}
	var found []string
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, method.Sel.Name) {
			return true
		}
		if receiver, ok := method.X.(*ast.Ident); !ok || receiver.Name != "testneed" {
			found = append(found, files.Position(call.Pos()).String())
		}
		return true
	})
	return found
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the package")
		}
		dir = parent
	}
}
