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

// TestReferenceIsAccessible has axe judge every page of the reference, on a
// desktop in light and on a phone in dark; those above in all looks and with
// everything unfolded. With ANODYNE_TEST_UNFOLD=1 that is done for all, which
// takes minutes. Nobody is signed in.
func TestReferenceIsAccessible(t *testing.T) {
	t.Parallel()
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
		if whole := slices.Contains(unfolded, path); whole || os.Getenv("ANODYNE_TEST_UNFOLD") != "" {
			v.openAll()
			v.judge()
			if whole {
				v.byKeyboard(path)
			}
			continue
		}
		v.judgeIn(0, 2)
	}
}
