package backup

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// chunkSize is the size of a chunk. Every chunk but the last is full.
const chunkSize = 64 << 10

// nonceSize is the size of a nonce, which holds the number of the chunk and,
// in its last byte, whether it is the last one. So a chunk that is moved,
// removed or added, or a truncated end, is detected.
const nonceSize = 12

func nonce(chunk uint64, last bool) []byte {
	n := make([]byte, nonceSize)
	binary.BigEndian.PutUint64(n[3:], chunk)
	if last {
		n[nonceSize-1] = 1
	}
	return n
}

// encrypting returns AES-256-GCM. The key is used for one file only, so the
// chunk number is a sufficient nonce.
func encrypting(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// authenticating leaves chunks in plain text and adds an HMAC.
type authenticating struct{ key []byte }

func (authenticating) NonceSize() int { return nonceSize }
func (authenticating) Overhead() int  { return sha256.Size }

func (a authenticating) tag(nonce, content, more []byte) []byte {
	mac := hmac.New(sha256.New, a.key)
	mac.Write(nonce)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(content))))
	mac.Write(content)
	mac.Write(more)
	return mac.Sum(nil)
}

func (a authenticating) Seal(dst, nonce, content, more []byte) []byte {
	return append(append(dst, content...), a.tag(nonce, content, more)...)
}

func (a authenticating) Open(dst, nonce, sealed, more []byte) ([]byte, error) {
	if len(sealed) < sha256.Size {
		return nil, errDamaged
	}
	content := sealed[:len(sealed)-sha256.Size]
	if !hmac.Equal(sealed[len(content):], a.tag(nonce, content, more)) {
		return nil, errDamaged
	}
	return append(dst, content...), nil
}

// sealWriter divides its input into chunks and seals them.
type sealWriter struct {
	w     io.Writer
	aead  cipher.AEAD
	chunk uint64
	plain []byte
	buf   []byte
}

func newSealWriter(w io.Writer, aead cipher.AEAD) *sealWriter {
	return &sealWriter{w: w, aead: aead, plain: make([]byte, 0, chunkSize)}
}

func (s *sealWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if len(s.plain) == chunkSize { // more follows, so it is not the last
			if err := s.flush(false); err != nil {
				return n, err
			}
		}
		took := copy(s.plain[len(s.plain):chunkSize], p)
		s.plain, p, n = s.plain[:len(s.plain)+took], p[took:], n+took
	}
	return n, nil
}

// Close writes the last chunk and leaves the file open.
func (s *sealWriter) Close() error { return s.flush(true) }

func (s *sealWriter) flush(last bool) error {
	s.buf = s.aead.Seal(s.buf[:0], nonce(s.chunk, last), s.plain, nil)
	s.chunk, s.plain = s.chunk+1, s.plain[:0]
	_, err := s.w.Write(s.buf)
	return err
}

// errDamaged is returned for a file that was modified.
var errDamaged = errors.New("the backup is damaged, truncated or modified")

// sealReader returns the content of valid chunks.
type sealReader struct {
	r     io.Reader
	aead  cipher.AEAD
	chunk uint64
	plain []byte
	rest  []byte // rest of plain
	// ahead is one chunk and a byte: if the byte is there, another chunk
	// follows.
	ahead []byte
	have  int
	ended bool
}

func newSealReader(r io.Reader, aead cipher.AEAD) *sealReader {
	return &sealReader{r: r, aead: aead, ahead: make([]byte, chunkSize+aead.Overhead()+1)}
}

func (s *sealReader) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.ended {
			return 0, io.EOF
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *sealReader) next() error {
	n, err := io.ReadFull(s.r, s.ahead[s.have:])
	s.have += n
	last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !last {
		return err
	}
	sealed := s.ahead[:s.have]
	if !last {
		sealed = sealed[:len(sealed)-1]
	}
	if s.plain, err = s.aead.Open(s.plain[:0], nonce(s.chunk, last), sealed, nil); err != nil {
		return errDamaged
	}
	s.rest, s.ended, s.chunk = s.plain, last, s.chunk+1
	if !last {
		s.ahead[0], s.have = s.ahead[len(s.ahead)-1], 1
	}
	return nil
}
