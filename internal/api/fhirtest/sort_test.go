package fhirtest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func init() {
	tests["sorted pages"] = testSortedPages
}

// Pages in an order have every resource that exists throughout once, while
// others come, go and change. Their cursors tell nothing, and are no one else's.
func testSortedPages(t *testing.T, s *server) {
	c := s.caller(t, "north")
	var throughout []string
	create := func(name string, day int) string {
		return c.patient(fmt.Sprintf(`{"name":%q,"date_of_birth":"1980-01-%02d"}`, name, day))
	}
	for i := range 12 {
		throughout = append(throughout, "Patient/"+create(fmt.Sprintf("Patient%c Zuckermann", 'a'+i), 1+i/2)) // with ties
	}
	slices.Sort(throughout)
	for _, query := range []string{"_sort=birthdate", "_sort=-birthdate", "_sort=family,given", "_sort=birthdate,-name", "_sort=gender"} {
		other, seen, pages, cursor := create("Other Aaron", 3), map[string]int{}, 0, ""
		for at := base + "/Patient?_count=3&_total=accurate&" + query; at != ""; pages++ {
			f := c.get(at).is(http.StatusOK).bundle()
			for _, name := range f.ids {
				seen[name]++
			}
			if len(f.ids) > 3 || f.next != "" && len(f.ids) == 0 {
				t.Fatalf("%s: a page of %d", query, len(f.ids))
			}
			if at = f.next; at == "" {
				break
			}
			link, err := url.Parse(f.next)
			if err != nil {
				t.Fatal(err)
			}
			cursor = link.Query().Get("_cursor")
			if b, err := base64.RawURLEncoding.DecodeString(cursor); err != nil || strings.Contains(strings.ToLower(string(b)), "zucker") || strings.Contains(string(b), `{"k":[`) {
				t.Errorf("%s: the cursor is %q", query, b)
			}
			if pages > 5 {
				continue
			}
			// One comes in front, one at the end, and one moves.
			create("Aaa Aaaron", 1)
			create("Zzz Zzz", 28)
			c.send("PATCH", "/v1/patients/pat_"+other, fmt.Sprintf(`{"name":"Other %c","date_of_birth":"1980-01-%02d"}`, 'z'-pages, 28-pages)).is(http.StatusOK)
		}
		for _, name := range throughout {
			if seen[name] != 1 {
				t.Errorf("%s: %s came %d times in %d pages", query, name, seen[name], pages)
			}
		}
		changed := []byte(cursor)
		if at := len(cursor) / 2; changed[at] == 'A' {
			changed[at] = 'B'
		} else {
			changed[at] = 'A'
		}
		south := s.caller(t, "south "+query)
		for _, wrong := range []string{"Patient?" + query + "&_cursor=" + string(changed), "Patient?_sort=_id&_cursor=" + cursor, "Observation?_sort=_id&_cursor=" + cursor,
			"Patient?_cursor=" + cursor, "Patient?" + query + "&_cursor=" + base64.RawURLEncoding.EncodeToString([]byte("o 3"))} {
			c.get(base + "/" + wrong).is(http.StatusBadRequest).says("_cursor")
		}
		south.get(base + "/Patient?" + query + "&_cursor=" + cursor).is(http.StatusBadRequest)
	}
}
