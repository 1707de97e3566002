package cohort

import (
	"bytes"
	"strings"

	"anodyne/internal/id"
	"anodyne/internal/pain"
)

// identifierPrefix begins the terms that are matched against identifiers.
const identifierPrefix = "pat_"

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
	if len(r) == 0 {
		return
	}
	n := newNeedle(term, r[len(r)/2].text)
	for i, c := range r {
		first := int64(i)*chunkSize + 1
		n.find(c, func(slot int) { h.add(first + int64(slot)) })
	}
}

// findKeys looks for keys from low to high, both included. Identifiers are
// only nearly in the order of the numbers, so it looks at all of them.
func (r roster) findKeys(low, high key, h *hits) {
	for i, c := range r {
		first := int64(i)*chunkSize + 1
		for slot, k := range c.keys {
			if k.less(low) || high.less(k) {
				continue
			}
			h.add(first + int64(slot))
		}
	}
}

// add counts a match; matches come in order of their numbers.
func (h *hits) add(no int64) {
	if h.total >= h.skip && h.total-h.skip < h.limit {
		h.numbers = append(h.numbers, no)
	}
	h.total++
}

// keyRange gives the keys whose identifiers begin with a prefix, or false when
// none can. The zero key, which is no patient's, is never in the range.
func keyRange(prefix string) (low, high key, ok bool) {
	const lowest, highest = identifierPrefix + "00000000000000000000000000", identifierPrefix + "7zzzzzzzzzzzzzzzzzzzzzzzzz"
	if len(prefix) > len(lowest) {
		return low, high, false
	}
	last, tail := highest, highest[len(prefix):]
	if len(prefix) > len(identifierPrefix) {
		last = prefix + tail
	}
	from, err := id.Parse[id.PatientKind](prefix + lowest[len(prefix):])
	if err != nil {
		return low, high, false
	}
	to, err := id.Parse[id.PatientKind](last)
	if err != nil {
		return low, high, false
	}
	if low = keyOf(from); low == (key{}) {
		low.lo = 1
	}
	return low, keyOf(to), true
}
