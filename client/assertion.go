package client

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha512" // SHA-384
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"time"
)

const (
	jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

	// assertionLifetime is how long an assertion is valid. The service permits
	// five minutes; the rest is for clocks that differ.
	assertionLifetime = 2 * time.Minute

	// p384Bytes is the length of each half of an ES384 signature.
	p384Bytes = 48
)

// privateKey signs assertions.
type privateKey struct {
	id        string
	algorithm string
	signer    crypto.Signer
	err       error // reported by the first call
}

// WithPrivateKey authenticates with a key pair instead of the client secret,
// which is then not used and can be "" (private_key_jwt, as in SMART Backend
// Services). keyID is the kid with which the public key is registered. The key
// must be RSA with at least 2048 bits (signed with RS384), or ECDSA on the curve
// P-384 (ES384); the first call returns an error for any other. The key may be in a
// hardware module: only its Public and Sign methods are used.
func WithPrivateKey(keyID string, key crypto.Signer) Option {
	return func(c *Client) { c.key = newPrivateKey(keyID, key) }
}

func newPrivateKey(keyID string, key crypto.Signer) *privateKey {
	k := &privateKey{id: keyID, signer: key}
	if keyID == "" || key == nil {
		k.err = errors.New("anodyne: a private key needs its key ID and a signer")
		return k
	}
	switch public := key.Public().(type) {
	case *rsa.PublicKey:
		if k.algorithm = "RS384"; public.Size() < 256 {
			k.err = errors.New("anodyne: the RSA key must have at least 2048 bits")
		}
	case *ecdsa.PublicKey:
		if k.algorithm = "ES384"; public.Curve != elliptic.P384() {
			k.err = errors.New("anodyne: the ECDSA key must be on the curve P-384")
		}
	default:
		k.err = fmt.Errorf("anodyne: a key of type %T cannot sign; use RSA, or ECDSA on the curve P-384", public)
	}
	return k
}

// authenticate completes the form of an OAuth call with the credentials of the
// client. An assertion is accepted once, so each attempt has its own.
func (c *Client) authenticate(call *call) error {
	form := url.Values{}
	for name, values := range call.body.(url.Values) {
		form[name] = values
	}
	form.Set("client_id", c.id)
	if c.key == nil {
		form.Set("client_secret", c.secret)
	} else {
		assertion, err := c.key.assertion(c.id, c.base+"/oauth/token", time.Now().Add(assertionLifetime))
		if err != nil {
			return fmt.Errorf("anodyne: %s: sign the assertion: %w", call.op, err)
		}
		form.Set("client_assertion_type", jwtBearer)
		form.Set("client_assertion", assertion)
	}
	call.payload = []byte(form.Encode())
	return nil
}

// assertion returns a signed JWT of a client for an audience.
func (k *privateKey) assertion(clientID, audience string, expiry time.Time) (string, error) {
	if k.err != nil {
		return "", k.err
	}
	header, err := encodePart(map[string]any{"alg": k.algorithm, "typ": "JWT", "kid": k.id})
	if err != nil {
		return "", err
	}
	claims, err := encodePart(map[string]any{"iss": clientID, "sub": clientID, "aud": audience, "exp": expiry.Unix(), "jti": rand.Text()})
	if err != nil {
		return "", err
	}
	signed := header + "." + claims
	signature, err := k.sign([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

func encodePart(part any) (string, error) {
	text, err := json.Marshal(part)
	return base64.RawURLEncoding.EncodeToString(text), err
}

// sign returns the signature as JWS has it: for ECDSA, the two numbers one after
// the other.
func (k *privateKey) sign(text []byte) ([]byte, error) {
	hash := crypto.SHA384.New()
	hash.Write(text)
	signature, err := k.signer.Sign(rand.Reader, hash.Sum(nil), crypto.SHA384)
	if err != nil || k.algorithm == "RS384" {
		return signature, err
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &pair); err != nil {
		return nil, err
	}
	joined := make([]byte, 2*p384Bytes)
	pair.R.FillBytes(joined[:p384Bytes])
	pair.S.FillBytes(joined[p384Bytes:])
	return joined, nil
}
