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
var unfolded = []string{"/docs/reference", "/docs/reference/createPatient", "/docs/reference/createExport", "/docs/reference/createToken", "/docs/reference/systemAlert"}

// TestReferenceIsAccessible runs axe on the pages of the reference, which come
// from one template. The pages above are tested in all looks and with everything
// unfolded; the list of contents, which is the same on all, once. Of the others,
// axe tests those with an element that stands somewhere where it stood on no page
// before, on a desktop or on a phone, in turn; every page has unique ids and fits
// into the window. ANODYNE_TEST_UNFOLD=1 tests every page in full, which takes
// minutes. Nobody is signed in.
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
	full := os.Getenv("ANODYNE_TEST_UNFOLD") != ""
	seen := map[string]bool{}
	for i, path := range slices.Concat(unfolded, []string{"/docs/reference/schemas"}, pages) {
		if i >= len(unfolded) && slices.Contains(unfolded, path) {
			continue
		}
		v.must(v.Go(v.base + path))
		if whole := i < len(unfolded); whole || full {
			leftOut := "#contents"
			if i == 0 || full {
				leftOut = ""
			}
			v.openAll()
			places(v, seen)
			for _, look := range looks {
				v.judgeBy(look.rules, leftOut, &look)
			}
			if whole {
				v.byKeyboard(path)
			}
			continue
		}
		look := &looks[2*(i%2)]
		if places(v, seen) {
			v.judgeBy(browser.StructureRules, "#contents", look)
		} else {
			v.fits(look)
		}
	}
}

// places notes where the elements of the page stand, by names, classes and
// attributes of each and of the two around it, and reports whether any is new.
// It also checks that no id is used twice.
func places(v *visitor, seen map[string]bool) (fresh bool) {
	v.t.Helper()
	found, err := browser.Evaluate[string](v.Browser, `(() => {
		const name = e => e ? e.localName + "." + e.className + e.getAttributeNames().filter(n => n != "class") + (e.firstChild ? "" : " empty") : "";
		const all = [...document.querySelectorAll("main *")].map(e => name(e.parentElement?.parentElement) + " > " + name(e.parentElement) + " > " + name(e));
		const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
		const twice = ids.filter((id, i) => ids.indexOf(id) < i).map(id => "twice: " + id);
		return [...new Set(all), ...twice].join("\n");
	})()`)
	v.must(err)
	for place := range strings.SplitSeq(found, "\n") {
		if id, twice := strings.CutPrefix(place, "twice: "); twice {
			where, _ := v.Location()
			v.t.Errorf("%s: the id %s is used twice", strings.TrimPrefix(where, v.base), id)
		}
		fresh = fresh || !seen[place]
		seen[place] = true
	}
	return fresh
}
