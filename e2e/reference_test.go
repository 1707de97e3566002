package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/e2e/browser"
	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/store/storetest"
)

// unfolded are pages that between them have every part that a page of the
// reference can have.
var unfolded = []string{"/docs/reference", "/docs/reference/createPatient", "/docs/reference/addClinicalData", "/docs/reference/createToken", "/docs/reference/systemAlert"}

// TestReferenceIsAccessible runs axe on every page of the reference. The pages
// above are tested in all looks and with everything unfolded; the others, which
// come from the same template and have the same colours and list of contents, on
// a desktop or on a phone, in turn, for everything else. ANODYNE_TEST_UNFOLD=1 tests every
// page in full, which takes minutes. Nobody is signed in.
func TestReferenceIsAccessible(t *testing.T) {
	t.Parallel()
	needsBrowser(t)
	s := newService(t, storetest.SQLite)
	v := newVisitor(t, s.node(0, "--dev").url)
	v.must(v.Go(v.base + "/docs/reference"))
	links, err := browser.Evaluate[string](v.Browser, `[...document.querySelectorAll(".operations a")].map(a => a.pathname).join("\n")`)
	v.must(err)
	pages := strings.Split(links, "\n")
	if len(pages) < len(openapi.Routes()) {
		t.Fatalf("%d pages for %d operations", len(pages), len(openapi.Routes()))
	}
	for i, path := range append([]string{"/docs/reference", "/docs/reference/schemas"}, pages...) {
		v.must(v.Go(v.base + path))
		if whole := slices.Contains(unfolded, path); whole || os.Getenv("ANODYNE_TEST_UNFOLD") != "" {
			v.openAll()
			v.judge()
			if whole {
				v.byKeyboard(path)
			}
			continue
		}
		v.judgeBy(browser.StructureRules, "#contents", &looks[2*(i%2)])
	}
}
