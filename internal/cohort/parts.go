package cohort

import (
	"encoding/binary"
	"slices"
	"sync"
	"unsafe"
)

const (
	// partSize is the length in bytes of the parts by which names are found.
	partSize = 3
	// buckets is the number of lists of parts: about as many as the names of a
	// chunk have different parts.
	buckets    = 1 << bucketBits
	bucketBits = 12
)

// parts maps each part of the names in a chunk to the slots that may contain
// it. Parts in the same bucket are not distinguished, so the names must be
// checked too. Parts are immutable, and chunks that differ in few slots share
// them; see chunk.
type parts struct {
	starts [buckets + 1]uint32 // start of each bucket in slots
	slots  []uint16            // of each bucket, sorted and distinct
}

// bucketOf returns the bucket of the first three bytes of a text, which must
// have at least four.
func bucketOf(text []byte) uint16 {
	const spread = 0x9e3779b1 // the golden section of 2^32
	return uint16((binary.LittleEndian.Uint32(text) << 8) * spread >> (32 - bucketBits))
}

// partsOf returns the buckets of the parts of a term, in order.
func partsOf(term []byte) (found []uint16) {
	for rest := append(slices.Clip(term), separator); len(rest) > partSize; rest = rest[1:] {
		found = append(found, bucketOf(rest))
	}
	return found
}

// newParts indexes the parts of all names by bucket: it finds and counts them,
// and then puts each in its place.
func newParts(c *chunk) *parts {
	const nextSlot = buckets // not a bucket
	room := partRooms.Get().(*[]uint16)
	defer partRooms.Put(room)
	p, found := &parts{}, (*room)[:0]
	var last [buckets]uint16 // slot, counted from 1, for which a bucket was found last
	for i, end := range c.ends {
		slot := uint16(i + 1)
		// The separator after a name provides the fourth byte of its last part.
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

// partRooms are reusable buffers: the first search in an organisation indexes
// all its patients.
var partRooms = sync.Pool{New: func() any { return new([]uint16) }}

// of returns the slots in a bucket.
func (p *parts) of(bucket uint16) []uint16 { return p.slots[p.starts[bucket]:p.starts[bucket+1]] }

// candidates returns the slots of the smallest of some buckets.
func (p *parts) candidates(among []uint16) []uint16 {
	const few = 4 // below this, checking the candidates is faster
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
