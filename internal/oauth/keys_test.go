package oauth

import (
	"bytes"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/clients"
)

// published is a place at which a client publishes its keys.
type published struct {
	mu    sync.Mutex
	body  []byte
	cache string
	err   error
	reads int
}

func (p *published) fetch(context.Context, string) ([]byte, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads++
	return p.body, p.cache, p.err
}

func TestPublishedKeys(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		k := testKeys()
		place := &published{body: jwks(t, map[string]crypto.PublicKey{k.ecID: &k.ec.PublicKey})}
		w.FetchFrom(place.fetch, w.log)
		const uri = "https://ehr.example/jwks.json"
		if err := w.store.System().SetKeysURI(context.Background(), w.client.ID, uri); err != nil {
			t.Fatal(err)
		}
		accepts := func(d *draft, reads int, when string) {
			t.Helper()
			if said := w.shows(w.Authority, d.sign(t)); said != "" || place.reads != reads {
				t.Errorf("%s: %q after %d reads, want %d", when, said, place.reads, reads)
			}
		}
		refuses := func(d *draft, reads int, want, when string) {
			t.Helper()
			if said := w.shows(w.Authority, d.sign(t)); !strings.Contains(said, want) || place.reads != reads {
				t.Errorf("%s: %q after %d reads, want %q after %d", when, said, place.reads, want, reads)
			}
		}
		next := func() *draft {
			d := w.draft()
			d.key, d.kid = k.other, "ec-2"
			return d
		}
		accepts(w.draft(), 1, "first")
		accepts(w.draft(), 1, "again")
		named := w.draft()
		named.header = map[jose.HeaderKey]any{"jku": uri}
		accepts(named, 1, "with jku")
		for range 5 {
			refuses(next(), 1, "no key with the kid", "unknown kid within a minute")
		}
		// Rotation: the next key is published beside the old one, then alone.
		place.body = jwks(t, map[string]crypto.PublicKey{k.ecID: &k.ec.PublicKey, "ec-2": &k.other.PublicKey})
		w.clock.forward(time.Minute)
		accepts(next(), 2, "next key")
		accepts(w.draft(), 2, "old key beside it")
		place.body = jwks(t, map[string]crypto.PublicKey{"ec-2": &k.other.PublicKey})
		w.clock.forward(keysFresh)
		refuses(w.draft(), 3, "no key with the kid", "removed key")
		accepts(next(), 3, "the key that is left")
		// A place that cannot be read is not read again for a minute.
		place.err = fmt.Errorf("the receiver returned 500")
		w.clock.forward(keysFresh)
		refuses(next(), 4, "cannot be read", "unreadable")
		refuses(next(), 4, "cannot be read", "still unreadable")
		place.err, place.cache = nil, "max-age=90"
		w.clock.forward(time.Minute)
		accepts(next(), 5, "readable again")
		w.clock.forward(89 * time.Second)
		accepts(next(), 5, "within max-age")
		w.clock.forward(time.Second)
		accepts(next(), 6, "after max-age")
		place.body = []byte("<html>")
		w.clock.forward(keysFresh)
		refuses(next(), 7, "cannot be read", "not a set")
		// A registered key works without the place, and another address is
		// read at once.
		w.addKeys()
		accepts(w.draft(), 7, "registered key")
		place.body = jwks(t, map[string]crypto.PublicKey{"ec-2": &k.other.PublicKey})
		if err := w.store.System().SetKeysURI(context.Background(), w.client.ID, uri+"?2"); err != nil {
			t.Fatal(err)
		}
		accepts(next(), 8, "another address")
		if err := w.store.System().SetKeysURI(context.Background(), w.client.ID, ""); err != nil {
			t.Fatal(err)
		}
		refuses(next(), 8, "no key with the kid", "no address")
	})
}

