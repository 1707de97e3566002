package cohort

import (
	"encoding/binary"
	"slices"
	"sync"
	"unsafe"
)

const (
	// partSize is the length, in bytes, of the parts by which names are found.
	partSize = 3
	// buckets is the number of lists that the parts are spread over: about as
	// many as a chunk's names have different parts.
	buckets    = 1 << bucketBits
	bucketBits = 12
)

// parts says of each part of the names in a chunk in which slots it may be.
// Parts that fall into one bucket are not told apart, so whoever looks for one
// must look at the names too. Parts never change, and chunks that differ in few
// slots share them; see chunk.
type parts struct {
	starts [buckets + 1]uint32 // where in slots those of each bucket start
	slots  []uint16            // of each bucket in order, none twice
}

// bucketOf takes the first three bytes of a text that has at least four.
func bucketOf(text []byte) uint16 {
	const spread = 0x9e3779b1 // the golden section of 2^32
	return uint16((binary.LittleEndian.Uint32(text) << 8) * spread >> (32 - bucketBits))
}

// partsOf gives the buckets of the parts of a term, in their order.
func partsOf(term []byte) (found []uint16) {
	for rest := append(slices.Clip(term), separator); len(rest) > partSize; rest = rest[1:] {
		found = append(found, bucketOf(rest))
	}
	return found
}

// newParts sorts the parts of all names by their buckets: it finds and counts
// them, and then puts each into its place.
func newParts(c *chunk) *parts {
	const nextSlot = buckets // is no bucket
	room := partRooms.Get().(*[]uint16)
	defer partRooms.Put(room)
	p, found := &parts{}, (*room)[:0]
	var last [buckets]uint16 // the slot, counted from 1, that a bucket was found for last
	for i, end := range c.ends {
		slot := uint16(i + 1)
		// The separator behind a name gives each part its fourth byte.
		for rest := c.text[c.start(i) : end+1]; len(rest) > partSize; rest = rest[1:] {
			if bucket := bucketOf(rest); last[bucket] != slot {
				last[bucket] = slot
				p.starts[bucket+1]++
				found = append(found, bucket)
			}
		}
		found = append(found, nextSlot)
	}
	for i := range buckets {
		p.starts[i+1] += p.starts[i]
	}
	p.slots = make([]uint16, p.starts[buckets])
	free, slot := p.starts, uint16(0)
	for _, bucket := range found {
		if bucket == nextSlot {
			slot++
			continue
		}
		p.slots[free[bucket]] = slot
		free[bucket]++
	}
	*room = found
	return p
}

// partRooms are for the parts that were found, and used again: the first search
// of an organisation finds those of all its patients.
var partRooms = sync.Pool{New: func() any { return new([]uint16) }}

// of is the slots in a bucket.
func (p *parts) of(bucket uint16) []uint16 { return p.slots[p.starts[bucket]:p.starts[bucket+1]] }

// candidates are the slots of the bucket, of some, that has the fewest.
func (p *parts) candidates(among []uint16) []uint16 {
	const few = 4 // looking for fewer takes longer than looking at them
	fewest := p.of(among[0])
	for _, bucket := range among[1:] {
		if len(fewest) <= few {
			break
		}
		if slots := p.of(bucket); len(slots) < len(fewest) {
			fewest = slots
		}
	}
	return fewest
}

func (p *parts) bytes() int64 {
	if p == nil {
		return 0
	}
	return int64(unsafe.Sizeof(*p)) + int64(cap(p.slots))*2
}
