package docs

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

func TestEveryGuideIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, g := range Guides() {
		listed[g.Slug] = true
		if !strings.HasPrefix(g.Text, "# "+g.Title+"\n") || g.Title == "" {
			t.Errorf("%s does not begin with a heading", g.Slug)
		}
	}
	found, err := fs.Glob(files, "guides/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if slug, ok := strings.CutSuffix(path.Base(name), ".md"); !ok || !listed[slug] {
			t.Errorf("%s is not in the list", name)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)]+)\)`)

// A link leads to another guide (slug.md, as it works in the repository), to
// a place in the page, or to a page of the service.
func TestLinksLeadSomewhere(t *testing.T) {
	known := map[string]bool{"/portal": true, "/docs/reference": true, "/openapi.json": true, "/openapi.yaml": true}
	for _, g := range Guides() {
		known[g.Slug+".md"], known["guides/"+g.Slug+".md"], known["../"+g.Slug+".md"] = true, true, true
	}
	for _, g := range Guides() {
		for _, match := range link.FindAllStringSubmatch(g.Text, -1) {
			target, _, _ := strings.Cut(match[1], "#")
			if target != "" && !known[target] && !strings.HasPrefix(target, "https://") {
				t.Errorf("%s links to %s", g.Slug, match[1])
			}
		}
	}
}
