package patients

import (
	"crypto/sha256"
	"encoding/binary"
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
