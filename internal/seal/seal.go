// Package seal holds the cryptography of data at rest, without I/O: the
// operator's key and the keys derived from it, and the sealing of small
// secrets that the service must be able to read.
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

// Master seals secrets that must remain readable, such as the signing secret
// of a webhook, for storage in a database. It uses AES-256-GCM with a random
// nonce.
type Master struct {
	aead cipher.AEAD
	id   [idSize]byte
}

const (
	version1 = 1
	idSize   = 4
)

var (
	// ErrOtherKey is returned for a secret that was sealed with another master
	// key.
	ErrOtherKey = errors.New("sealed under another master key")
	// ErrDamaged is returned for a secret that was modified or moved.
	ErrDamaged = errors.New("the sealed secret is damaged or not in its place")
)

// NewMaster returns a sealer for a key of 32 bytes.
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

// MasterCheck returns a value that shows whether two nodes have the same
// master key, without revealing the key.
func MasterCheck(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("anodyne master key check"))
	return mac.Sum(nil)[:16]
}

// Seal encrypts a secret. place identifies what the secret belongs to, such as
// the table, the organisation and the row: it only opens there, so a sealed
// value cannot be moved to another row. The result starts with the version and
// the key's ID, so that keys can be distinguished after a change.
func (m *Master) Seal(secret, place []byte) []byte {
	sealed := make([]byte, 1+idSize+m.aead.NonceSize(), 1+idSize+m.aead.NonceSize()+len(secret)+m.aead.Overhead())
	sealed[0] = version1
	copy(sealed[1:], m.id[:])
	nonce := sealed[1+idSize:]
	rand.Read(nonce)
	return m.aead.Seal(sealed, nonce, secret, m.bound(sealed, place))
}

// Open decrypts a secret.
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

// bound returns the additional authenticated data.
func (m *Master) bound(sealed, place []byte) []byte {
	return append(append(make([]byte, 0, 1+idSize+len(place)), sealed[:1+idSize]...), place...)
}
