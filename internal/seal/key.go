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

// SaltSize is the size of the salts that derivations are made with.
const SaltSize = 16

// Key is what an operator gives to encrypt with: 64 hexadecimal digits, or a
// passphrase. Other keys are derived from it; it encrypts nothing itself.
type Key struct {
	secret     []byte
	passphrase bool

	mu    sync.Mutex
	roots map[string][]byte // by salt, because stretching is slow on purpose
}

// shortest is the length from which a passphrase is taken.
const shortest = 12

// ParseKey reads a key as it stands in a file or in the environment. White
// space around it does not count.
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

// Passphrase reports a key that is stretched with a salt, without which it is
// of no use.
func (k *Key) Passphrase() bool { return k.passphrase }

// Derive gives the key for one purpose. A passphrase is stretched with
// Argon2id, once for each salt.
func (k *Key) Derive(salt []byte, purpose string) []byte {
	derived, err := hkdf.Key(sha256.New, k.root(salt), salt, purpose, KeySize)
	if err != nil {
		panic(err) // only for a length that is too great
	}
	return derived
}

// Derive gives the key for one purpose from a key of random bytes, such as a
// master key.
func Derive(key []byte, purpose string) []byte {
	return (&Key{secret: key}).Derive(nil, purpose)
}

// root is the secret, stretched when it is a passphrase.
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
