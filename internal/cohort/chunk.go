package cohort

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
	"unsafe"

	"anodyne/internal/id"
)

// chunkSize is the number of patients packed together: large, so that a scan
// is one long run over memory; small enough to be packed again within
// microseconds when a name in it changes.
const chunkSize = 4096

// separator ends each name. It is a control character, which no name holds.
const separator = 0

// key is an identifier as a number, in the order in which it prints.
type key struct{ hi, lo uint64 }

func keyOf(patient id.Patient) key {
	b := patient.Bytes()
	return key{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// less reports whether k sorts before other.
func (k key) less(other key) bool {
	return k.hi < other.hi || k.hi == other.hi && k.lo < other.lo
}

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
}

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
func (c *chunk) name(slot int) []byte {
	start := 0
	if slot > 0 {
		start = int(c.ends[slot-1]) + 1
	}
	return c.text[start:c.ends[slot]]
}

// add appends a patient. It is for a chunk that nobody else sees yet.
func (c *chunk) add(k key, name string) {
	c.text = append(c.text, name...)
	c.ends = append(c.ends, uint32(len(c.text)))
	c.text = append(c.text, separator)
	c.keys = append(c.keys, k)
}

// fit gives a chunk without spare memory.
func (c *chunk) fit() *chunk {
	return &chunk{bytes.Clone(c.text), slices.Clone(c.ends), slices.Clone(c.keys)}
}

func (c *chunk) bytes() int64 {
	return int64(cap(c.text)) + int64(cap(c.ends))*4 + int64(cap(c.keys))*int64(unsafe.Sizeof(key{}))
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
	return &grown, true
}

// edit packs the chunk again with patients exchanged.
func (c *chunk) edit(edited []patient, first int64) *chunk {
	next := &chunk{
		text: make([]byte, 0, len(c.text)+64),
		ends: make([]uint32, 0, c.len()),
		keys: make([]key, 0, c.len()),
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
	}
	next.copyFrom(c, done, c.len())
	return next
}

// copyFrom appends the slots from up to, but not including, to.
func (c *chunk) copyFrom(source *chunk, from, to int) {
	if from == to {
		return
	}
	start := 0
	if from > 0 {
		start = int(source.ends[from-1]) + 1
	}
	shift := len(c.text) - start
	c.text = append(c.text, source.text[start:source.ends[to-1]+1]...)
	for _, end := range source.ends[from:to] {
		c.ends = append(c.ends, uint32(int(end)+shift))
	}
	c.keys = append(c.keys, source.keys[from:to]...)
}
