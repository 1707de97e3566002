package cohort

import "bytes"

// needle is a folded term that is looked for in many names. A long one is
// looked for by its parts, in the names that may have the rarest of them; a
// term of one or two bytes is in so many names that all are run over.
type needle struct {
	term  []byte
	parts []uint16 // the buckets of its parts; none of a short term
}

// newNeedle takes a term that is not empty and has no separator in it.
func newNeedle(term []byte) *needle { return &needle{term, partsOf(term)} }

// find calls each, in order, for the slots whose name has the term in it.
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
	// Slots that changed may be among the candidates too.
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

// findFrom looks at the names from a slot on. It runs over the text as a whole,
// not name by name, and after a match goes on behind the name that has it.
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
