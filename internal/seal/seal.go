// Package seal holds the cryptography of data at rest, without I/O: the key
// that an operator gives and what is derived from it, and the sealing of
// small secrets that the service must be able to read again.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// A Master seals secrets that must be kept readable, such as the signing
// secret of a webhook, for storing them in a database. Sealing is AES-256-GCM
// with a random nonce.
type Master struct {
	aead cipher.AEAD
	id   [idSize]byte
}

const (
	version1 = 1
	idSize   = 4
)

var (
	// ErrOtherKey is a secret that was sealed under another master key.
	ErrOtherKey = errors.New("sealed under another master key")
	// ErrDamaged is a secret that is not as it was sealed, or not in its place.
	ErrDamaged = errors.New("the sealed secret is damaged or not in its place")
)

// NewMaster makes a sealer from a key of 32 bytes.
func NewMaster(key []byte) (*Master, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("a master key has %d bytes, not %d", KeySize, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	m := &Master{}
	if m.aead, err = cipher.NewGCM(block); err != nil {
		return nil, err
	}
	copy(m.id[:], MasterCheck(key))
	return m, nil
}

// MasterCheck is a value that tells whether two nodes hold the same master
// key, without telling the key.
func MasterCheck(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("anodyne master key check"))
	return mac.Sum(nil)[:16]
}

// Seal encrypts a secret. place says what the secret belongs to, such as the
// table, the organisation and the row: it opens only there, so that a sealed
// value cannot be moved to another row. The result starts with the version
// and the key's id, so that keys can be told apart when they are changed.
func (m *Master) Seal(secret, place []byte) []byte {
	sealed := make([]byte, 1+idSize+m.aead.NonceSize(), 1+idSize+m.aead.NonceSize()+len(secret)+m.aead.Overhead())
	sealed[0] = version1
	copy(sealed[1:], m.id[:])
	nonce := sealed[1+idSize:]
	rand.Read(nonce)
	return m.aead.Seal(sealed, nonce, secret, m.bound(sealed, place))
}

// Open gives the secret back.
func (m *Master) Open(sealed, place []byte) ([]byte, error) {
	head := 1 + idSize + m.aead.NonceSize()
	if len(sealed) < head+m.aead.Overhead() || sealed[0] != version1 {
		return nil, ErrDamaged
	}
	if [idSize]byte(sealed[1:]) != m.id {
		return nil, ErrOtherKey
	}
	secret, err := m.aead.Open(nil, sealed[1+idSize:head], sealed[head:], m.bound(sealed, place))
	if err != nil {
		return nil, ErrDamaged
	}
	return secret, nil
}

// bound is what is authenticated beside the secret.
func (m *Master) bound(sealed, place []byte) []byte {
	return append(append(make([]byte, 0, 1+idSize+len(place)), sealed[:1+idSize]...), place...)
}
