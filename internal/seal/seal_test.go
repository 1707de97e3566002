package seal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func master(t *testing.T, fill byte) *Master {
	t.Helper()
	m, err := NewMaster(bytes.Repeat([]byte{fill}, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSealAndOpen(t *testing.T) {
	m, place := master(t, 1), []byte("webhook 7")
	for _, secret := range []string{"", "whsec_c2VjcmV0", strings.Repeat("x", 100_000)} {
		sealed := m.Seal([]byte(secret), place)
		if secret != "" && bytes.Contains(sealed, []byte(secret)) {
			t.Error("the secret is in the sealed form")
		}
		if got, err := m.Open(sealed, place); string(got) != secret || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if bytes.Equal(sealed, m.Seal([]byte(secret), place)) {
			t.Error("sealed twice the same way")
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	m, place := master(t, 1), []byte("webhook 7")
	sealed := m.Seal([]byte("whsec_c2VjcmV0"), place)
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 0x40
		if _, err := m.Open(changed, place); err == nil {
			t.Errorf("byte %d changed, and it opens", i)
		}
		if _, err := m.Open(sealed[:i], place); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
	if _, err := m.Open(sealed, []byte("webhook 8")); !errors.Is(err, ErrDamaged) {
		t.Errorf("in another place: %v", err)
	}
	if _, err := master(t, 2).Open(sealed, place); !errors.Is(err, ErrOtherKey) {
		t.Errorf("with another key: %v", err)
	}
	if _, err := NewMaster(make([]byte, 16)); err == nil {
		t.Error("a short key was taken")
	}
}

func TestParseKey(t *testing.T) {
	digits := strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct {
		text       string
		good       bool
		passphrase bool
	}{
		{digits, true, false},
		{" " + strings.ToUpper(digits) + "\n", true, false},
		{digits[1:], true, true},
		{"twelve chars", true, true},
		{"åäöåäöåäöåä", false, false},
		{"too short", false, false},
		{"", false, false},
		{strings.Repeat("x", 5000), false, false},
	} {
		key, err := ParseKey([]byte(c.text))
		if (err == nil) != c.good || key != nil && key.Passphrase() != c.passphrase {
			t.Errorf("%.70q: %v", c.text, err)
		}
		if err != nil && c.text != "" && strings.Contains(err.Error(), c.text) {
			t.Errorf("the message shows the key: %v", err)
		}
	}
}

// Files of old versions must open.
func TestDerivedKeysStayTheSame(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("0123456789abcdef", 4): "ecb2fe819c65a2cba8f76bddbf6f5679b6ae974087c419f23b90ad459251b05d",
		"correct horse battery staple":        "279c304f5fb3fdcb297e2680f3d0f5d27db8a71e454f8ffa0945129760523dc9",
	} {
		key, err := ParseKey([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(key.Derive([]byte("0123456789abcdef"), "a")); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Derived keys differ by secret, salt and purpose.
func TestDerive(t *testing.T) {
	digits, words := strings.Repeat("0123456789abcdef", 4), "correct horse battery staple"
	seen := map[string]bool{}
	for _, text := range []string{digits, strings.Replace(digits, "0", "1", 1), words} {
		for _, salt := range [][]byte{nil, []byte("0123456789abcdef")} {
			for _, purpose := range []string{"a", "b"} {
				key, err := ParseKey([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				derived := key.Derive(salt, purpose)
				if len(derived) != KeySize || seen[string(derived)] || !bytes.Equal(derived, key.Derive(salt, purpose)) {
					t.Errorf("%q %q %q: %x", text, salt, purpose, derived)
				}
				seen[string(derived)] = true
			}
		}
	}
}
