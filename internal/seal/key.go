package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// KeySize is the size of every derived key.
const KeySize = 32

// SaltSize is the size of the salt for deriving keys.
const SaltSize = 16

// Key is an encryption key provided by an operator: 64 hexadecimal digits, or
// a passphrase. Other keys are derived from it; it is not used for encryption
// itself.
type Key struct {
	secret     []byte
	passphrase bool

	mu    sync.Mutex
	roots map[string][]byte // by salt, because stretching is deliberately slow
}

// shortest is the minimum length of a passphrase.
const shortest = 12

// ParseKey parses a key from a file or the environment. Surrounding white
// space is ignored.
func ParseKey(text []byte) (*Key, error) {
	text = bytes.TrimSpace(text)
	if raw, err := hex.DecodeString(string(text)); err == nil && len(raw) == KeySize {
		return &Key{secret: raw}, nil
	}
	if n := utf8.RuneCount(text); n < shortest || len(text) > 4096 {
		return nil, errors.New("want 64 hexadecimal digits, or a passphrase of 12 characters or more")
	}
	return &Key{secret: bytes.Clone(text), passphrase: true, roots: map[string][]byte{}}, nil
}

// Passphrase reports whether the key is a passphrase, which is stretched and
// therefore needs a salt.
func (k *Key) Passphrase() bool { return k.passphrase }

// Derive returns the key for one purpose. A passphrase is stretched with
// Argon2id, once for each salt.
func (k *Key) Derive(salt []byte, purpose string) []byte {
	derived, err := hkdf.Key(sha256.New, k.root(salt), salt, purpose, KeySize)
	if err != nil {
		panic(err) // only if the length is too large
	}
	return derived
}

// Derive returns the key for one purpose, derived from a key of random bytes
// such as a master key.
func Derive(key []byte, purpose string) []byte {
	return (&Key{secret: key}).Derive(nil, purpose)
}

// root returns the secret, stretched if it is a passphrase.
func (k *Key) root(salt []byte) []byte {
	if !k.passphrase {
		return k.secret
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	root, known := k.roots[string(salt)]
	if !known {
		root = argon2.IDKey(k.secret, salt, 3, 64<<10, 4, KeySize)
		k.roots[string(salt)] = root
	}
	return root
}
