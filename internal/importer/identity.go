package importer

import (
	"encoding/binary"
	"slices"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

// keyOfIdentifiers returns the key for a patient without an external
// identifier, but with others, in any order.
func keyOfIdentifiers(list []pain.Identifier) patients.ImportHash {
	list = slices.Clone(list)
	slices.SortFunc(list, pain.Identifier.Compare)
	return patients.HashOf([]byte("identifiers"), []byte(pain.NewIdentifiers(list...).JSON()))
}

// contentOf returns a hash of a line's content, including the patient.
func contentOf(kind Kind, e *entry) patients.ImportHash {
	if len(e.identifiers) == 0 {
		return patients.HashOf([]byte(kind), []byte(e.external), []byte(e.patient), e.known)
	}
	return patients.HashOf([]byte(kind), []byte(e.external), []byte(e.patient), e.known, []byte(pain.NewIdentifiers(e.identifiers...).JSON()))
}

// nth returns the hash of the nth line with the same content.
func nth(content patients.ImportHash, n uint32) patients.ImportHash {
	if n == 0 {
		return content
	}
	return patients.HashOf(content[:], binary.BigEndian.AppendUint32(nil, n))
}

// repeats numbers lines with the same content. Two scores of 7 on one day are
// two scores, so a line is identified by its content and its number among
// equal ones.
//
// A first pass records which lines have duplicates, in a filter of limited
// size, so that the second pass only has to count those. A false positive only
// means that a unique line is counted.
type repeats struct {
	filter []uint64
	counts map[patients.ImportHash]uint32
}

const (
	minFilter = 1 << 16 // bits
	maxFilter = 1 << 29 // 64 MiB: 1 line in 10 is counted unnecessarily at 100 million lines
)

func newRepeats(fileSize int64) *repeats {
	bits := int64(minFilter)
	for bits < 2*fileSize && bits < maxFilter {
		bits *= 2
	}
	return &repeats{filter: make([]uint64, bits/64), counts: map[patients.ImportHash]uint32{}}
}

// note records a line in the first pass.
func (r *repeats) note(content patients.ImportHash) {
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

// done ends the first pass.
func (r *repeats) done() { r.filter = nil }

// number returns the identity of the next line with this content.
func (r *repeats) number(content patients.ImportHash) patients.ImportHash {
	n, counted := r.counts[content]
	if counted {
		r.counts[content] = n + 1
	}
	return nth(content, n)
}
