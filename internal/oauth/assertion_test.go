package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/storetest"
)

// testKeys are made once; RSA keys take a while.
var testKeys = sync.OnceValue(func() (k struct {
	rsa, weak    *rsa.PrivateKey
	ec, other    *ecdsa.PrivateKey
	p256         *ecdsa.PrivateKey
	ecID, rsaKID string
}) {
	var errs [5]error
	k.rsa, errs[0] = rsa.GenerateKey(rand.Reader, 2048)
	k.ec, errs[1] = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	k.other, errs[2] = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	k.p256, errs[3] = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	k.weak, errs[4] = rsa.GenerateKey(rand.Reader, 1024)
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
	k.ecID, k.rsaKID = "ec-1", "rsa-1"
	return k
})

// jwks returns a set with public keys, by kid.
func jwks(t testing.TB, keys map[string]crypto.PublicKey) []byte {
	t.Helper()
	var set jose.JSONWebKeySet
	for kid, key := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key, KeyID: kid, Use: "sig"})
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

const (
	endpoint = "https://pain.example/oauth/token"
	issuer   = "https://pain.example"
)

var audience = []string{endpoint, issuer}

// draft is an assertion before it is signed.
type draft struct {
	header map[jose.HeaderKey]any
	claims map[string]any
	key    any
	alg    jose.SignatureAlgorithm
	kid    string
}

var drafts atomic.Int64

func (w *world) draft() *draft {
	who := w.client.ID.String()
	return &draft{
		claims: map[string]any{"iss": who, "sub": who, "aud": endpoint, "exp": w.clock.now().Add(5 * time.Minute).Unix(), "jti": fmt.Sprint("jti-", drafts.Add(1))},
		key:    testKeys().ec, alg: jose.ES384, kid: testKeys().ecID,
	}
}

func (d *draft) with(claim string, value any) *draft {
	if d.claims[claim] = value; value == nil {
		delete(d.claims, claim)
	}
	return d
}

func (d *draft) sign(t testing.TB) string {
	t.Helper()
	options := &jose.SignerOptions{ExtraHeaders: d.header}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: d.alg, Key: jose.JSONWebKey{Key: d.key, KeyID: d.kid}}, options)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(signer).Claims(d.claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// addKeys registers the EC and the RSA key of the world's client.
func (w *world) addKeys() {
	w.t.Helper()
	k := testKeys()
	keys, err := ReadKeys(jwks(w.t, map[string]crypto.PublicKey{k.ecID: &k.ec.PublicKey, k.rsaKID: &k.rsa.PublicKey}))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.System().AddKeys(context.Background(), w.client.ID, keys); err != nil {
		w.t.Fatal(err)
	}
}

// shows returns "" if the assertion is accepted, and the description of the
// error otherwise.
func (w *world) shows(a *Authority, assertion string) string {
	w.t.Helper()
	c, err := a.AuthenticateAssertion(context.Background(), "", assertion, audience)
	if err == nil {
		if c.ID != w.client.ID {
			w.t.Fatalf("authenticated %s, want %s", c.ID, w.client.ID)
		}
		return ""
	}
	f, ok := err.(*fault.Error)
	if !ok || f.Code != fault.InvalidClient || f.Details["oauth_error"] != "invalid_client" {
		w.t.Fatalf("%v is not an invalid_client", err)
	}
	return f.Message
}

func TestGoodAssertions(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		w.addKeys()
		k := testKeys()
		rs := w.draft()
		rs.key, rs.alg, rs.kid = k.rsa, jose.RS384, k.rsaKID
		typed := w.draft()
		typed.header = map[jose.HeaderKey]any{"typ": "JWT"}
		now := w.clock.now()
		for name, d := range map[string]*draft{
			"ES384": w.draft(), "RS384": rs, "typ": typed,
			"issuer as audience": w.draft().with("aud", issuer), "list": w.draft().with("aud", []string{endpoint}), "both": w.draft().with("aud", []string{issuer, endpoint}),
			"nbf and iat": w.draft().with("nbf", now.Unix()).with("iat", now.Unix()), "a clock a little ahead": w.draft().with("exp", now.Add(5*time.Minute+5*time.Second).Unix()).with("iat", now.Add(5*time.Second).Unix()),
			"short": w.draft().with("exp", now.Add(2*time.Second).Unix()), "long jti": w.draft().with("jti", strings.Repeat("j", 3000)),
		} {
			if said := w.shows(w.Authority, d.sign(t)); said != "" {
				t.Errorf("%s: %s", name, said)
			}
		}
		who := w.client.ID.String()
		if _, err := w.AuthenticateAssertion(context.Background(), who, w.draft().sign(t), audience); err != nil {
			t.Errorf("with client_id: %v", err)
		}
		if c := storetest.ClientOf(t, w.store, w.client.ID); !c.LastUsedAt.Equal(now.Truncate(time.Millisecond)) {
			t.Errorf("last used %v, want %v", c.LastUsedAt, now)
		}
		if !w.authenticates(w.secret) {
			t.Error("the secret does not work beside the keys")
		}
	})
}

