package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Prefixes of secrets, so that secret scanners can find a leak.
const (
	secretPrefix = "cs_"
	tokenPrefix  = "at_"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// secretDigits is the number of base62 digits that hold 256 bits.
const secretDigits = 43

// NewSecret returns a new client secret and the hash under which it is stored.
func NewSecret() (secret string, hash []byte) {
	var number [32]byte
	rand.Read(number[:])
	return written(secretPrefix, number)
}

// written returns a number in base62 after a prefix, and its hash. A fast hash
// is sufficient for values that cannot be guessed.
func written(prefix string, number [32]byte) (text string, hash []byte) {
	text = string(appendBase62([]byte(prefix), number))
	sum := hashOf(text)
	return text, sum[:]
}

// appendBase62 appends a 256-bit big-endian number with secretDigits digits.
// It is used for every token, so it divides off ten digits at a time.
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

// hashOf returns the form in which a secret or token is stored.
func hashOf(text string) [sha256.Size]byte {
	var space [64]byte // avoids an allocation per request
	return sha256.Sum256(append(space[:0], text...))
}
