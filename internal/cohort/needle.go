package cohort

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// needle is a folded term that is looked for in many names, by its two rarest
// bytes. Most terms have a byte that is rare enough to jump from one of its
// kind to the next. For terms of common letters that would be a jump every
// few bytes, most of them guessed wrong by the processor; so these are looked
// for at every place, eight at a time and without a branch.
type needle struct {
	term []byte
	// rare and second are where in the term its two rarest bytes are.
	rare, second int
	// jump is true when the rare byte is rare enough.
	jump bool
	// marks has a bit for each byte of a chunk's text.
	marks []byte
}

// newNeedle judges from a sample of the names how rare bytes are. The term is
// not empty and has no separator in it.
func newNeedle(term, sample []byte) *needle {
	const enough, rareIn = 8 << 10, 64
	sample = sample[:min(len(sample), enough)]
	var seen [256]int
	for _, b := range sample {
		seen[b]++
	}
	n := &needle{term: term}
	for i, b := range term {
		if seen[b] < seen[term[n.rare]] {
			n.rare = i
		}
	}
	n.second = n.rare
	for i, b := range term {
		if i != n.rare && (n.second == n.rare || seen[b] < seen[term[n.second]]) {
			n.second = i
		}
	}
	n.jump = seen[term[n.rare]]*rareIn < len(sample)
	return n
}

// find calls each, in order, for the slots whose name has the term in it.
func (n *needle) find(c *chunk, each func(slot int)) {
	if n.jump {
		n.findJumping(c, each)
	} else {
		n.findMarking(c, each)
	}
}

// findJumping runs over the whole text, not name by name, and after a match
// goes on behind the name that has it.
func (n *needle) findJumping(c *chunk, each func(slot int)) {
	slot, last := 0, len(c.text)-len(n.term)
	for at := 0; at <= last; at++ {
		found := bytes.IndexByte(c.text[at+n.rare:last+n.rare+1], n.term[n.rare])
		if found < 0 {
			return
		}
		if at += found; !n.at(c.text, at) {
			continue
		}
		for int(c.ends[slot]) < at {
			slot++
		}
		each(slot)
		at = int(c.ends[slot])
	}
}

// findMarking marks the places that have both bytes right, and then looks
// which names have a mark.
func (n *needle) findMarking(c *chunk, each func(slot int)) {
	n.mark(c.text)
	const most = 57 // bits that a word holds from any of the first eight on
	start := uint32(0)
	for slot, end := range c.ends {
		if length := end - start; length > most {
			if bytes.Contains(c.text[start:end], n.term) {
				each(slot)
			}
		} else {
			marked := binary.LittleEndian.Uint64(n.marks[start/8:]) >> (start % 8) & (1<<length - 1)
			if marked != 0 && n.confirm(c.text[start:], marked) {
				each(slot)
			}
		}
		start = end + 1
	}
}

// mark sets the bit of each place where the term's two bytes are right.
func (n *needle) mark(text []byte) {
	const (
		ones, sevens = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
		gather       = 0x0102040810204080 // moves the top bits of all bytes into the highest
	)
	if need := len(text)/8 + 9; len(n.marks) < need { // a word can be read from any place
		n.marks = make([]byte, need+need/4)
	}
	rares, seconds := uint64(n.term[n.rare])*ones, uint64(n.term[n.second])*ones
	whole := max(0, len(text)-max(n.rare, n.second)) / 8
	marks, atRare, atSecond := n.marks[:whole], text[min(n.rare, len(text)):], text[min(n.second, len(text)):]
	for i := range marks {
		// A byte of wrong is zero where both bytes are right.
		wrong := (binary.LittleEndian.Uint64(atRare[i*8:]) ^ rares) | (binary.LittleEndian.Uint64(atSecond[i*8:]) ^ seconds)
		right := ^((wrong & sevens) + sevens | wrong | sevens)
		marks[i] = byte((right >> 7) * gather >> 56)
	}
	clear(n.marks[whole : len(text)/8+1])
	for at := whole * 8; at+max(n.rare, n.second) < len(text); at++ {
		if text[at+n.rare] == n.term[n.rare] && text[at+n.second] == n.term[n.second] {
			n.marks[at/8] |= 1 << (at % 8)
		}
	}
}

// confirm reports whether the term is at one of the marked places of the text.
func (n *needle) confirm(text []byte, marked uint64) bool {
	if len(n.term) <= 2 {
		return true
	}
	for ; marked != 0; marked &= marked - 1 {
		if n.at(text, bits.TrailingZeros64(marked)) {
			return true
		}
	}
	return false
}

func (n *needle) at(text []byte, at int) bool {
	return len(text)-at >= len(n.term) && string(text[at:at+len(n.term)]) == string(n.term)
}
