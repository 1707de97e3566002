package client_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/client"
)

// Each attempt of a token request has an assertion of its own, signed with the
// key, and no secret.
func TestPrivateKey(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for algorithm, key := range map[string]crypto.Signer{"RS384": rsaKey, "ES384": ecKey} {
		synctest.Test(t, func(t *testing.T) {
			used := map[string]bool{}
			h := &http.Client{Transport: transport(func(w http.ResponseWriter, r *http.Request) {
				if r.FormValue("client_secret") != "" || r.FormValue("client_id") != "cli_1" || r.FormValue("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" {
					t.Errorf("the form is %v", r.Form)
				}
				used[verified(t, r.FormValue("client_assertion"), algorithm, key.Public())] = true
				if len(used) == 1 {
					w.Header().Set("Retry-After", "1")
					refuse(w, http.StatusServiceUnavailable, client.CodeServiceUnavailable, nil)
					return
				}
				answer(w, http.StatusOK, map[string]any{"access_token": "at_1", "token_type": "Bearer", "active": true})
			})}
			c := client.New("http://peer.test/", "cli_1", "cs_1", client.WithHTTPClient(h), client.WithPrivateKey("key-1", key))
			if _, err := c.Token(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Introspect(t.Context(), "at_1"); err != nil {
				t.Fatal(err)
			}
			if err := c.Revoke(t.Context(), "at_1"); err != nil {
				t.Fatal(err)
			}
			if len(used) != 4 {
				t.Errorf("%d assertions in four requests", len(used))
			}
		})
	}
}

// verified checks an assertion and returns its jti.
func verified(t *testing.T, assertion, algorithm string, key crypto.PublicKey) string {
	t.Helper()
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no JWT", assertion)
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			t.Fatal(err)
		}
	}
	var header struct{ Alg, Typ, Kid string }
	var claims struct {
		Iss, Sub, Aud, Jti string
		Exp                int64
	}
	for i, into := range []any{&header, &claims} {
		if err := json.Unmarshal(decoded[i], into); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(header.Alg, header.Typ, header.Kid); got != algorithm+"JWTkey-1" {
		t.Errorf("the header is %s", decoded[0])
	}
	if left := time.Until(time.Unix(claims.Exp, 0)); claims.Iss != "cli_1" || claims.Sub != "cli_1" || claims.Aud != "http://peer.test/oauth/token" || left <= 0 || left > 5*time.Minute {
		t.Errorf("the claims are %s", decoded[1])
	}
	sum, signature := sha512.Sum384([]byte(parts[0]+"."+parts[1])), decoded[2]
	switch key := key.(type) {
	case *rsa.PublicKey:
		if err := rsa.VerifyPKCS1v15(key, crypto.SHA384, sum[:], signature); err != nil {
			t.Error(err)
		}
	case *ecdsa.PublicKey:
		if len(signature) != 96 || !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signature[:48]), new(big.Int).SetBytes(signature[48:])) {
			t.Error("the signature is wrong")
		}
	}
	return claims.Jti
}

// A key that the service would not accept is reported before anything is sent.
func TestUnusableKeys(t *testing.T) {
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Client{Transport: transport(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })}
	for want, option := range map[string]client.Option{
		"P-384":             client.WithPrivateKey("k", p256),
		"ed25519.PublicKey": client.WithPrivateKey("k", edwards),
		"key ID":            client.WithPrivateKey("", p256),
		"a signer":          client.WithPrivateKey("k", nil),
	} {
		c := client.New("http://peer.test", "cli_1", "", client.WithHTTPClient(h), option)
		if _, err := c.Token(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want something about %s", err, want)
		}
	}
}
