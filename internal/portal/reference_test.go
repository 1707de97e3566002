package portal

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/api/openapi"
)

// TestEveryOperationHasItsPage: at its operationId, with what the document
// says of it.
//
//test:norace
func TestEveryOperationHasItsPage(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	b := h.browser()
	index := b.get("/docs/reference").text
	routes := openapi.Routes()
	if len(routes) == 0 {
		t.Fatal("the document has no operation")
	}
	for _, route := range routes {
		link := regexp.MustCompile(`href="(/docs/reference/\w+)"><span class="method ` + strings.ToLower(route.Method) + `">` + route.Method +
			`</span> <code>` + regexp.QuoteMeta(route.Path) + `</code>`).FindStringSubmatch(index)
		if link == nil {
			t.Errorf("%s %s is not listed", route.Method, route.Path)
			continue
		}
		p := b.get(link[1])
		if p.status != http.StatusOK || !strings.Contains(p.text, fmt.Sprintf(`data-method="%s" data-path="%s"`, route.Method, route.Path)) {
			t.Errorf("%s: %d", link[1], p.status)
		}
		for _, want := range []string{`id="answers"`, `id="errors"`, `id="curl"`, "curl -i &#39;" + h.url + "/"} {
			if !strings.Contains(p.text, want) {
				t.Errorf("%s has no %s", link[1], want)
			}
		}
	}
	if p := b.get("/docs/reference/"); p.status != http.StatusOK || p.text != index {
		t.Errorf("the reference with a slash: %d", p.status)
	}
	if p := b.get("/docs/reference/nothing"); p.status != http.StatusNotFound {
		t.Errorf("an operation that is not there: %d", p.status)
	}
}

var (
	hrefs = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	ids   = regexp.MustCompile(` id="([^"]+)"`)
)

// TestDocumentationLinksLeadSomewhere walks all pages under /docs from the
// first one, and holds every address and every place in a page.
//
//test:norace
func TestDocumentationLinksLeadSomewhere(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	b := h.browser()
	places := map[string]map[string]bool{} // ids, by page
	wanted := map[string]string{}          // links with a place, and where they are
	for queue := []string{"/docs/"}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if places[at] != nil {
			continue
		}
		places[at] = map[string]bool{}
		p := b.get(at)
		if p.status != http.StatusOK {
			t.Errorf("%s: %d", at, p.status)
		}
		if !strings.HasPrefix(at, "/docs/") {
			continue
		}
		for _, match := range ids.FindAllStringSubmatch(p.text, -1) {
			if places[at][match[1]] {
				t.Errorf("%s has two places %s", at, match[1])
			}
			places[at][match[1]] = true
		}
		for _, match := range hrefs.FindAllStringSubmatch(p.text, -1) {
			to, place, inside := strings.Cut(html.UnescapeString(match[1]), "#")
			switch {
			case to == "":
				to = at
			case !strings.HasPrefix(to, "/"):
				if !strings.HasPrefix(to, "https://") {
					t.Errorf("%s links to %s", at, to)
				}
				continue
			case strings.HasPrefix(to, "/openapi.") || to == "/portal" || to == "/portal/": // the API's, and a page to sign in at
				continue
			}
			queue = append(queue, to)
			if inside {
				wanted[to+"#"+place] = at
			}
		}
	}
	if len(places) < len(openapi.Routes()) || len(wanted) == 0 {
		t.Fatalf("%d pages and %d places found; the test is blind", len(places), len(wanted))
	}
	for link, at := range wanted {
		if to, place, _ := strings.Cut(link, "#"); !places[to][place] {
			t.Errorf("%s links to %s, which is no place", at, link)
		}
	}
}

// TestReferenceNeedsNoMoreThanOtherPages: the content security policy also
// applies to the reference.
func TestReferenceNeedsNoMoreThanOtherPages(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	for _, path := range []string{"/docs/reference", "/docs/reference/createPatient", "/docs/reference/schemas"} {
		p := h.browser().get(path)
		if policy := p.header.Get("Content-Security-Policy"); policy != headers.Get("Content-Security-Policy") {
			t.Errorf("%s: policy %q", path, policy)
		}
		for _, forbidden := range []string{" style=", "<style", " onclick=", "<script>"} {
			if strings.Contains(p.text, forbidden) {
				t.Errorf("%s has %s", path, forbidden)
			}
		}
	}
}
