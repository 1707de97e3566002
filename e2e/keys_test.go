package e2e

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
)

// keyPairs are an RSA key and one on the curve P-384, by kid.
func keyPairs(t *testing.T) map[string]crypto.Signer {
	t.Helper()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]crypto.Signer{"rsa-1": rsaKey, "ec-1": ecKey}
}

// privatePEM returns a private RSA key as openssl writes it.
func privatePEM(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(keyPairs(t)["rsa-1"])
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// keySet returns a JSON Web Key Set of private keys, or of their public keys.
func keySet(t *testing.T, pairs map[string]crypto.Signer, private bool) string {
	t.Helper()
	var set jose.JSONWebKeySet
	for kid, key := range pairs {
		k := jose.JSONWebKey{Key: key, KeyID: kid, Use: "sig"}
		if !private {
			k.Key = key.Public()
		}
		set.Keys = append(set.Keys, k)
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// registerKeys gives an application keys.
func (s *service) registerKeys(t *testing.T, app application, pairs map[string]crypto.Signer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(file, []byte(keySet(t, pairs, false)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must("client", "keys", app.ID, "--jwks", file)
}

// The Go client authenticates with registered keys of both kinds, and calls the
// API, introspects and revokes without a secret.
func TestClientSignsWithItsKey(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.SQLite)
	n := s.node(0)
	app, pairs := s.register("standard"), keyPairs(t)
	s.registerKeys(t, app, pairs)
	for kid, key := range pairs {
		t.Run(kid, func(t *testing.T) {
			c := n.as(application{ID: app.ID}, client.WithPrivateKey(kid, key))
			add(t, c, "Ada")
			token, err := c.Token(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if state, err := c.Introspect(t.Context(), token.AccessToken); err != nil || !state.Active {
				t.Errorf("%+v, %v", state, err)
			}
			if err := c.Revoke(t.Context(), token.AccessToken); err != nil {
				t.Error(err)
			}
			other := n.as(application{ID: app.ID}, client.WithPrivateKey("unknown", key))
			if _, err := other.Token(t.Context()); !client.IsCode(err, client.CodeInvalidClient) {
				t.Errorf("with an unknown key: %v", err)
			}
		})
	}
}
