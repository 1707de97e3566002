package oauth

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/clients"
)

// look has the authority take up what other processes changed.
func (w *world) look() {
	w.t.Helper()
	if err := w.Look(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// remembered reports whether a secret is known without asking the store.
func (w *world) remembered(secret string) bool {
	return w.cache.client(w.client.ID, hashOf(secret), w.clock.now()) != nil
}

func (w *world) authenticates(secret string) bool {
	w.t.Helper()
	c, err := w.Authenticate(context.Background(), w.client.ID.String(), secret)
	if err != nil && err != errClient {
		w.t.Fatal(err)
	}
	return c != nil
}

// A client that showed its secret is remembered until something changes, the
// secret ends, or the authority cannot look.
func TestClientsAreRememberedWhileNothingChanges(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		sys := w.store.System()
		if w.look(); !w.authenticates(w.secret) || !w.remembered(w.secret) {
			t.Error("a good secret is not remembered")
		}
		if w.authenticates("wrong") || w.remembered("wrong") {
			t.Error("a wrong secret is remembered")
		}
		if w.clock.forward(trustFor); w.remembered(w.secret) {
			t.Error("a secret is good without a look")
		}

		next, hash := NewSecret()
		if err := sys.RotateSecret(context.Background(), w.client.ID, hash, time.Minute); err != nil {
			t.Fatal(err)
		}
		if w.look(); w.remembered(w.secret) {
			t.Error("after a rotation the old secret is remembered with what was known of it")
		}
		if !w.authenticates(w.secret) || !w.authenticates(next) || !w.remembered(w.secret) || !w.remembered(next) {
			t.Error("two live secrets are not remembered")
		}
		w.clock.forward(time.Minute)
		if w.look(); w.remembered(w.secret) || w.authenticates(w.secret) || !w.remembered(next) {
			t.Error("the old secret is good past its end, or the new one is not")
		}

		if err := sys.RevokeClient(context.Background(), w.client.ID); err != nil {
			t.Fatal(err)
		}
		if w.look(); w.authenticates(next) || w.remembered(next) {
			t.Error("a revoked client is good")
		}
	})
}

// A cached client that was revoked gets no token, even before the authority
// has checked the epoch.
func TestRememberedClientsThatEndGetNoToken(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		ctx := context.Background()
		issue := func(secret string) error {
			t.Helper()
			c, err := w.Authenticate(ctx, w.client.ID.String(), secret)
			if err != nil || !w.remembered(secret) {
				t.Fatalf("not remembered: %v", err)
			}
			_, err = w.Issue(ctx, c, "")
			return err
		}
		w.look()
		if err := issue(w.secret); err != nil {
			t.Error(err)
		}
		next, hash := NewSecret()
		if err := w.store.System().RotateSecret(ctx, w.client.ID, hash, 0); err != nil {
			t.Fatal(err)
		}
		if err := issue(w.secret); err != errClient {
			t.Errorf("the secret before a rotation: %v", err)
		}
		w.look()
		if err := issue(next); err != nil {
			t.Error(err)
		}
		if err := w.store.System().RevokeClient(ctx, w.client.ID); err != nil {
			t.Fatal(err)
		}
		if err := issue(next); err != errClient {
			t.Errorf("a revoked client: %v", err)
		}
	})
}

// The last use of a remembered secret is written once a minute, and seen.
func TestLastUseOfARememberedSecret(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		used := func() time.Time {
			t.Helper()
			_, secrets, err := w.store.System().Credentials(context.Background(), w.client.ID)
			if err != nil || len(secrets) != 1 {
				t.Fatalf("%v, error %v", secrets, err)
			}
			return secrets[0].UsedAt
		}
		first := time.UnixMilli(w.clock.now().UnixMilli())
		for i, want := range []time.Duration{0, 0, clients.LastUsedGrain + time.Second} {
			w.look()
			c, err := w.Authenticate(context.Background(), w.client.ID.String(), w.secret)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Issue(context.Background(), c, ""); err != nil {
				t.Fatal(err)
			}
			if got := used(); !got.Equal(first.Add(want)) {
				t.Errorf("token %d: used at %v, want %v", i, got, first.Add(want))
			}
			w.clock.forward([]time.Duration{time.Second, clients.LastUsedGrain, 0}[i])
		}
	})
}

// Of parallel requests with the same secret, one stores its last use. If it
// fails, another does.
func TestOneRequestStoresTheLastUse(t *testing.T) {
	t.Parallel()
	var c cache
	c.init()
	hash, now := sha256.Sum256([]byte("secret")), time.Now()
	before := now.Add(-2 * clients.LastUsedGrain)
	known := clients.Client{Secret: clients.Secret{Hash: hash[:], UsedAt: before}}
	c.putClient(known.ID, hash, known, 0)
	use := func(stores bool) (unclaim func()) {
		t.Helper()
		client := known // as each request has read it before the first one has an answer
		unclaim = c.claimUse(&client, now)
		if (client.Secret.UsedAt == before) != stores {
			t.Errorf("last used at %v; stores %v", client.Secret.UsedAt, stores)
		}
		return unclaim
	}
	failed := use(true)
	use(false)()
	use(false)
	failed()
	use(true)
	use(false)
}

func TestRememberedClientsAreBounded(t *testing.T) {
	t.Parallel()
	var c cache
	c.init()
	for i := range cacheLimit + 1 {
		c.putClient(clients.Client{}.ID, sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(i >> 16)}), clients.Client{}, 0)
	}
	if n := len(c.clients); n != 1 {
		t.Errorf("%d are remembered", n)
	}
}
