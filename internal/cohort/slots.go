package cohort

import "math/bits"

// slots is a set of slots of a chunk, one bit for each.
type slots [chunkSize / 64]uint64

func (s *slots) add(slot int) { s[slot/64] |= 1 << (slot % 64) }

func (s *slots) has(slot uint16) bool { return s[slot/64]&(1<<(slot%64)) != 0 }

// count returns the number of slots in the set.
func (s *slots) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// append appends the slots in order.
func (s *slots) append(list []uint16) []uint16 {
	for at, word := range s {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint16(at*64+bits.TrailingZeros64(word)))
		}
	}
	return list
}

// keep removes the slots for which is returns false.
func (s *slots) keep(is func(slot int) bool) {
	for at, word := range s {
		for ; word != 0; word &= word - 1 {
			if !is(at*64 + bits.TrailingZeros64(word)) {
				s[at] &^= word & -word
			}
		}
	}
}
