package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	"anodyne/e2e/browser"
	"anodyne/internal/api/openapi"
	"anodyne/internal/store/storetest"
)

// unfolded are pages that between them have every part that a page of the
// reference can have.
var unfolded = []string{"/docs/reference", "/docs/reference/createPatient", "/docs/reference/addClinicalData", "/docs/reference/createToken", "/docs/reference/systemAlert"}

// TestReferenceIsAccessible has axe judge every page of the reference in all
// looks, as it is served. Nobody is signed in. With ANODYNE_TEST_UNFOLD=1
// every page is judged with everything unfolded, which takes minutes.
func TestReferenceIsAccessible(t *testing.T) {
	s := newService(t, storetest.SQLite)
	v := newVisitor(t, s.node(0, "--dev").url)
	v.must(v.Go(v.base + "/docs/reference"))
	links, err := browser.Evaluate[string](v.Browser, `[...document.querySelectorAll(".operations a")].map(a => a.pathname).join("\n")`)
	v.must(err)
	pages := strings.Split(links, "\n")
	if len(pages) < len(openapi.Routes()) {
		t.Fatalf("%d pages for %d operations", len(pages), len(openapi.Routes()))
	}
	for _, path := range append([]string{"/docs/reference", "/docs/reference/schemas"}, pages...) {
		v.must(v.Go(v.base + path))
		if slices.Contains(unfolded, path) {
			v.openAll()
			v.byKeyboard(path)
		} else if os.Getenv("ANODYNE_TEST_UNFOLD") != "" {
			v.openAll()
		}
		v.judge()
	}
}
