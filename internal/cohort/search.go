package cohort

import (
	"bytes"
	"strings"

	"anodyne/internal/pain"
)

// hits counts all matches and keeps the numbers of one page of them.
type hits struct {
	skip, limit int64
	numbers     []int64
	total       int64
}

// search gives the numbers on a page of the patients that a term matches, and
// how many it matches.
func (r roster) search(term string, page, limit int64) ([]int64, int64) {
	h := &hits{skip: (page - 1) * limit, limit: limit}
	if strings.HasPrefix(term, identifierPrefix) {
		if low, high, ok := keyRange(term); ok {
			r.findKeys(low, high, h)
		}
		return h.numbers, h.total
	}
	folded := []byte(pain.Fold(term))
	switch {
	case len(folded) == 0:
		// Nothing but accents, which do not count: in every name.
		low, high, _ := keyRange(identifierPrefix)
		r.findKeys(low, high, h)
	case bytes.IndexByte(folded, separator) < 0: // else it is in no name
		r.findNames(folded, h)
	}
	return h.numbers, h.total
}

func (r roster) findNames(term []byte, h *hits) {
	n := newNeedle(term)
	for i, c := range r {
		first := int64(i)*chunkSize + 1
		n.find(c, func(slot int) { h.add(first + int64(slot)) })
	}
}

// findKeys looks for keys from low to high, both included. Identifiers are
// only nearly in the order of the numbers: those of a range can be in several
// chunks, but most chunks have all their keys in the range or none.
func (r roster) findKeys(low, high key, h *hits) {
	for i, c := range r {
		if c.span.count == 0 || c.span.high.less(low) || high.less(c.span.low) {
			continue
		}
		if within := !c.span.low.less(low) && !high.less(c.span.high); within && h.pass(c.span.count) {
			continue
		}
		first := int64(i)*chunkSize + 1
		for slot, k := range c.keys {
			if k.less(low) || high.less(k) {
				continue
			}
			h.add(first + int64(slot))
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
