package cohort

import (
	"bytes"
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

// search returns the numbers on a page of the patients matching a term, and
// their total.
func (r roster) search(term string, page, limit int64) ([]int64, int64) {
	h := newHits(page, limit)
	r.find(newQuery(term), h)
	return h.numbers, h.total
}

func (r roster) find(q *query, h *hits) {
	for i, c := range r {
		if q.allOf(c) && h.pass(c.span.count) {
			continue
		}
		first := int64(i)*chunkSize + 1
		q.find(c, func(slot int) { h.add(first + int64(slot)) })
	}
}

// query is a parsed term: a needle for names, or an inclusive range of keys.
// If nothing can match, it has neither.
type query struct {
	needle    *needle
	keys      bool
	low, high key
}

func newQuery(term string) *query {
	q := &query{}
	if strings.HasPrefix(term, identifierPrefix) {
		q.low, q.high, q.keys = keyRange(term)
		return q
	}
	folded := []byte(pain.Fold(term))
	switch {
	case len(folded) == 0:
		// Only accents, which are ignored: matches every name.
		q.low, q.high, q.keys = keyRange(identifierPrefix)
	case bytes.IndexByte(folded, separator) < 0: // otherwise no name contains it
		q.needle = newNeedle(folded)
	}
	return q
}

// allOf reports whether all patients of a chunk match by key. Identifiers are
// only roughly in the order of the numbers, so a range may span several
// chunks, but most chunks have all or none of their keys in the range.
func (q *query) allOf(c *chunk) bool {
	return q.keys && c.span.count > 0 && !c.span.low.less(q.low) && !q.high.less(c.span.high)
}

// find calls each, in order, for the matching slots.
func (q *query) find(c *chunk, each func(slot int)) {
	if q.needle != nil {
		q.needle.find(c, each)
	}
	if !q.keys || c.span.count == 0 || c.span.high.less(q.low) || q.high.less(c.span.low) {
		return
	}
	for slot, k := range c.keys {
		if !k.less(q.low) && !q.high.less(k) {
			each(slot)
		}
	}
}

// pass counts consecutive matches, unless one of them is on the page.
func (h *hits) pass(matches int64) bool {
	if h.total+matches > h.skip && h.total-h.skip < h.limit {
		return false
	}
	h.total += matches
	return true
}

// add counts a match. Matches arrive in order of their numbers.
func (h *hits) add(no int64) {
	if h.total >= h.skip && h.total-h.skip < h.limit {
		h.numbers = append(h.numbers, no)
	}
	h.total++
}
