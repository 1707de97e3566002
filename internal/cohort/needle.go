package cohort

import "bytes"

// needle is a text to be found in the entries of patients. A long one is
// looked up by its rarest part, in the entries that may contain it; one or two
// bytes occur in so many entries that all are scanned.
type needle struct {
	text  []byte
	parts []uint16 // buckets of its parts; empty for a short text
}

// newNeedle returns a needle for texts that are not empty, have no separator,
// and must all be in an entry: the longest of them, with the parts of all.
func newNeedle(texts ...[]byte) needle {
	n := needle{text: texts[0]}
	for _, text := range texts {
		n.parts = append(n.parts, partsOf(text)...)
		if len(text) > len(n.text) {
			n.text = text
		}
	}
	return n
}

// candidates calls each, in order, for the slots with entries that may contain
// the needle.
func (n *needle) candidates(c *chunk, each func(slot int)) {
	if len(n.parts) == 0 || c.parts == nil {
		n.scan(c, 0, each)
		return
	}
	// Changed slots may also be in the parts.
	changed := c.changed
	for _, slot := range c.parts.candidates(n.parts) {
		for ; len(changed) > 0 && changed[0] <= slot; changed = changed[1:] {
			if changed[0] < slot {
				each(int(changed[0]))
			}
		}
		each(int(slot))
	}
	for _, slot := range changed {
		each(int(slot))
	}
	n.scan(c, c.sorted, each)
}

// scan calls each for the entries that contain the text, from a slot on. It
// scans them as a whole instead of one by one, and continues after a match with
// the next entry.
func (n *needle) scan(c *chunk, slot int, each func(slot int)) {
	for at := c.start(slot); ; {
		found := bytes.Index(c.text[at:], n.text)
		if found < 0 {
			return
		}
		for at += found; int(c.ends[slot]) < at; {
			slot++
		}
		each(slot)
		at = int(c.ends[slot]) + 1
	}
}