func TestBadAssertions(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		w.addKeys()
		k := testKeys()
		other, _ := w.register("south", access.AllScopes)
		theirs, err := ReadKeys(jwks(t, map[string]crypto.PublicKey{"theirs": &k.other.PublicKey}))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.System().AddKeys(context.Background(), other.ID, theirs); err != nil {
			t.Fatal(err)
		}
		now := w.clock.now()
		changed := func(change func(*draft)) *draft {
			d := w.draft()
			change(d)
			return d
		}
		const unknown = "has no key with the kid"
		for name, test := range map[string]struct {
			d    *draft
			want string
		}{
			"aud of another":       {w.draft().with("aud", "https://other.example/oauth/token"), "aud"},
			"aud of FHIR":          {w.draft().with("aud", issuer+"/fhir/R4"), "aud"},
			"aud with a slash":     {w.draft().with("aud", endpoint+"/"), "aud"},
			"aud of us and others": {w.draft().with("aud", []string{endpoint, "https://other.example/oauth/token"}), "aud"},
			"no aud":               {w.draft().with("aud", nil), "aud"},
			"empty aud":            {w.draft().with("aud", []string{}), "aud"},
			"expired":              {w.draft().with("exp", now.Unix()), "expired"},
			"expired long ago":     {w.draft().with("exp", 1), "expired"},
			"no exp":               {w.draft().with("exp", nil), "exp"},
			"exp too far":          {w.draft().with("exp", now.Add(5*time.Minute+12*time.Second).Unix()), "at most 5 minutes"},
			"exp never":            {w.draft().with("exp", 1e18), "at most 5 minutes"},
			"exp is text":          {w.draft().with("exp", "tomorrow"), "claims"},
			"nbf in the future":    {w.draft().with("nbf", now.Add(time.Minute).Unix()), "nbf"},
			"iat in the future":    {w.draft().with("iat", now.Add(time.Minute).Unix()), "iat"},
			"no jti":               {w.draft().with("jti", nil), "jti"},
			"empty jti":            {w.draft().with("jti", ""), "jti"},
			"iss is not sub":       {w.draft().with("iss", other.ID.String()), "iss and sub"},
			"sub is not iss":       {w.draft().with("sub", other.ID.String()), "iss and sub"},
			"no iss":               {w.draft().with("iss", nil).with("sub", nil), "iss and sub"},
			"unknown client":       {w.draft().with("iss", "cli_01kf14e860rxathabqv1je7gxh").with("sub", "cli_01kf14e860rxathabqv1je7gxh"), unknown},
			"malformed client":     {w.draft().with("iss", "someone").with("sub", "someone"), unknown},
			"unknown kid":          {changed(func(d *draft) { d.kid = "ec-2" }), unknown},
			"no kid":               {changed(func(d *draft) { d.kid = "" }), "no kid"},
			"another's key":        {changed(func(d *draft) { d.key, d.kid = k.other, "theirs" }), unknown},
			"our kid, other key":   {changed(func(d *draft) { d.key = k.other }), "signature"},
			"kid of the other alg": {changed(func(d *draft) { d.kid = k.rsaKID }), "signature"},
			"RS256":                {changed(func(d *draft) { d.key, d.alg, d.kid = k.rsa, jose.RS256, k.rsaKID }), "RS384 or ES384"},
			"PS384":                {changed(func(d *draft) { d.key, d.alg, d.kid = k.rsa, jose.PS384, k.rsaKID }), "RS384 or ES384"},
			"ES256":                {changed(func(d *draft) { d.key, d.alg = k.p256, jose.ES256 }), "RS384 or ES384"},
			"typ":                  {changed(func(d *draft) { d.header = map[jose.HeaderKey]any{"typ": "at+jwt"} }), "typ"},
			"jku":                  {changed(func(d *draft) { d.header = map[jose.HeaderKey]any{"jku": "https://evil.example/jwks"} }), "jku"},
			"crit":                 {changed(func(d *draft) { d.header = map[jose.HeaderKey]any{"crit": []string{"x"}, "x": 1} }), "signature"},
		} {
			if said := w.shows(w.Authority, test.d.sign(t)); !strings.Contains(said, test.want) {
				t.Errorf("%s: %q, want %q", name, said, test.want)
			}
		}
		good := w.draft().sign(t)
		header, rest, _ := strings.Cut(good, ".")
		claims, signature, _ := strings.Cut(rest, ".")
		encode := base64.RawURLEncoding.EncodeToString
		forged := func(head string, body string, sign func(input string) []byte) string {
			input := encode([]byte(head)) + "." + body
			return input + "." + encode(sign(input))
		}
		public := jwks(t, map[string]crypto.PublicKey{k.ecID: &k.ec.PublicKey})
		hs := func(input string) []byte {
			mac := hmac.New(sha512.New384, public)
			mac.Write([]byte(input))
			return mac.Sum(nil)
		}
		nothing := func(string) []byte { return nil }
		for name, text := range map[string]string{
			"nothing": "", "text": "x", "dots": "..", "five parts": good + ".x.y", "JSON form": `{"payload":"` + claims + `","signatures":[]}`, "not base64": good + "!", "cut": good[:len(good)-4],
			"alg none": forged(`{"alg":"none","kid":"ec-1"}`, claims, nothing), "alg None": forged(`{"alg":"None","kid":"ec-1"}`, claims, nothing), "no signature": header + "." + claims + ".",
			"HS384 with the public key": forged(`{"alg":"HS384","kid":"ec-1"}`, claims, hs), "signature of zeros": header + "." + claims + "." + encode(make([]byte, 96)),
			"other claims":     header + "." + encode([]byte(`{"iss":"`+w.client.ID.String()+`","sub":"`+w.client.ID.String()+`"}`)) + "." + signature,
			"claims not JSON":  header + "." + encode([]byte("x")) + "." + signature,
			"claims of a list": header + "." + encode([]byte("[]")) + "." + signature,
			"key in the header": changed(func(d *draft) {
				d.key, d.kid, d.header = k.other, "x", map[jose.HeaderKey]any{"jwk": jose.JSONWebKey{Key: &k.other.PublicKey}}
			}).sign(t),
			"huge":           w.draft().with("more", strings.Repeat("x", 1<<20)).sign(t),
			"huge and wrong": strings.Repeat("A", 10<<20),
			"spaces":         " " + good,
		} {
			if w.shows(w.Authority, text) == "" {
				t.Errorf("%s is accepted", name)
			}
		}
		if said := w.shows(w.Authority, good); said != "" {
			t.Errorf("what others tried used up the assertion: %s", said)
		}
		if _, err := w.AuthenticateAssertion(context.Background(), other.ID.String(), w.draft().sign(t), audience); !fault.Is(err, fault.InvalidClient) {
			t.Errorf("with another client_id: %v", err)
		}
		if err := w.store.System().RemoveKey(context.Background(), w.client.ID, k.ecID); err != nil {
			t.Fatal(err)
		}
		if said := w.shows(w.Authority, w.draft().sign(t)); !strings.Contains(said, unknown) {
			t.Errorf("with a removed key: %q", said)
		}
		w.addKeys()
		if err := w.store.System().RevokeClient(context.Background(), w.client.ID); err == nil {
			if said := w.shows(w.Authority, w.draft().sign(t)); !strings.Contains(said, unknown) {
				t.Errorf("of a revoked client: %q", said)
			}
		}
	})
}

