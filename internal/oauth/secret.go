package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"math/big"
)

// Prefixes of what must stay secret, so that scanners can find a leak.
const (
	secretPrefix = "cs_"
	tokenPrefix  = "at_"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// secretDigits is how many base62 digits hold 256 bits.
const secretDigits = 43

// NewSecret makes a client secret and the hash under which it is kept.
func NewSecret() (secret string, hash []byte) { return random(secretPrefix) }

// newToken makes an access token and the hash under which it is kept.
func newToken() (token string, hash []byte) { return random(tokenPrefix) }

// random gives 256 random bits in base62 after a prefix. A fast hash is
// enough for what cannot be guessed.
func random(prefix string) (text string, hash []byte) {
	var bits [32]byte
	rand.Read(bits[:])
	n, radix, digit := new(big.Int).SetBytes(bits[:]), big.NewInt(int64(len(base62))), new(big.Int)
	digits := make([]byte, secretDigits)
	for i := range digits {
		n.DivMod(n, radix, digit)
		digits[len(digits)-1-i] = base62[digit.Int64()]
	}
	text = prefix + string(digits)
	sum := sha256.Sum256([]byte(text))
	return text, sum[:]
}

// hashOf is the form in which a secret or token is kept.
func hashOf(text string) [sha256.Size]byte {
	var space [64]byte // keeps what every request brings off the heap
	return sha256.Sum256(append(space[:0], text...))
}
