package api

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"testing"
)

var linkForm = regexp.MustCompile(`<([^>]+)>; rel="([a-z]+)"`)

// links reads the Link header by relation.
func (r *reply) links() map[string]string {
	links := map[string]string{}
	for _, link := range linkForm.FindAllStringSubmatch(r.header.Get("Link"), -1) {
		links[link[2]] = link[1]
	}
	return links
}

func TestPagePastTheEnd(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.create("Arlo Finch")
		for _, page := range []int{2, 3, 1000000, 2147483647} {
			for _, search := range []string{"", "&search=arlo"} {
				r := c.get(fmt.Sprintf("/v1/patients?page=%d&limit=100%s", page, search))
				if got := r.pagination(); got != [3]int{page, 100, 1} || r.data() == nil || len(r.data()) != 0 {
					t.Errorf("%s: %v %v", r.what, got, r.data())
				}
			}
		}
	})
}

func TestLinkHeaderOfAPage(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		at := func(page int) string { return fmt.Sprintf("/v1/patients?page=%d&limit=2", page) }
		if got := c.get(at(1)).header.Get("Link"); got != `<`+at(1)+`>; rel="first", <`+at(1)+`>; rel="last"` {
			t.Errorf("of an empty list: %s", got)
		}
		c.fill(5)
		for page, want := range map[int]map[string]string{
			1: {"first": at(1), "next": at(2), "last": at(3)},
			2: {"first": at(1), "prev": at(1), "next": at(3), "last": at(3)},
			3: {"first": at(1), "prev": at(2), "last": at(3)},
			9: {"first": at(1), "prev": at(3), "last": at(3)},
		} {
			if got := c.get(at(page)).links(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("page %d: %v, want %v", page, got, want)
			}
		}
		links := c.get("/v1/patients?limit=2&search=" + escaped("robin  starling & \"x\"")).links()
		parsed, err := url.Parse(links["first"])
		if err != nil || parsed.Query().Get("search") != `robin  starling & "x"` {
			t.Errorf("links of a search: %v, %v", links, err)
		}
	})
}

// walk follows the links from a first page and returns the identifiers.
func (c *caller) walk(path string, meanwhile func()) (ids []string) {
	c.tb.Helper()
	for path != "" {
		r := c.get(path).is(http.StatusOK)
		for _, item := range r.data() {
			ids = append(ids, item["id"].(string))
		}
		meanwhile()
		path = r.links()["next"]
	}
	return ids
}

func TestWalkingThePages(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.fill(23)
		for _, path := range []string{"/v1/patients?limit=5", "/v1/patients?limit=5&search=starling"} {
			more := 4
			ids := c.walk(path, func() {
				if more--; more >= 0 {
					c.create("Robin Starling, late")
				}
			})
			total := c.get(path).pagination()[2]
			if unique := slices.Compact(slices.Sorted(slices.Values(ids))); len(ids) != total || len(unique) != total {
				t.Errorf("%s: walked %d, %d different, of %d", path, len(ids), len(unique), total)
			}
		}
	})
}

// Whatever commits meanwhile and from whichever node: a walk to the end has
// every patient once.
func TestWalkingWhileOthersWrite(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		other := c.at(n.another())
		done := make(chan []*reply)
		go func() {
			done <- parallel(60, func(i int) *reply {
				return []*caller{c, other}[i%2].post("/v1/patients", `{"name":"Robin Starling","date_of_birth":"1980-02-29"}`)
			})
		}()
		var ids []string
		var replies []*reply
		for page, writing := 1, true; ; {
			r := c.get(fmt.Sprintf("/v1/patients?page=%d&limit=7", page))
			items := r.data()
			if len(items) == 7 || !writing {
				for _, item := range items {
					ids = append(ids, item["id"].(string))
				}
				page++
			}
			if !writing && len(items) < 7 {
				break
			}
			select {
			case replies = <-done:
				writing = false
			default:
			}
		}
		for _, r := range replies {
			if id := r.is(http.StatusCreated).json()["id"].(string); !slices.Contains(ids, id) {
				t.Errorf("%s was missed", id)
			}
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(ids))); len(ids) != 60 || len(unique) != 60 {
			t.Errorf("walked %d, %d different", len(ids), len(unique))
		}
	})
}

// A search on one node finds what another has just acknowledged.
func TestSearchSeesOtherNodes(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		other := c.at(n.another())
		for i := range 10 {
			id := c.create(fmt.Sprintf("Wren Number %d", i))
			if got := other.get("/v1/patients?search=wren").pagination()[2]; got != i+1 {
				t.Fatalf("%d found, %d created", got, i+1)
			}
			other.send("PATCH", "/v1/patients/"+id, `{"gender":"x"}`).is(http.StatusOK)
		}
		id := c.create("Heron")
		other.send("PATCH", "/v1/patients/"+id, `{"name":"Egret"}`).is(http.StatusOK)
		if old, renamed := c.get("/v1/patients?search=heron").names(), c.get("/v1/patients?search=egret").names(); len(old) != 0 || len(renamed) != 1 {
			t.Errorf("after a change of name: %q and %q", old, renamed)
		}
	})
}
