package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"

	"anodyne.example/anodyne/internal/store/clients"
)

// KeysLimit is how many bytes a set of keys may have.
const KeysLimit = 64 << 10

// Limits of a key. The upper ones bound the work of verifying a signature.
const (
	minRSABits = 2048
	maxRSABits = 8192
	longestKID = 200
)

// signatures are the algorithms that assertions may be signed with.
var signatures = []jose.SignatureAlgorithm{jose.RS384, jose.ES384}

// jwk is the part of a JSON Web Key that is read. Certificates in it are
// ignored: the registration is what makes a key trusted.
type jwk struct {
	Type      string   `json:"kty"`
	ID        string   `json:"kid,omitempty"`
	Algorithm string   `json:"alg,omitempty"`
	Use       string   `json:"use,omitempty"`
	Ops       []string `json:"key_ops,omitempty"`
	Curve     string   `json:"crv,omitempty"`
	X         string   `json:"x,omitempty"`
	Y         string   `json:"y,omitempty"`
	N         string   `json:"n,omitempty"`
	E         string   `json:"e,omitempty"`
}

// ReadKeys reads public keys to be registered from a JSON Web Key Set, or from
// a single JSON Web Key. Every key must be usable; the error says which one is
// not, and why.
func ReadKeys(text []byte) ([]clients.Key, error) {
	list, err := splitSet(text)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("the set contains no keys")
	}
	if len(list) > clients.MaxKeys {
		return nil, fmt.Errorf("the set contains %d keys; a client can have %d", len(list), clients.MaxKeys)
	}
	var keys []clients.Key
	for i, raw := range list {
		key, _, err := readKey(raw)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		if slices.ContainsFunc(keys, func(other clients.Key) bool { return other.ID == key.ID }) {
			return nil, fmt.Errorf("key %d: another key of the set has the kid %q", i+1, key.ID)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// splitSet returns the keys of a set, or a single key.
func splitSet(text []byte) ([]json.RawMessage, error) {
	if len(text) > KeysLimit {
		return nil, fmt.Errorf("the set has more than %d bytes", KeysLimit)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
		Type string            `json:"kty"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New(`this is not a JSON Web Key Set; want {"keys": [...]}`)
	}
	if set.Keys == nil && set.Type != "" {
		return []json.RawMessage{text}, nil
	}
	if set.Keys == nil {
		return nil, errors.New(`there is no list "keys"; want {"keys": [...]}`)
	}
	return set.Keys, nil
}

// readKey reads one public key.
func readKey(raw json.RawMessage) (key clients.Key, public crypto.PublicKey, err error) {
	var secret map[string]json.RawMessage
	if err := json.Unmarshal(raw, &secret); err != nil {
		return key, nil, errors.New("is not a JSON object")
	}
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		if _, found := secret[name]; found {
			return key, nil, fmt.Errorf("contains a private or secret key (%q); register the public key only, and replace this one, because it has left your system", name)
		}
	}
	var k jwk
	if err := json.Unmarshal(raw, &k); err != nil {
		return key, nil, errors.New("is not a JSON Web Key: kid, kty, alg, use, crv, x, y, n and e are text, key_ops is a list of text")
	}
	if err := checkKID(k.ID); err != nil {
		return key, nil, err
	}
	if k.Use != "" && k.Use != "sig" {
		return key, nil, fmt.Errorf("%q is for use %q; want a key for signatures (sig)", k.ID, k.Use)
	}
	if k.Ops != nil && !slices.Contains(k.Ops, "verify") {
		return key, nil, fmt.Errorf("%q has key_ops without verify", k.ID)
	}
	key.ID, key.Algorithm = k.ID, algorithmOf(k)
	if key.Algorithm == "" {
		return key, nil, fmt.Errorf("%q is not a key for RS384 or ES384; want an RSA key or an EC key on the curve P-384", k.ID)
	}
	if k.Algorithm != "" && k.Algorithm != key.Algorithm {
		return key, nil, fmt.Errorf("%q has alg %q; want %s", k.ID, k.Algorithm, key.Algorithm)
	}
	if public, err = k.public(); err != nil {
		return key, nil, err
	}
	parsed := jose.JSONWebKey{Key: public}
	thumbprint, err := parsed.Thumbprint(crypto.SHA256)
	if err != nil {
		return key, nil, fmt.Errorf("%q: %w", k.ID, err)
	}
	key.Thumbprint = base64.RawURLEncoding.EncodeToString(thumbprint)
	kept, err := parsed.MarshalJSON()
	key.JWK = string(kept)
	return key, public, err
}

func checkKID(kid string) error {
	switch {
	case kid == "":
		return errors.New("has no kid; give every key its own")
	case len(kid) > longestKID || !utf8.ValidString(kid):
		return fmt.Errorf("has a kid of more than %d bytes", longestKID)
	}
	for _, r := range kid {
		if !unicode.IsGraphic(r) {
			return errors.New("has a kid with invisible characters")
		}
	}
	return nil
}

// algorithmOf returns the algorithm for which a key can be used, or "".
func algorithmOf(k jwk) string {
	switch {
	case k.Type == "RSA":
		return string(jose.RS384)
	case k.Type == "EC" && k.Curve == "P-384":
		return string(jose.ES384)
	}
	return ""
}

// public returns the key itself, if it is strong enough.
func (k jwk) public() (crypto.PublicKey, error) {
	// The length bounds the work of parsing.
	if base64.RawURLEncoding.DecodedLen(len(k.N)) > maxRSABits/8+1 {
		return nil, fmt.Errorf("%q has more than %d bits", k.ID, maxRSABits)
	}
	bare, err := json.Marshal(jwk{Type: k.Type, Curve: k.Curve, X: k.X, Y: k.Y, N: k.N, E: k.E})
	if err != nil {
		return nil, err
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(bare); err != nil || !parsed.Valid() {
		return nil, fmt.Errorf("%q is not a valid %s key", k.ID, k.Type)
	}
	switch public := parsed.Key.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return nil, fmt.Errorf("%q has %d bits; want %d to %d", k.ID, bits, minRSABits, maxRSABits)
		}
		if public.E < 3 || public.E%2 == 0 {
			return nil, fmt.Errorf("%q has the exponent %d; want an odd number of 3 or more, usually 65537", k.ID, public.E)
		}
		return public, nil
	case *ecdsa.PublicKey:
		if public.Curve != elliptic.P384() {
			return nil, fmt.Errorf("%q is not on the curve P-384", k.ID)
		}
		return public, nil
	}
	return nil, fmt.Errorf("%q is not a public key", k.ID)
}

// stored returns a registered key.
func stored(key clients.Key) (crypto.PublicKey, error) {
	var k jwk
	if err := json.Unmarshal([]byte(key.JWK), &k); err != nil {
		return nil, fmt.Errorf("the stored key %q: %w", key.ID, err)
	}
	k.ID = key.ID
	return k.public()
}
