package oauth

import (
	"bytes"
	"regexp"
	"testing"
)

func TestSecretForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^(cs|at)_[0-9A-Za-z]{43}$`)
	seen := map[string]bool{}
	digits := map[byte]bool{}
	for range 200 {
		for _, makeOne := range []func() (string, []byte){NewSecret, newToken} {
			text, hash := makeOne()
			if !form.MatchString(text) || seen[text] {
				t.Fatalf("%d characters, seen before %v", len(text), seen[text])
			}
			seen[text] = true
			if again := hashOf(text); !bytes.Equal(hash, again[:]) {
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
