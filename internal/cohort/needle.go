package cohort

import "bytes"

// needle is a folded search term. A long term is looked up by its rarest part,
// in the names that may contain it; a term of one or two bytes occurs in so
// many names that all are scanned.
type needle struct {
	term  []byte
	parts []uint16 // buckets of its parts; empty for a short term
}

// newNeedle returns a needle for a term that is not empty and has no
// separator.
func newNeedle(term []byte) *needle { return &needle{term, partsOf(term)} }

// find calls each, in order, for the slots with names that contain the term.
func (n *needle) find(c *chunk, each func(slot int)) {
	if len(n.parts) == 0 || c.parts == nil {
		n.findFrom(c, 0, each)
		return
	}
	confirm := func(slot uint16) {
		if bytes.Contains(c.name(int(slot)), n.term) {
			each(int(slot))
		}
	}
	// Changed slots may also be candidates.
	changed := c.changed
	for _, slot := range c.parts.candidates(n.parts) {
		for ; len(changed) > 0 && changed[0] <= slot; changed = changed[1:] {
			if changed[0] < slot {
				confirm(changed[0])
			}
		}
		confirm(slot)
	}
	for _, slot := range changed {
		confirm(slot)
	}
	n.findFrom(c, c.sorted, each)
}

// findFrom searches the names from a slot on. It scans the text as a whole
// instead of name by name, and continues after the matching name.
func (n *needle) findFrom(c *chunk, slot int, each func(slot int)) {
	for at := c.start(slot); ; {
		found := bytes.Index(c.text[at:], n.term)
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
