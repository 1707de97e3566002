package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/reports"
)

// Words used as keys of tables are declared as constants, and listed. A test
// of each table walks the list; this one compares the lists with the
// constants, so that adding a word without adding it to a table fails a test.
func TestListsHaveEveryConstant(t *testing.T) {
	for _, list := range []struct {
		dir, of string
		words   []string
	}{
		{"fault", "Code", texts(fault.Codes())},
		{"audit", "Action", texts(audit.Actions())},
		{"event", "Type", texts(append(event.Types(), event.Test, event.All))},
		{"reporttype", "Type", texts(reporttype.Types())},
		{"store/reports", "ReportFormat", texts(reports.ReportFormats)},
		{"store/reports", "Status", texts(reports.Statuses)},
		{"pain", "Status", texts(pain.Statuses())},
		{"pain/drug", "Class", texts(drug.Classes())},
		{"pain/drug", "Basis", texts(drug.Bases())},
		{"pain/drug", "Reason", texts(drug.Reasons())},
	} {
		declared := constants(t, list.dir, list.of)
		if len(declared) == 0 {
			t.Errorf("%s.%s: no constants were found", list.dir, list.of)
		}
		for _, word := range declared {
			if !slices.Contains(list.words, word) {
				t.Errorf("%s.%s: %q is not in the list", list.dir, list.of, word)
			}
		}
		if len(list.words) != len(declared) {
			t.Errorf("%s.%s: %d in the list, %d constants", list.dir, list.of, len(list.words), len(declared))
		}
	}
}

func texts[T ~string](words []T) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

// constants returns the values of the constants of a type.
func constants(t *testing.T, dir, of string) (values []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if typed, ok := spec.Type.(*ast.Ident); !ok || typed.Name != of {
				return false
			}
			for _, value := range spec.Values {
				if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					text, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, text)
				}
			}
			return false
		})
	}
	return values
}
