package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
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
func NewSecret() (secret string, hash []byte) {
	var number [32]byte
	rand.Read(number[:])
	return written(secretPrefix, number)
}

// written gives a number in base62 after a prefix, and its hash. A fast hash is
// enough for what cannot be guessed.
func written(prefix string, number [32]byte) (text string, hash []byte) {
	text = string(appendBase62([]byte(prefix), number))
	sum := hashOf(text)
	return text, sum[:]
}

// appendBase62 appends a number of 256 bits, big end first, in secretDigits
// digits. Every token is made here, so ten digits are divided off at a time.
func appendBase62(b []byte, number [32]byte) []byte {
	const ten = 62 * 62 * 62 * 62 * 62 * 62 * 62 * 62 * 62 * 62 // 62^10, which is less than 2^64
	var words [4]uint64
	for i := range words {
		words[i] = binary.BigEndian.Uint64(number[8*i:])
	}
	var digits [secretDigits]byte
	for at := len(digits); at > 0; {
		var rest uint64
		for i, word := range words {
			words[i], rest = bits.Div64(rest, word, ten)
		}
		for range min(10, at) {
			at--
			digits[at] = base62[rest%62]
			rest /= 62
		}
	}
	return append(b, digits[:]...)
}

// hashOf is the form in which a secret or token is kept.
func hashOf(text string) [sha256.Size]byte {
	var space [64]byte // keeps what every request brings off the heap
	return sha256.Sum256(append(space[:0], text...))
}
