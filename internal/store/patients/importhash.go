package patients

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"anodyne.example/anodyne/internal/id"
)

// ImportHash identifies a line of an import, or a patient's external
// identifier. It is stored in the transaction of the line's data, so that a
// line is imported once however often it is retried.
type ImportHash [16]byte

// ExternalKey returns the key of an imported patient with an external
// identifier. It is as it was before patients had identifiers, so that patients
// imported then are found.
func ExternalKey(external string) ImportHash { return HashOf([]byte("patient"), []byte(external)) }

// HashOf hashes parts together with their lengths.
func HashOf(parts ...[]byte) ImportHash {
	h := sha256.New()
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write(part)
	}
	var room [sha256.Size]byte
	return ImportHash(h.Sum(room[:0])[:len(ImportHash{})])
}

// timeBytes is the length of the time in a patient's identifier.
const timeBytes = 6

// Beside replaces the beginning of a line's hash with that of the patient's
// identifier, so that the marks are stored next to each other by patient, like
// the records: the lines of one patient touch one page instead of one page
// each. The remaining 80 bits distinguish the lines of patients created in the
// same millisecond.
func (h ImportHash) Beside(patient id.Patient) ImportHash {
	copy(h[:timeBytes], patient.Bytes())
	return h
}

// marksOf returns the first possible mark of a line of a patient, and the first
// one after them. Patients created in the same millisecond have the same range.
func marksOf(patient id.Patient) (from, to []byte) {
	var room [8]byte
	copy(room[2:], patient.Bytes()[:timeBytes])
	from = bytes.Clone(room[2:])
	binary.BigEndian.PutUint64(room[:], binary.BigEndian.Uint64(room[:])+1)
	return from, room[2:]
}
