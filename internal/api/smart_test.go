package api

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/testnode"
	"anodyne.example/anodyne/internal/webhook"
)

// signer signs the assertions of a client.
type signer struct {
	key *ecdsa.PrivateKey
	kid string
	n   atomic.Int64
}

func newSigner(tb testing.TB, kid string) *signer {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return &signer{key: key, kid: kid}
}

// jwks returns the public key as a set.
func (s *signer) jwks(tb testing.TB) []byte {
	tb.Helper()
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &s.key.PublicKey, KeyID: s.kid, Use: "sig", Algorithm: "ES384"}}})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func oauthRSA(tb testing.TB) *rsa.PrivateKey {
	tb.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// signs registers the key of a signer for the caller.
func (c *caller) signs(s *signer) {
	c.tb.Helper()
	keys, err := oauth.ReadKeys(s.jwks(c.tb))
	if err == nil {
		err = c.store.System().AddKeys(context.Background(), c.client.ID, keys)
	}
	if err != nil {
		c.tb.Fatal(err)
	}
}

// assertion returns a new assertion for an audience.
func (c *caller) assertion(s *signer, audience string) string {
	c.tb.Helper()
	with, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES384, Key: jose.JSONWebKey{Key: crypto.Signer(s.key), KeyID: s.kid}}, nil)
	if err != nil {
		c.tb.Fatal(err)
	}
	who := c.client.ID.String()
	text, err := jwt.Signed(with).Claims(map[string]any{
		"iss": who, "sub": who, "aud": audience, "exp": c.clock.now().Add(time.Minute).Unix(), "jti": fmt.Sprint(s.kid, s.n.Add(1)),
	}).Serialize()
	if err != nil {
		c.tb.Fatal(err)
	}
	return text
}

// sameAddress starts another node behind the address of this one.
func (n *node) sameAddress() *node {
	n.tb.Helper()
	other := n.another()
	other.api.base = func(*http.Request) string { return n.url }
	return other
}

// signed returns a form with an assertion.
func (c *caller) signed(s *signer, more ...string) url.Values {
	c.tb.Helper()
	fields := url.Values{"client_assertion_type": {jwtBearer}, "client_assertion": {c.assertion(s, c.url+"/oauth/token")}}
	for i := 0; i < len(more); i += 2 {
		fields.Set(more[i], more[i+1])
	}
	return fields
}

// as returns the caller with a token for a scope, which it signed for.
func (c *caller) as(s *signer, scope string) *caller {
	c.tb.Helper()
	r := c.form("/oauth/token", c.signed(s, grantType, clientCredentials, "scope", scope)).is(http.StatusOK).json()
	if r["scope"] != scope || r["token_type"] != "Bearer" || r["expires_in"] != 3600.0 {
		c.tb.Errorf("asked for %q: %v", scope, r)
	}
	with := *c
	with.token = r["access_token"].(string)
	return &with
}

