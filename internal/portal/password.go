package portal

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// cost is the cost of a password hash: the minimum that OWASP recommends for
// Argon2id. It is stored with the hash, so that it can be raised later.
type cost struct {
	memory, rounds uint32
	lanes          uint8
}

var today = cost{memory: 19 << 10, rounds: 2, lanes: 1}

const (
	saltBytes = 16
	hashBytes = 32
)

// HashPassword returns the form in which a password is stored, which is the
// usual $argon2id$v=19$m=...,t=...,p=...$salt$hash. A request must pass
// [hashQueue] first.
func HashPassword(password string) string {
	salt := make([]byte, saltBytes)
	rand.Read(salt)
	return today.print(salt, today.hash(password, salt))
}

func (c cost) hash(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(password), salt, c.rounds, c.memory, c.lanes, hashBytes)
}

func (c cost) print(salt, hash []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.rounds, c.lanes, b64(salt), b64(hash))
}

// nobody is a hash that no password has. It is used if there is no such
// member, so that the response takes equally long.
var nobody = today.print(make([]byte, saltBytes), make([]byte, hashBytes))

// passwordMatches compares a password with a stored hash.
func passwordMatches(kept, password string) bool {
	c, salt, hash, err := readHash(kept)
	if err != nil {
		return false
	}
	return subtle.ConstantTimeCompare(c.hash(password, salt), hash) == 1
}

var errHash = errors.New("not a password's hash")

func readHash(kept string) (c cost, salt, hash []byte, err error) {
	parts := strings.Split(kept, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, errHash
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.rounds, &c.lanes); err != nil || n != 3 || c.rounds == 0 || c.lanes == 0 {
		return c, nil, nil, errHash
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return c, nil, nil, errHash
	}
	if hash, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(hash) != hashBytes {
		return c, nil, nil, errHash
	}
	return c, salt, hash, nil
}

// Limits of a password, in characters. Length makes a password strong; the
// upper limit prevents hashing of megabytes.
const (
	leastPassword = 12
	mostPassword  = 200
)

// CheckPassword returns what is wrong with a new password, or "".
func CheckPassword(password, email, name string) string {
	lower := strings.ToLower(password)
	local, _, _ := strings.Cut(strings.ToLower(email), "@")
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return "The password is not valid text."
	case n < leastPassword:
		return fmt.Sprintf("The password must have at least %d characters; a phrase of several words works well.", leastPassword)
	case n > mostPassword:
		return fmt.Sprintf("The password must have at most %d characters.", mostPassword)
	case strings.Count(lower, lower[:1]) == len(lower):
		return "The password must not be a single repeated character."
	case lower == strings.ToLower(email), lower == strings.ToLower(name), len(local) >= 4 && strings.HasPrefix(lower, local) && n < leastPassword+len(local):
		return "The password must not consist of your name or e-mail address."
	case strings.Contains("01234567890123456789abcdefghijklmnopqrstuvwxyzqwertyuiopasdfghjklzxcvbnm", lower), strings.HasPrefix(lower, "password"):
		return "The password is too easy to guess."
	}
	return ""
}
