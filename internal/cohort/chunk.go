package cohort

import (
	"bytes"
	"slices"
	"sort"
	"unsafe"
)

// chunkSize is the number of patients packed together: large, so that a scan
// is one long run over memory; small enough to be packed again within
// microseconds when a name in it changes.
const chunkSize = 4096

// separator ends each name. It is a control character, which no name holds.
const separator = 0

// patient is what a chunk keeps of one: its number, key and folded name.
type patient struct {
	no   int64
	key  key
	name string
}

func (p patient) number() int64 { return p.no }

// chunk packs patients with consecutive numbers. What is in a chunk never
// changes. A version with more patients may share its memory, behind the end
// that this one knows of; so only the newest version may be added to.
type chunk struct {
	text []byte   // folded names, each followed by the separator
	ends []uint32 // where in text each name ends
	keys []key    // the zero key is a number without a patient
	span keySpan  // of the keys

	// parts is by which names in the slots before sorted are found. It may be
	// that of an older version; the slots that are different since are changed,
	// in order. A chunk with few names has none, and sorted is 0.
	parts   *parts
	sorted  int
	changed []uint16
}

const (
	// mostChanged and mostUnsorted are how many slots that changed or were
	// added a search looks at one by one, before the parts are sorted again.
	// Those that changed can be in every chunk, those added only in the last.
	mostChanged  = 32
	mostUnsorted = 512
)

func newChunk(patients int64) *chunk {
	const usualName = 20
	return &chunk{
		text: make([]byte, 0, patients*usualName),
		ends: make([]uint32, 0, patients),
		keys: make([]key, 0, patients),
	}
}

func (c *chunk) len() int { return len(c.keys) }

// name is the folded name in a slot.
func (c *chunk) name(slot int) []byte { return c.text[c.start(slot):c.ends[slot]] }

// start is where in the text the name in a slot starts, or would.
func (c *chunk) start(slot int) int {
	if slot == 0 {
		return 0
	}
	return int(c.ends[slot-1]) + 1
}

// add appends a patient. It is for a chunk that nobody else sees yet.
func (c *chunk) add(k key, name string) {
	c.text = append(c.text, name...)
	c.ends = append(c.ends, uint32(len(c.text)))
	c.text = append(c.text, separator)
	c.keys = append(c.keys, k)
	c.span.add(k)
}

// fit gives a chunk without spare memory and without changes to look at.
func (c *chunk) fit() *chunk {
	fitting := &chunk{text: bytes.Clone(c.text), ends: slices.Clone(c.ends), keys: slices.Clone(c.keys), span: c.span}
	if c.len() > mostUnsorted {
		fitting.sort()
	}
	return fitting
}

// sort makes the parts anew. It is for a chunk that nobody else sees yet.
func (c *chunk) sort() { c.parts, c.sorted, c.changed = newParts(c), c.len(), nil }

func (c *chunk) bytes() int64 {
	return int64(cap(c.text)) + int64(cap(c.ends))*4 + int64(cap(c.keys))*int64(unsafe.Sizeof(key{})) + int64(cap(c.changed))*2 + c.parts.bytes()
}

// with gives the chunk after changes, which are in order of their numbers;
// first is the number in slot 0. It is the chunk itself when nothing in it
// changed: most changes of a patient leave the name as it was. It fails when
// numbers are left out.
func (c *chunk) with(changed []patient, first int64) (next *chunk, ok bool) {
	known := sort.Search(len(changed), func(i int) bool { return changed[i].no >= first+int64(c.len()) })
	edited := slices.DeleteFunc(slices.Clone(changed[:known]), func(p patient) bool {
		slot := int(p.no - first)
		return c.keys[slot] == p.key && string(c.name(slot)) == p.name
	})
	next = c
	if len(edited) > 0 {
		next = c.edit(edited, first)
	}
	if known == len(changed) {
		return next, true
	}
	grown := *next
	for _, p := range changed[known:] {
		switch next := first + int64(grown.len()); {
		case p.no > next:
			return nil, false
		case p.no == next: // else it is listed twice
			grown.add(p.key, p.name)
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

// edit packs the chunk again with patients exchanged.
func (c *chunk) edit(edited []patient, first int64) *chunk {
	next := &chunk{
		text: make([]byte, 0, len(c.text)+64),
		ends: make([]uint32, 0, c.len()),
		keys: make([]key, 0, c.len()),
		// Shared until too much has changed.
		parts: c.parts, sorted: c.sorted, changed: slices.Clone(c.changed),
	}
	done := 0 // slots that are copied
	for _, p := range edited {
		slot := int(p.no - first)
		if slot < done {
			continue // listed twice
		}
		next.copyFrom(c, done, slot)
		next.add(p.key, p.name)
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
	for _, k := range source.keys[from:to] {
		c.span.add(k)
	}
}
