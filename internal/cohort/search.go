package cohort

import (
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

// hits counts all matches and keeps the numbers of one page.
type hits struct {
	skip, limit int64
	numbers     []int64
	total       int64
}

func newHits(page, limit int64) *hits { return &hits{skip: (page - 1) * limit, limit: limit} }

// pass counts consecutive matches, unless one of them is on the page.
func (h *hits) pass(matches int64) bool {
	if h.total+matches > h.skip && h.total-h.skip < h.limit {
		return false
	}
	h.total += matches
	return true
}

// add counts a match.
func (h *hits) add(no int64) {
	if h.total >= h.skip && h.total-h.skip < h.limit {
		h.numbers = append(h.numbers, no)
	}
	h.total++
}

// addAll counts the matches of a chunk; first is the number of slot 0.
func (h *hits) addAll(found *slots, first int64, latestFirst bool) {
	if h.pass(int64(found.count())) {
		return
	}
	list := found.append(make([]uint16, 0, chunkSize))
	if latestFirst {
		slices.Reverse(list)
	}
	for _, slot := range list {
		h.add(first + int64(slot))
	}
}

// list returns the numbers on a page of the patients that match a query, and
// their total.
func (r roster) list(q Query) ([]int64, int64) {
	m := newMatcher(q)
	if q.Order.byName() {
		return r.pageByName(m, q)
	}
	h := newHits(q.Page, q.Limit)
	for i := range r {
		if q.Order == LatestFirst {
			i = len(r) - 1 - i
		}
		if m.allOf(r[i]) && h.pass(r[i].span.count) {
			continue
		}
		var found slots
		m.find(r[i], &found)
		h.addAll(&found, int64(i)*chunkSize+1, q.Order == LatestFirst)
	}
	return h.numbers, h.total
}

// matcher is a parsed query: an inclusive range of keys, which a term or a date
// of birth may narrow.
type matcher struct {
	nothing   bool // no patient matches
	low, high key
	term      *term
	born      born
}

func newMatcher(q Query) *matcher {
	m := &matcher{born: bornOn(q.Born)}
	m.low, m.high, _ = keyRange(identifierPrefix)
	if strings.HasPrefix(q.Term, identifierPrefix) {
		var ok bool
		m.low, m.high, ok = keyRange(q.Term)
		m.nothing = !ok
		return m
	}
	m.term, m.nothing = newTerm(pain.Fold(q.Term))
	return m
}

// allOf reports whether all patients of a chunk match by key alone. Identifiers
// are only roughly in the order of the numbers, so a range may span several
// chunks, but most chunks have all or none of their keys in the range.
func (m *matcher) allOf(c *chunk) bool {
	return !m.nothing && m.term == nil && m.born == 0 && c.span.count > 0 && !c.span.low.less(m.low) && !m.high.less(c.span.high)
}

// find adds the matching slots to found, which is empty.
func (m *matcher) find(c *chunk, found *slots) {
	switch {
	case m.nothing || c.span.count == 0 || c.span.high.less(m.low) || m.high.less(c.span.low):
	case m.term != nil:
		m.term.find(c, found)
		if m.born != 0 {
			found.keep(func(slot int) bool { return c.born[slot] == m.born })
		}
	default:
		for slot, k := range c.keys {
			if (m.born == 0 || c.born[slot] == m.born) && !k.less(m.low) && !m.high.less(k) {
				found.add(slot)
			}
		}
	}
}