// Whoever sends an assertion with an unknown kid makes a node read the keys
// again. If they cannot be read then, those from before are used while they are
// fresh, and no longer.
func TestPublishedKeysOutliveFailedRead(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		k := testKeys()
		place := &published{body: jwks(t, map[string]crypto.PublicKey{k.ecID: &k.ec.PublicKey})}
		w.FetchFrom(place.fetch, w.log)
		if err := w.store.System().SetKeysURI(context.Background(), w.client.ID, "https://ehr.example/jwks.json"); err != nil {
			t.Fatal(err)
		}
		says := func(d *draft, reads int, want, when string) {
			t.Helper()
			if said := w.shows(w.Authority, d.sign(t)); (want == "") != (said == "") || !strings.Contains(said, want) || place.reads != reads {
				t.Errorf("%s: %q after %d reads, want %q after %d", when, said, place.reads, want, reads)
			}
		}
		unknown := func() *draft {
			d := w.draft()
			d.kid = "other"
			return d
		}
		says(w.draft(), 1, "", "first")
		w.clock.forward(keysFresh - 10*time.Second)
		place.err = errors.New("the receiver returned 500")
		says(unknown(), 2, "cannot be read", "unknown kid")
		says(w.draft(), 2, "", "known kid, still fresh")
		w.clock.forward(10 * time.Second)
		says(w.draft(), 2, "cannot be read", "known kid, no longer fresh")
		w.clock.forward(50 * time.Second)
		says(w.draft(), 3, "cannot be read", "a minute after the last attempt")
		place.err = nil
		w.clock.forward(time.Minute)
		says(w.draft(), 4, "", "readable again")
	})
}

func TestFreshness(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": keysFresh, "max-age=120": 2 * time.Minute, "public, max-age=86400": keysFresh, "max-age=0": keysShortest, "no-store": keysShortest, "No-Cache, max-age=200": keysShortest,
		"max-age=x": keysFresh, `max-age="180"`: 3 * time.Minute, "s-maxage=100": keysFresh, "max-age=99999999999": keysFresh,
	} {
		if got := freshFor(header); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

func TestReadKeys(t *testing.T) {
	k := testKeys()
	private := func(key any, kid string) string {
		text, err := json.Marshal(jose.JSONWebKey{Key: key, KeyID: kid})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	ec := private(&k.ec.PublicKey, "a")
	for text, want := range map[string]string{
		"":                                 "not a JSON Web Key Set",
		"[]":                               "not a JSON Web Key Set",
		"{}":                               `no list "keys"`,
		`{"keys":[]}`:                      "no keys",
		`{"keys":["x"]}`:                   "key 1: is not a JSON object",
		`{"keys":[{"kid":1}]}`:             "not a JSON Web Key",
		`{"keys":[` + ec + `,` + ec + `]}`: "key 2: another key of the set",
		private(k.ec, "a"):                 "private or secret key",
		private(k.rsa, "a"):                "private or secret key",
		private([]byte("secret"), "a"):     "private or secret key",
		private(&k.weak.PublicKey, "a"):    "1024 bits; want 2048",
		private(&k.p256.PublicKey, "a"):    "P-384",
		private(&k.ec.PublicKey, ""):       "no kid",
		private(&k.ec.PublicKey, strings.Repeat("k", 201)):                           "200 bytes",
		private(&k.ec.PublicKey, "a\u202eb"):                                         "invisible",
		strings.Replace(ec, `"kid"`, `"use":"enc","kid"`, 1):                         "for use",
		strings.Replace(ec, `"kid"`, `"alg":"ES256","kid"`, 1):                       `alg "ES256"`,
		strings.Replace(ec, `"kid"`, `"key_ops":["sign"],"kid"`, 1):                  "key_ops",
		strings.Replace(ec, `"x":"`, `"x":"AAAA`, 1):                                 "not a valid EC key",
		`{"kty":"RSA","kid":"a","n":"` + strings.Repeat("A", 3000) + `","e":"AQAB"}`: "more than 8192 bits",
		`{"kty":"OKP","crv":"Ed25519","kid":"a","x":"AAAA"}`:                         "RSA key or an EC key",
		strings.Repeat(" ", KeysLimit) + ec:                                          "more than 65536 bytes",
	} {
		keys, err := ReadKeys([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, %v; want %q", text, keys, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "go-jose") {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	keys, err := ReadKeys([]byte(ec))
	if err != nil || len(keys) != 1 || keys[0].ID != "a" || keys[0].Algorithm != "ES384" || len(keys[0].Thumbprint) != 43 || bytes.Contains([]byte(keys[0].JWK), []byte("kid")) {
		t.Errorf("a single key: %+v, %v", keys, err)
	}
	if public, err := stored(keys[0]); err != nil || !k.ec.PublicKey.Equal(public) {
		t.Errorf("a stored key comes back as %v, %v", public, err)
	}
	var many []string
	for i := range clients.MaxKeys + 1 {
		many = append(many, private(&k.ec.PublicKey, fmt.Sprint(i)))
	}
	if _, err := ReadKeys([]byte(`{"keys":[` + strings.Join(many, ",") + `]}`)); err == nil || !strings.Contains(err.Error(), "11 keys") {
		t.Errorf("too many keys: %v", err)
	}
}