// An assertion is good once: on its node, on another, and after a restart.
func TestAssertionsAreUsedOnce(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		w.addKeys()
		d := w.draft()
		text := d.sign(t)
		if said := w.shows(w.Authority, text); said != "" {
			t.Fatal(said)
		}
		again := d.with("exp", w.clock.now().Add(4*time.Minute).Unix()).sign(t) // another assertion with the same jti
		restarted := New(w.store, w.clock.now)                                  // knows nothing but the database
		for name, a := range map[string]*Authority{"the same node": w.Authority, "another node": restarted} {
			for _, text := range []string{text, again} {
				if said := w.shows(a, text); !strings.Contains(said, "used before") {
					t.Errorf("at %s: %q", name, said)
				}
			}
		}
		w.clock.forward(4*time.Minute + 59*time.Second)
		if err := w.store.System().Purge(context.Background()); err != nil {
			t.Fatal(err)
		}
		if said := w.shows(w.Authority, text); !strings.Contains(said, "used before") {
			t.Errorf("before its end, after a purge: %q", said)
		}
		w.clock.forward(time.Second)
		if said := w.shows(w.Authority, text); !strings.Contains(said, "expired") {
			t.Errorf("at its end: %q", said)
		}
		if other, _ := w.register("south", access.AllScopes); other != nil { // its own jtis
			keys, _ := ReadKeys(jwks(t, map[string]crypto.PublicKey{"k": &testKeys().other.PublicKey}))
			if err := w.store.System().AddKeys(context.Background(), other.ID, keys); err != nil {
				t.Fatal(err)
			}
			jti := d.claims["jti"]
			w.client = other
			theirs := w.draft().with("jti", jti)
			theirs.key, theirs.kid = testKeys().other, "k"
			if said := w.shows(w.Authority, theirs.sign(t)); said != "" {
				t.Errorf("another client's jti: %s", said)
			}
		}
	})
}

func TestParallelReplay(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		w.addKeys()
		nodes := []*Authority{w.Authority, New(w.store, w.clock.now), New(w.store, w.clock.now)}
		text := w.draft().sign(t)
		var accepted, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				switch _, err := nodes[i%len(nodes)].AuthenticateAssertion(context.Background(), "", text, audience); {
				case err == nil:
					accepted.Add(1)
				case fault.Is(err, fault.InvalidClient):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if accepted.Load() != 1 || refused.Load() != 63 {
			t.Errorf("%d accepted, %d refused; want 1 and 63", accepted.Load(), refused.Load())
		}
	})
}
