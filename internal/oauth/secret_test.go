package oauth

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"regexp"
	"strings"
	"testing"
)

func TestSecretForm(t *testing.T) {
	t.Parallel()
	marked := mark("key")
	form := regexp.MustCompile(`^(cs|at)_[0-9A-Za-z]{43}$`)
	seen := map[string]bool{}
	digits := map[byte]bool{}
	for range 200 {
		for _, makeOne := range []func() (string, []byte){NewSecret, marked.newToken} {
			text, hash := makeOne()
			if !form.MatchString(text) || seen[text] {
				t.Fatalf("%d characters, seen before %v", len(text), seen[text])
			}
			seen[text] = true
			if again := sha256.Sum256([]byte(text)); !bytes.Equal(hash, again[:]) {
				t.Fatal("the hash is another's")
			}
			for i := len("cs_") + 1; i < len(text); i++ { // the first digit holds the rest
				digits[text[i]] = true
			}
		}
	}
	if len(digits) != 62 {
		t.Errorf("%d different digits", len(digits))
	}
}

// The digits are those of the number in base 62, padded with zeros.
func TestBase62IsTheNumber(t *testing.T) {
	numbers := [][32]byte{{}, {31: 1}, {31: 61}, {31: 62}, {0: 1}, {0: 0x80}}
	for i := range 500 {
		numbers = append(numbers, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	var most [32]byte
	for i := range most {
		most[i] = 0xff
	}
	for _, number := range append(numbers, most) {
		want := new(big.Int).SetBytes(number[:])
		got, radix := new(big.Int), big.NewInt(int64(len(base62)))
		digits := appendBase62(nil, number)
		for _, digit := range digits {
			got.Add(got.Mul(got, radix), big.NewInt(int64(strings.IndexByte(base62, digit))))
		}
		if len(digits) != secretDigits || got.Cmp(want) != 0 {
			t.Fatalf("%x is %s in %d digits, which is %x", number, digits, len(digits), got)
		}
		if again, ok := parseBase62(string(digits)); !ok || again != number {
			t.Fatalf("%s is read as %x, %v", digits, again, ok)
		}
	}
}

// A token is recognised by the key it was made with, and nothing else is.
func TestMark(t *testing.T) {
	t.Parallel()
	ours, theirs := mark("ours"), mark("theirs")
	for range 50 {
		token, _ := ours.newToken()
		if !ours.made(token) || theirs.made(token) {
			t.Fatalf("%s: ours %v, theirs %v", token, ours.made(token), theirs.made(token))
		}
		for i := len(tokenPrefix); i < len(token); i++ {
			other := []byte(token)
			if other[i]++; !strings.ContainsRune(base62, rune(other[i])) {
				other[i] = '0'
			}
			if ours.made(string(other)) {
				t.Fatalf("%s was made from %s", other, token)
			}
		}
	}
	secret, _ := NewSecret()
	for _, text := range []string{"", tokenPrefix, secret, tokenPrefix + secret[3:], tokenPrefix + strings.Repeat("z", secretDigits),
		tokenPrefix + strings.Repeat("0", secretDigits), tokenPrefix + strings.Repeat("-", secretDigits), tokenPrefix + strings.Repeat("0", secretDigits+1)} {
		if ours.made(text) {
			t.Errorf("%q is taken for one of ours", text)
		}
	}
}

func BenchmarkNewToken(b *testing.B) {
	marked := mark("key")
	b.ReportAllocs()
	for b.Loop() {
		marked.newToken()
	}
}
