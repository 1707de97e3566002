package e2e

import (
	"strings"
	"testing"

	"anodyne/e2e/browser"
	"anodyne/internal/api/openapi"
	"anodyne/internal/store/storetest"
)

// TestReferenceIsAccessible has axe judge every page of the reference in all
// looks, with everything unfolded. Nobody is signed in.
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
		v.openAll()
		v.judge()
		if path == "/docs/reference" || strings.HasSuffix(path, "/createPatient") || strings.HasSuffix(path, "/schemas") {
			v.byKeyboard(path)
		}
	}
}
