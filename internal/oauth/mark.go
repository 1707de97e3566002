package oauth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"strings"
)

// mark is the key for marking tokens. The last 64 of a token's 256 bits are a
// MAC of the others, so that a token can be recognised as one of this service
// even after its row was purged. Without the key, all 256 bits look random.
// See docs/decisions/0008-opaque-tokens.md.
type mark []byte

// drawn is the number of random bytes in a token.
const drawn = 24

// newToken returns a new access token and the hash under which it is stored.
func (m mark) newToken() (token string, hash []byte) {
	var number [32]byte
	rand.Read(number[:drawn])
	copy(number[drawn:], m.of(number))
	return written(tokenPrefix, number)
}

// of returns the MAC of a token's random bits.
func (m mark) of(number [32]byte) []byte {
	mac := hmac.New(sha256.New, m)
	mac.Write(number[:drawn])
	return mac.Sum(nil)[:len(number)-drawn]
}

// made reports whether a token was made with this key. It does not recognise
// tokens issued before marks were introduced.
func (m mark) made(token string) bool {
	digits, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return false
	}
	number, ok := parseBase62(digits)
	return ok && hmac.Equal(number[drawn:], m.of(number))
}

// parseBase62 is the inverse of appendBase62.
func parseBase62(digits string) (number [32]byte, ok bool) {
	if len(digits) != secretDigits {
		return number, false
	}
	var words [4]uint64
	for _, digit := range []byte(digits) {
		value := strings.IndexByte(base62, digit)
		if value < 0 {
			return number, false
		}
		carry := uint64(value)
		for i := len(words) - 1; i >= 0; i-- {
			high, low := bits.Mul64(words[i], uint64(len(base62)))
			sum, over := bits.Add64(low, carry, 0)
			words[i], carry = sum, high+over
		}
		if carry != 0 {
			return number, false // more than 256 bits
		}
	}
	for i, word := range words {
		binary.BigEndian.PutUint64(number[8*i:], word)
	}
	return number, true
}