func TestTokenByAssertion(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, s := n.caller("north"), newSigner(t, "k")
		c.signs(s)
		reader := c.as(s, "patients:read")
		reader.get("/v1/patients").is(http.StatusOK)
		all := c.form("/oauth/token", c.signed(s, grantType, clientCredentials, "client_id", c.client.ID.String())).is(http.StatusOK).json()
		if all["scope"] != access.AllScopes.String() {
			t.Errorf("without a scope: %v", all["scope"])
		}

		// Introspection and revocation take assertions as well, for the same
		// audience.
		seen := c.form("/oauth/introspect", c.signed(s, "token", reader.token)).is(http.StatusOK).json()
		if seen["active"] != true || seen["scope"] != "patients:read" {
			t.Errorf("introspected: %v", seen)
		}
		c.form("/oauth/revoke", c.signed(s, "token", reader.token)).is(http.StatusOK)
		if seen := c.form("/oauth/introspect", c.credentials("token", reader.token)).is(http.StatusOK).json(); seen["active"] != false {
			t.Errorf("after its revocation: %v", seen)
		}

		// A used assertion, another type, and two ways at once.
		used := c.signed(s, grantType, clientCredentials)
		c.form("/oauth/token", used).is(http.StatusOK)
		for _, at := range []*node{n, n.sameAddress()} {
			if r := at.form("/oauth/token", used); r.fault(http.StatusUnauthorized, fault.InvalidClient)["oauth_error"] != "invalid_client" || !strings.Contains(r.message(), "used before") {
				t.Errorf("replayed: %s", r.message())
			}
		}
		for name, change := range map[string]func(url.Values){
			"another type": func(f url.Values) {
				f.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:saml2-bearer")
			},
			"no type": func(f url.Values) { f.Del("client_assertion_type") },
			"another audience": func(f url.Values) {
				f.Set("client_assertion", c.assertion(s, "https://elsewhere.example/oauth/token"))
			},
			"the audience of a proxy": func(f url.Values) { f.Set("client_assertion", c.assertion(s, c.url+"/oauth/introspect")) },
			"huge":                    func(f url.Values) { f.Set("client_assertion", strings.Repeat("x", 100_000)) },
		} {
			f := c.signed(s, grantType, clientCredentials)
			change(f)
			if got := c.form("/oauth/token", f).fault(http.StatusUnauthorized, fault.InvalidClient)["oauth_error"]; got != "invalid_client" {
				t.Errorf("%s: %v", name, got)
			}
		}
		for name, f := range map[string]url.Values{
			"secret": c.signed(s, grantType, clientCredentials, "client_secret", c.secret), "no assertion": c.signed(s, "client_assertion", ""),
		} {
			if got := c.form("/oauth/token", f).fault(http.StatusBadRequest, fault.InvalidParameter)["oauth_error"]; got != "invalid_request" {
				t.Errorf("%s: %v", name, got)
			}
		}
		c.form("/oauth/token", c.signed(s, grantType, clientCredentials), "Authorization", basicHeader(c.client.ID.String(), c.secret)).is(http.StatusBadRequest)
		twice := c.signed(s, grantType, clientCredentials)
		twice.Add("client_assertion", "x")
		c.form("/oauth/token", twice).is(http.StatusBadRequest)
		c.form("/oauth/token", c.signed(s)).fault(http.StatusBadRequest, fault.InvalidParameter) // no grant_type
		c.form("/oauth/token", c.signed(s, grantType, clientCredentials, "scope", "system/Encounter.rs")).fault(http.StatusBadRequest, fault.InvalidScope)
	})
}

// Bad assertions count for the address like bad secrets, and never keep a
// valid one out.
func TestBadAssertionsAreThrottled(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		defer n.clock.stop()()
		c, s := n.caller("north"), newSigner(t, "k")
		c.signs(s)
		bad := c.signed(newSigner(t, "k"), grantType, clientCredentials)
		_, before, _ := c.form("/oauth/token", bad).is(http.StatusUnauthorized).limits()
		if _, after, _ := c.form("/oauth/token", bad).is(http.StatusUnauthorized).limits(); after != before-1 {
			t.Errorf("%d requests are left after %d", after, before)
		}
		for before > 0 {
			before--
			c.form("/oauth/token", url.Values{"client_assertion": {"x"}, "client_assertion_type": {jwtBearer}})
		}
		c.form("/oauth/token", bad).is(http.StatusTooManyRequests)
		c.form("/oauth/token", c.signed(s, grantType, clientCredentials)).is(http.StatusOK)
	})
}

