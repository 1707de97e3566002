package importer

import (
	"encoding/binary"
	"hash/maphash"
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
// The contents of the first lines are all counted. If a file has more, another
// pass over the rest of it records which contents may have duplicates there, in a
// filter of limited size, so that from then on only those are counted. A false
// positive only means that a unique line is counted.
type repeats struct {
	counts map[patients.ImportHash]uint32 // of lines so far
	// lookAhead calls note for every line from the next one on. It is called once.
	lookAhead func() error
	ahead     bool // lookAhead was called
	seed      maphash.Seed
	filter    []uint64
	// maybe has the sums of lines that have duplicates.
	maybe map[uint64]bool
}

// countedLines is the number of contents that are counted at first, in about 60 MB.
// Tests lower it.
var countedLines = 1_500_000

const (
	minFilter = 1 << 16 // bits
	maxFilter = 1 << 29 // 64 MiB: 1 line in 10 is counted unnecessarily at 100 million lines
)

// number returns the identity of the next line with this content.
func (r *repeats) number(e *entry, content patients.ImportHash) (patients.ImportHash, error) {
	if len(r.counts) >= countedLines && !r.ahead {
		r.ahead = true
		err := r.lookAhead()
		r.filter = nil
		if err != nil {
			return content, err
		}
	}
	n := r.counts[content]
	if !r.ahead || r.maybe[r.sum(e)] {
		r.counts[content] = n + 1
	}
	return nth(content, n), nil
}

// expect prepares the filter for a file of some size.
func (r *repeats) expect(fileSize int64) {
	bits := int64(minFilter)
	for bits < 2*fileSize && bits < maxFilter {
		bits *= 2
	}
	r.seed, r.filter, r.maybe = maphash.MakeSeed(), make([]uint64, bits/64), map[uint64]bool{}
}

// note records a line of the rest of the file.
func (r *repeats) note(e *entry) {
	sum := r.sum(e)
	seen := true
	for i := range uint64(3) {
		bit := (sum + i*(sum>>32|1)) % uint64(64*len(r.filter))
		word, mask := &r.filter[bit/64], uint64(1)<<(bit%64)
		seen = seen && *word&mask != 0
		*word |= mask
	}
	if seen {
		r.maybe[sum] = true
	}
}

// sum returns a sum of a line's content, which takes less time than the hash. It
// is the same for lines with the same content.
func (r *repeats) sum(e *entry) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	_, _ = h.WriteString(e.external) // never fails
	_, _ = h.WriteString(e.patient)
	for _, one := range e.identifiers {
		_, _ = h.WriteString(one.Value)
	}
	_, _ = h.Write(e.known)
	return h.Sum64()
}
