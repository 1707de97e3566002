package lists

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// One word of each list must occur in the code only where it is declared and
// where it is generated.
func TestWordsAreDeclaredOnce(t *testing.T) {
	t.Parallel()
	declared := map[string][]string{
		"medication_class":   {"internal/analytics/parameters.go"},
		"opioid_stewardship": {"internal/reporttype/reporttype.go"},
		"report.completed":   {"internal/event/types.go"},
		"contact.phone":      {"internal/pain/fields.go"},
		"webhooks:write":     {"internal/access/scope.go"},
		"professional":       {"internal/access/tier.go"},
	}
	found := map[string]int{}
	for _, dir := range []string{"client", "cmd/anodyne", "internal"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") || filepath.Ext(name) != ".go" && filepath.Ext(name) != ".html" {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			path, err := filepath.Rel("../..", name)
			for word, where := range declared {
				quoted := strings.Contains(string(text), `"`+word+`"`) || strings.Contains(string(text), "`"+word+"`")
				switch path = filepath.ToSlash(path); {
				case !quoted || path == goTypes:
				case slices.Contains(where, path):
					found[word]++
				default:
					t.Errorf("%s has %q, which is declared in %s", path, word, where[0])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) != len(declared) {
		t.Errorf("found %v", found)
	}
}

// The table of typical changes must name existing files, and each row at most
// four to edit, except for an engine.
func TestTableOfChanges(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| change | edit |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[2:]
	if len(rows) != 10 {
		t.Errorf("%d changes", len(rows))
	}
	path := regexp.MustCompile("`((internal|client|cmd|docs)/[^` ]*)`")
	for _, row := range rows {
		cells := strings.Split(row, " | ")
		for _, match := range path.FindAllStringSubmatch(row, -1) {
			if _, err := os.Stat(filepath.Join("../..", match[1])); err != nil {
				t.Errorf("%s: %v", cells[0], err)
			}
		}
		if edits := strings.Count(cells[1], ", ") + 1; edits > 4 && cells[0] != "| engine" {
			t.Errorf("%s: %d files", cells[0], edits)
		}
	}
}
