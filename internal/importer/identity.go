package importer

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
)

// keyOf stands for the identifier that a patient has elsewhere.
func keyOf(external string) store.ImportHash { return sum([]byte("patient"), []byte(external)) }

// contentOf stands for what a line says: whose, and what.
func contentOf(kind Kind, e *entry) store.ImportHash {
	return sum([]byte(kind), []byte(e.external), []byte(e.patient), e.known)
}

// nth stands for the nth of several lines that say the same.
func nth(content store.ImportHash, n uint32) store.ImportHash {
	if n == 0 {
		return content
	}
	return sum(content[:], binary.BigEndian.AppendUint32(nil, n))
}

// timeBytes are those of a patient's identifier that say when it was made.
const timeBytes = 6

// beside gives a line's hash the beginning of its patient's identifier, so
// that the marks lie in the database as the records do, by patient: lines of
// one patient touch one page, not one page each. 80 bits are left to tell
// apart the lines of patients who were made in the same millisecond.
func beside(patient id.Patient, line store.ImportHash) store.ImportHash {
	copy(line[:timeBytes], patient.Bytes())
	return line
}

// sum hashes parts so that their borders count.
func sum(parts ...[]byte) store.ImportHash {
	h := sha256.New()
	for _, part := range parts {
		length(h, len(part))
		h.Write(part)
	}
	var room [sha256.Size]byte
	return store.ImportHash(h.Sum(room[:0])[:len(store.ImportHash{})])
}

func length(h hash.Hash, n int) {
	var room [8]byte
	binary.BigEndian.PutUint64(room[:], uint64(n))
	h.Write(room[:])
}

// repeats numbers lines that say the same. Two scores of 7 on one day are two
// scores: a line is known by what it says and by which of its likes it is.
//
// A first reading notes which lines have likes, in a filter of bounded size,
// so that the second one has to count only those; the filter errs, if at all,
// by counting a line that has none.
type repeats struct {
	filter []uint64
	counts map[store.ImportHash]uint32
}

const (
	minFilter = 1 << 16 // bits
	maxFilter = 1 << 29 // 64 MiB: 1 line in 10 is counted for nothing at 100 million lines
)

func newRepeats(fileSize int64) *repeats {
	bits := int64(minFilter)
	for bits < 2*fileSize && bits < maxFilter {
		bits *= 2
	}
	return &repeats{filter: make([]uint64, bits/64), counts: map[store.ImportHash]uint32{}}
}

// note is for the first reading.
func (r *repeats) note(content store.ImportHash) {
	seen := true
	for i := range 3 {
		bit := uint64(binary.BigEndian.Uint32(content[4*i:])) % uint64(64*len(r.filter))
		word, mask := &r.filter[bit/64], uint64(1)<<(bit%64)
		seen = seen && *word&mask != 0
		*word |= mask
	}
	if seen {
		r.counts[content] = 0
	}
}

// done ends the first reading.
func (r *repeats) done() { r.filter = nil }

// number gives what the next line with this content is known by.
func (r *repeats) number(content store.ImportHash) store.ImportHash {
	n, counted := r.counts[content]
	if counted {
		r.counts[content] = n + 1
	}
	return nth(content, n)
}
