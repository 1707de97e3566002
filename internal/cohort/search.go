package cohort

import (
	"bytes"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

// hits counts all matches and keeps the numbers of one page of them.
type hits struct {
	skip, limit int64
	numbers     []int64
	total       int64
}

func newHits(page, limit int64) *hits { return &hits{skip: (page - 1) * limit, limit: limit} }

// search gives the numbers on a page of the patients that a term matches, and
// how many it matches.
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

// query is a term as it is looked for: in names, or as a range of keys, both
// ends included. One that nobody can match has neither.
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
		// Nothing but accents, which do not count: in every name.
		q.low, q.high, q.keys = keyRange(identifierPrefix)
	case bytes.IndexByte(folded, separator) < 0: // else it is in no name
		q.needle = newNeedle(folded)
	}
	return q
}

// allOf reports whether all patients of a chunk match by their keys. Identifiers
// are only nearly in the order of the numbers: those of a range can be in
// several chunks, but most chunks have all their keys in the range or none.
func (q *query) allOf(c *chunk) bool {
	return q.keys && c.span.count > 0 && !c.span.low.less(q.low) && !q.high.less(c.span.high)
}

// find calls each, in order, for the slots that match.
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

// pass counts matches that come one after the other, unless one of them is on
// the page.
func (h *hits) pass(matches int64) bool {
	if h.total+matches > h.skip && h.total-h.skip < h.limit {
		return false
	}
	h.total += matches
	return true
}

// add counts a match; matches come in order of their numbers.
func (h *hits) add(no int64) {
	if h.total >= h.skip && h.total-h.skip < h.limit {
		h.numbers = append(h.numbers, no)
	}
	h.total++
}
