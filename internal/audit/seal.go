package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// Head is the state of a seal after some entries of a log. A head for a
// modified log cannot be computed without the key.
type Head [sha256.Size]byte

// Sealer chains the entries of one organisation's log: head(n) = HMAC(key,
// head(n-1) || entry n).
type Sealer struct {
	mac  hash.Hash
	head Head
	buf  []byte
}

// NewSealer returns a sealer that continues from a head. The first head of a
// log is the zero value.
func NewSealer(key []byte, head Head) *Sealer {
	return &Sealer{mac: hmac.New(sha256.New, key), head: head}
}

// Add chains one entry: its position and the fields of its row, each preceded
// by its length, so that no two entries have the same bytes.
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

// Reset sets the head.
func (s *Sealer) Reset(head Head) { s.head = head }

// Head returns the seal of everything added so far.
func (s *Sealer) Head() Head { return s.head }

// KeyCheck returns a value that shows whether two nodes have the same key,
// without revealing the key.
func KeyCheck(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("anodyne audit key check"))
	return mac.Sum(nil)[:16]
}
