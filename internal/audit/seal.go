package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// Head is the state of a seal after some entries of a log. Without the key
// nobody can make the head that fits a changed log.
type Head [sha256.Size]byte

// Sealer chains the entries of one organisation's log:
// head(n) = HMAC(key, head(n-1) || entry n).
type Sealer struct {
	mac  hash.Hash
	head Head
	buf  []byte
}

// NewSealer goes on from a head; the log's first head is the zero value.
func NewSealer(key []byte, head Head) *Sealer {
	return &Sealer{mac: hmac.New(sha256.New, key), head: head}
}

// Add chains one entry: its position and the fields of its row, each with its
// length before it so that no two entries have the same bytes.
func (s *Sealer) Add(pos int64, fields ...[]byte) {
	s.buf = binary.BigEndian.AppendUint64(append(s.buf[:0], s.head[:]...), uint64(pos))
	for _, f := range fields {
		s.buf = binary.AppendUvarint(s.buf, uint64(len(f)))
		s.buf = append(s.buf, f...)
	}
	s.mac.Reset()
	s.mac.Write(s.buf)
	s.mac.Sum(s.head[:0])
}

// Reset goes back to a head.
func (s *Sealer) Reset(head Head) { s.head = head }

// Head is the seal over everything added so far.
func (s *Sealer) Head() Head { return s.head }

// KeyCheck is a value that tells whether two nodes hold the same key, without
// telling the key.
func KeyCheck(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("anodyne audit key check"))
	return mac.Sum(nil)[:16]
}