func TestSMARTScopesOfAToken(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, s := n.caller("north", access.DefaultScopes), newSigner(t, "k")
		c.signs(s)
		patient := c.create("Arlo Finch")
		observations := c.as(s, "system/Observation.rs")
		for _, path := range []string{"/v1/patients", "/v1/patients/" + patient, "/v1/patients/" + patient + "/clinical-data", "/v1/clinical-data", "/v1/analytics/outcomes"} {
			observations.get(path).is(http.StatusForbidden)
		}
		c.as(s, "system/*.rs").get("/v1/patients/" + patient + "/clinical-data").is(http.StatusOK)
		c.as(s, "system/*.rs").post("/v1/patients", "{}").is(http.StatusForbidden)
		c.as(s, "system/*.rs").get("/v1/analytics/outcomes").is(http.StatusForbidden)
		c.as(s, "system/Patient.rs system/Condition.rs system/Group.rs").get("/v1/patients").is(http.StatusOK)
		mixed := c.as(s, "analytics:read system/Observation.read")
		mixed.get("/v1/analytics/outcomes").is(http.StatusOK)

		seen := c.form("/oauth/introspect", c.credentials("token", mixed.token)).is(http.StatusOK).json()
		if seen["scope"] != "analytics:read system/Observation.read" {
			t.Errorf("introspected: %v", seen["scope"])
		}
		refused := c.form("/oauth/token", c.credentials(grantType, clientCredentials, "scope", "system/*.cruds"))
		if refused.fault(http.StatusBadRequest, fault.InvalidScope)["oauth_error"] != "invalid_scope" || !strings.Contains(refused.message(), "patients:erase") {
			t.Errorf("more than the client has: %s", refused.message())
		}
		p, err := n.authority.Verify(context.Background(), []string{"Bearer " + observations.token})
		if err != nil || !p.MayFHIR("Observation", access.FHIRRead|access.FHIRSearch) || p.MayFHIR("Observation", access.FHIRCreate) || p.MayFHIR("MedicationRequest", access.FHIRRead) || p.Scopes != 0 {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestParallelReplayIssuesOneToken(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, s := n.caller("north"), newSigner(t, "k")
		c.signs(s)
		f := c.signed(s, grantType, clientCredentials)
		nodes := []*node{n, n.sameAddress()}
		var tokens, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				switch r := nodes[i%2].form("/oauth/token", f); r.status {
				case http.StatusOK:
					tokens.Add(1)
				case http.StatusUnauthorized:
					refused.Add(1)
				default:
					t.Errorf("%d %s", r.status, r.body)
				}
			})
		}
		all.Wait()
		if tokens.Load() != 1 || refused.Load() != 63 {
			t.Errorf("%d tokens and %d refusals, want 1 and 63", tokens.Load(), refused.Load())
		}
	})
}

// keysServer serves a set of keys over TLS, and returns a sender that trusts
// it and may connect to these networks.
func keysServer(t *testing.T, handler http.HandlerFunc, allow ...netip.Prefix) (uri string, sender *webhook.Sender) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(roots, text, 0o600); err != nil {
		t.Fatal(err)
	}
	sender, err := webhook.NewSender(webhook.Config{Version: "test", CAFile: roots, Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	return server.URL + "/jwks.json", sender
}

// fetchBy reads keys as internal/server does.
func fetchBy(sender *webhook.Sender) oauth.FetchKeys {
	return func(ctx context.Context, uri string) ([]byte, string, error) {
		d, err := sender.Fetch(ctx, uri, oauth.KeysLimit, 5*time.Second)
		return d.Body, d.CacheControl, err
	}
}

func TestKeysAtAURL(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, s := n.caller("north"), newSigner(t, "published")
		var status atomic.Int64
		status.Store(http.StatusOK)
		uri, sender := keysServer(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(int(status.Load()))
			_, _ = w.Write(s.jwks(t))
		}, netip.MustParsePrefix("127.0.0.0/8"))
		n.authority.FetchFrom(fetchBy(sender), n.database.Log)
		if err := n.store.System().SetKeysURI(context.Background(), c.client.ID, uri); err != nil {
			t.Fatal(err)
		}
		c.as(s, "patients:read").get("/v1/patients").is(http.StatusOK)

		status.Store(http.StatusFound) // redirects are not followed
		n.clock.forward(10 * time.Minute)
		if r := c.form("/oauth/token", c.signed(s, grantType, clientCredentials)); r.status != http.StatusUnauthorized || !strings.Contains(r.message(), "jwks_uri cannot be read") {
			t.Errorf("%d %s", r.status, r.body)
		}

		// Another node may not connect to internal addresses.
		guarded := n.sameAddress()
		uri, sender = keysServer(t, func(w http.ResponseWriter, _ *http.Request) { t.Error("connected"); _, _ = w.Write(s.jwks(t)) })
		guarded.authority.FetchFrom(fetchBy(sender), n.database.Log)
		if err := n.store.System().SetKeysURI(context.Background(), c.client.ID, uri); err != nil {
			t.Fatal(err)
		}
		r := guarded.form("/oauth/token", c.signed(s, grantType, clientCredentials))
		if r.status != http.StatusUnauthorized || !strings.Contains(r.message(), "jwks_uri cannot be read") || strings.Contains(string(r.body), "127.0.0.1") {
			t.Errorf("%d %s", r.status, r.body)
		}
	})
}

