package cohort

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unsafe"
)

// chunkSize is the number of patients packed together: large enough for a scan
// to be a long run over memory, and small enough to be repacked within
// microseconds when a name changes.
const chunkSize = 4096

// separator ends each entry, and mark is before each identifier in it. They are
// control characters, which neither names nor identifiers contain.
const (
	separator = 0
	mark      = 1
)

// patient is the part of a patient that a chunk holds: number, key, the folded
// name with the identifiers (see entryOf), and the date of birth.
type patient struct {
	no    int64
	key   key
	entry string
	born  born
}

func (p patient) number() int64 { return p.no }

// chunk packs patients with consecutive numbers. Its content is immutable. A
// newer version with more patients may share its memory beyond the end of this
// one, so only the newest version may be extended.
type chunk struct {
	text []byte   // entries, each followed by the separator
	ends []uint32 // end of each entry in text
	keys []key    // the zero key marks a number without a patient
	born []born
	span keySpan // range of the keys
	// identified is false if no entry has an identifier.
	identified bool
	order      *nameOrder

	// parts indexes the entries in the slots before sorted. It may belong to an
	// older version; changed lists the slots that differ since, in order. A
	// chunk with few names has no index, and sorted is 0.
	parts   *parts
	sorted  int
	changed []uint16
}

const (
	// mostChanged and mostUnsorted are how many changed or added slots a search
	// examines one by one before the parts are sorted again. Changed slots can
	// be in every chunk, added ones only in the last.
	mostChanged  = 32
	mostUnsorted = 512
)

func newChunk(patients int64) *chunk {
	const usualName = 20
	return &chunk{
		text: make([]byte, 0, patients*usualName),
		ends: make([]uint32, 0, patients),
		keys: make([]key, 0, patients),
		born: make([]born, 0, patients),

		order: &nameOrder{},
	}
}

func (c *chunk) len() int { return len(c.keys) }

// entry returns the folded name and the identifiers in a slot.
func (c *chunk) entry(slot int) []byte { return c.text[c.start(slot):c.ends[slot]] }

// name returns the folded name in a slot.
func (c *chunk) name(slot int) []byte {
	entry := c.entry(slot)
	if c.identified {
		if end := bytes.IndexByte(entry, mark); end >= 0 {
			return entry[:end]
		}
	}
	return entry
}

// start returns the position in text where the entry in a slot starts or would
// start.
func (c *chunk) start(slot int) int {
	if slot == 0 {
		return 0
	}
	return int(c.ends[slot-1]) + 1
}

// add appends a patient. The chunk must not be shared yet.
func (c *chunk) add(p patient) {
	c.text = append(c.text, p.entry...)
	c.ends = append(c.ends, uint32(len(c.text)))
	c.text = append(c.text, separator)
	c.keys = append(c.keys, p.key)
	c.born = append(c.born, p.born)
	c.span.add(p.key)
	c.identified = c.identified || strings.IndexByte(p.entry, mark) >= 0
}

// fit returns a chunk without spare capacity and without pending changes.
func (c *chunk) fit() *chunk {
	fitting := &chunk{text: bytes.Clone(c.text), ends: slices.Clone(c.ends), keys: slices.Clone(c.keys), born: slices.Clone(c.born),
		span: c.span, identified: c.identified, order: &nameOrder{}}
	if c.len() > mostUnsorted {
		fitting.sort()
	}
	return fitting
}

// sort rebuilds the parts. The chunk must not be shared yet.
func (c *chunk) sort() { c.parts, c.sorted, c.changed = newParts(c), c.len(), nil }

// bytes includes the order of names, whether it was needed yet or not.
func (c *chunk) bytes() int64 {
	const ends, order = 4, 2
	return int64(cap(c.text)) + int64(cap(c.ends))*ends + int64(cap(c.keys))*(int64(unsafe.Sizeof(key{}))+order) +
		int64(cap(c.born))*int64(unsafe.Sizeof(born(0))) + int64(cap(c.changed))*2 + c.parts.bytes()
}

// with returns the chunk with changes applied, which are sorted by number;
// first is the number of slot 0. It returns the chunk itself if nothing in it
// changed, because most changes of a patient leave all of it as it is. It fails
// if numbers are missing.
func (c *chunk) with(changed []patient, first int64) (next *chunk, ok bool) {
	known := sort.Search(len(changed), func(i int) bool { return changed[i].no >= first+int64(c.len()) })
	edited := slices.DeleteFunc(slices.Clone(changed[:known]), func(p patient) bool {
		slot := int(p.no - first)
		return c.keys[slot] == p.key && c.born[slot] == p.born && string(c.entry(slot)) == p.entry
	})
	next = c
	if len(edited) > 0 {
		next = c.edit(edited, first)
	}
	if known == len(changed) {
		return next, true
	}
	grown := *next
	grown.order = &nameOrder{}
	for _, p := range changed[known:] {
		switch next := first + int64(grown.len()); {
		case p.no > next:
			return nil, false
		case p.no == next: // otherwise it is listed twice
			grown.add(p)
		}
	}
	if grown.len() == chunkSize {
		return grown.fit(), true
	}
	if grown.len()-grown.sorted > mostUnsorted {
		grown.sort()
	}
	return &grown, true
}

// edit repacks the chunk with patients replaced.
func (c *chunk) edit(edited []patient, first int64) *chunk {
	next := &chunk{
		text: make([]byte, 0, len(c.text)+64),
		ends: make([]uint32, 0, c.len()),
		keys: make([]key, 0, c.len()),
		born: make([]born, 0, c.len()),

		order: &nameOrder{},
		// Shared until too much has changed.
		parts: c.parts, sorted: c.sorted, changed: slices.Clone(c.changed),
	}
	done := 0 // number of slots copied
	for _, p := range edited {
		slot := int(p.no - first)
		if slot < done {
			continue // listed twice
		}
		next.copyFrom(c, done, slot)
		next.add(p)
		done = slot + 1
		if at, found := slices.BinarySearch(next.changed, uint16(slot)); !found && slot < next.sorted {
			next.changed = slices.Insert(next.changed, at, uint16(slot))
		}
	}
	next.copyFrom(c, done, c.len())
	if len(next.changed) > mostChanged {
		next.sort()
	}
	return next
}

// copyFrom appends the slots from up to, but not including, to.
func (c *chunk) copyFrom(source *chunk, from, to int) {
	if from == to {
		return
	}
	start := source.start(from)
	shift := len(c.text) - start
	c.text = append(c.text, source.text[start:source.ends[to-1]+1]...)
	for _, end := range source.ends[from:to] {
		c.ends = append(c.ends, uint32(int(end)+shift))
	}
	c.keys = append(c.keys, source.keys[from:to]...)
	c.born = append(c.born, source.born[from:to]...)
	c.identified = c.identified || source.identified
	for _, k := range source.keys[from:to] {
		c.span.add(k)
	}
}
