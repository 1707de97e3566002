package api

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fhir/search"
)

// sortPlace is a place in results in the order of a search: after a result with
// these values. It stays where it is while results come and go. A cursor with it
// is sealed, because the values may be names or dates of birth, and addresses
// are logged in many places.
type sortPlace struct {
	Key      search.Key `json:"k"`
	Resource string     `json:"r"` // ties are in the order of the ids
}

// sealContext says for what a cursor is valid: searches of one organisation for
// a type in an order.
func (s *fhirSearch) sealContext() []byte {
	text := []string{"fhir search", strconv.FormatInt(int64(s.x.principal.Org), 10), s.Type}
	for _, o := range s.orders {
		text = append(text, o.Name+map[bool]string{true: " down"}[o.Descending])
	}
	return []byte(strings.Join(text, "\n"))
}

// seal returns the cursor of a place.
func (s *fhirSearch) seal(p sortPlace) string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return base64.RawURLEncoding.EncodeToString(s.x.api.Store.Master().Seal(b, s.sealContext()))
}

// openPlace returns the place of a cursor.
func (s *fhirSearch) openPlace(cursor string) (*sortPlace, bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return nil, false
	}
	b, err := s.x.api.Store.Master().Open(sealed, s.sealContext())
	if err != nil {
		return nil, false
	}
	p := &sortPlace{}
	return p, json.Unmarshal(b, p) == nil && len(p.Key) == len(s.orders)
}

func (s *fhirSearch) comparePlaces(a, b sortPlace) int {
	return cmp.Or(search.Compare(s.orders, a.Key, b.Key), cmp.Compare(a.Resource, b.Resource))
}

// sortedMatch is a result with its place in the order.
type sortedMatch struct {
	match
	sortPlace
}

// sortedPage looks at all results, and keeps those of the page.
func (s *fhirSearch) sortedPage(source fhirSource) (p fhirPage, err error) {
	p.total = 0
	var page []sortedMatch // in order
	var end *sortPlace     // the first result after the page; nil if there is none
	size := 0
	err = s.all(source, "The order of this search", func(m match) {
		p.total++
		one := sortedMatch{m, sortPlace{search.KeyOf(s.orders, m.decoded), placeOf(m.Resource)}}
		one.decoded = nil
		if s.onlyHow || s.after != nil && s.comparePlaces(one.sortPlace, *s.after) <= 0 || end != nil && s.comparePlaces(one.sortPlace, *end) > 0 {
			return
		}
		at, _ := slices.BinarySearchFunc(page, one.sortPlace, func(a sortedMatch, b sortPlace) int { return s.comparePlaces(a.sortPlace, b) })
		page = slices.Insert(page, at, one)
		for size += len(m.JSON); len(page) > s.count || size > fhirBytes && len(page) > 1; {
			last := page[len(page)-1]
			page, end, size = slices.Delete(page, len(page)-1, len(page)), &last.sortPlace, size-len(last.JSON)
		}
	})
	if err != nil || len(page) == 0 {
		return p, err
	}
	for _, m := range page {
		p.matches = append(p.matches, m.match)
	}
	if end != nil {
		p.next = s.seal(page[len(page)-1].sortPlace)
	}
	return p, nil
}