func TestSMARTConfiguration(t *testing.T) {
	eachWith(t, func(cfg *Config) { cfg.BaseURL = "https://api.example.org" }, func(t *testing.T, n *node) {
		root := n.send("GET", "/.well-known/smart-configuration", "").is(http.StatusOK)
		below := n.send("GET", "/fhir/R4/.well-known/smart-configuration", "").is(http.StatusOK)
		if string(root.body) != string(below.body) {
			t.Errorf("%s\n%s", root.body, below.body)
		}
		r := root.json()
		for name, want := range map[string]string{
			"token_endpoint": "https://api.example.org/oauth/token", "token_endpoint_auth_methods_supported": "private_key_jwt", "token_endpoint_auth_signing_alg_values_supported": "[RS384 ES384]",
			"grant_types_supported": "[client_credentials]", "capabilities": "client-confidential-asymmetric", "scopes_supported": "system/*.rs",
		} {
			if got := fmt.Sprint(r[name]); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	})
}

// An OAuth library for JavaScript, as published, gets a token with a key.
func TestPrivateKeyJWTOfALibrary(t *testing.T) {
	project := testnode.New(t)
	project.Write("token.mjs", `
import * as oauth from 'oauth4webapi'
const [base, id, ec, rsa] = process.argv.slice(2)
const insecure = { [oauth.allowInsecureRequests]: true }
const issuer = new URL(base)
const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }))
for (const [jwk, algorithm] of [[ec, { name: 'ECDSA', namedCurve: 'P-384' }], [rsa, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' }]]) {
  const kid = JSON.parse(jwk).kid
  const key = await crypto.subtle.importKey('jwk', JSON.parse(jwk), algorithm, false, ['sign'])
  for (const options of [undefined, { [oauth.modifyAssertion]: (header, payload) => { payload.aud = as.token_endpoint } }]) {
    const client = { client_id: id }
    const response = await oauth.clientCredentialsGrantRequest(as, client, oauth.PrivateKeyJwt({ key, kid }, options), { scope: 'system/Patient.rs' }, insecure)
    const token = await oauth.processClientCredentialsResponse(as, client, response)
    console.log(token.token_type, token.expires_in, token.scope, token.access_token.slice(0, 3))
  }
}
`)
	each(t, func(t *testing.T, n *node) {
		c, s := n.caller("north"), newSigner(t, "ec")
		c.signs(s)
		rsaKey := oauthRSA(t)
		set, err := json.Marshal(jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "rsa"})
		if err != nil {
			t.Fatal(err)
		}
		keys, err := oauth.ReadKeys(set)
		if err == nil {
			err = c.store.System().AddKeys(context.Background(), c.client.ID, keys)
		}
		if err != nil {
			t.Fatal(err)
		}
		private := func(key any, kid string) string {
			text, err := json.Marshal(jose.JSONWebKey{Key: key, KeyID: kid})
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		got := project.Run("node", "token.mjs", n.url, c.client.ID.String(), private(s.key, "ec"), private(rsaKey, "rsa"))
		if want := strings.Repeat("bearer 3600 system/Patient.rs at_\n", 4); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	})
}
