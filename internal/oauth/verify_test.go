package oauth

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/worker"
)

func TestVerifyHeader(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		token := w.issue("")
		for _, v := range []struct {
			header []string
			reason string
		}{
			{nil, "missing_token"},
			{[]string{""}, "missing_token"},
			{[]string{"Basic " + token}, "missing_token"},
			{[]string{token}, "missing_token"},
			{[]string{"Bearer " + token}, ""},
			{[]string{"bEARER " + token}, ""},
			{[]string{"Bearer"}, "invalid_token"},
			{[]string{"Bearer "}, "invalid_token"},
			{[]string{"Bearer " + token + " "}, "invalid_token"},
			{[]string{"Bearer " + strings.ToLower(token)}, "invalid_token"},
			{[]string{"Bearer " + w.secret}, "invalid_token"},
			{[]string{"Bearer " + token, "Bearer " + token}, "invalid_token"},
			{[]string{"Bearer " + strings.Repeat("x", 1<<16)}, "invalid_token"},
		} {
			if _, reason := w.verify(v.header...); reason != v.reason {
				t.Errorf("%.40q: %q, want %q", v.header, reason, v.reason)
			}
		}
	})
}

// The cache is only used while the node keeps checking the epoch.
func TestVerifyRemembersWhileItLooks(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		ctx := context.Background()
		elsewhere := New(w.store, w.clock.now) // another node
		header := "Bearer " + w.issue("")
		valid := func() bool {
			t.Helper()
			_, reason := w.verify(header)
			return reason == ""
		}
		if err := w.Look(ctx); err != nil || !valid() {
			t.Fatal("the token is not valid", err)
		}
		if err := elsewhere.Revoke(ctx, w.client, strings.TrimPrefix(header, "Bearer "), audit.Entry{At: w.clock.now(), Action: audit.TokenRevoke}); err != nil {
			t.Fatal(err)
		}
		if !valid() {
			t.Error("the token is looked up although the node has just looked")
		}
		w.clock.forward(trustFor - time.Millisecond)
		if !valid() {
			t.Error("the node forgets too early")
		}
		w.clock.forward(time.Millisecond)
		if valid() {
			t.Error("the node trusts what it remembers after it has not looked for long")
		}

		header = "Bearer " + w.issue("")
		if err := w.Look(ctx); err != nil || !valid() {
			t.Fatal("the token is not valid", err)
		}
		if err := w.store.System().RevokeClient(ctx, w.client.ID); err != nil {
			t.Fatal(err)
		}
		if err := w.Look(ctx); err != nil || valid() {
			t.Error("a revoked client is known after a look", err)
		}
	})
}

// A clock that is set back while the epoch cannot be checked does not make a
// node trust its cache for longer.
func TestVerifyWithAClockPutBack(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		ctx := context.Background()
		token := w.issue("")
		if err := w.Look(ctx); err != nil {
			t.Fatal(err)
		}
		if _, reason := w.verify("Bearer " + token); reason != "" {
			t.Fatal(reason)
		}
		elsewhere := New(w.store, w.clock.now) // another node
		if err := elsewhere.Revoke(ctx, w.client, token, audit.Entry{At: w.clock.now(), Action: audit.TokenRevoke}); err != nil {
			t.Fatal(err)
		}
		w.clock.forward(-time.Hour)
		if _, reason := w.verify("Bearer " + token); reason != "revoked_token" {
			t.Errorf("reason %q", reason)
		}
		// New ones last an hour.
		token = w.issue("")
		w.clock.forward(Lifetime - time.Millisecond)
		if _, reason := w.verify("Bearer " + token); reason != "" {
			t.Error(reason)
		}
		// Forward and back again: what had expired has not.
		w.clock.forward(24 * time.Hour)
		if _, reason := w.verify("Bearer " + token); reason != "expired_token" {
			t.Errorf("reason %q", reason)
		}
		w.clock.forward(-24 * time.Hour)
		if _, reason := w.verify("Bearer " + token); reason != "" {
			t.Error(reason)
		}
	})
}

// A token issued while the clock was ahead does not last longer by that much
// when the clock is corrected, whether it is cached or looked up. A small
// difference ends nothing.
func TestTokensOfAClockPutBack(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		token := w.issue("")
		for _, step := range []struct {
			back   time.Duration
			reason string
		}{{4 * time.Minute, ""}, {24 * time.Hour, "expired_token"}} {
			w.clock.forward(-step.back)
			for _, remembers := range []bool{false, true} {
				if remembers {
					if err := w.Look(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if _, reason := w.verify("Bearer " + token); reason != step.reason {
					t.Errorf("back by %v, remembered %v: %q, want %q", step.back, remembers, reason, step.reason)
				}
			}
			if _, active, err := w.Introspect(t.Context(), w.client, token); active != (step.reason == "") || err != nil {
				t.Errorf("back by %v: active %v, %v", step.back, active, err)
			}
		}
	})
}

func TestVerifyTakesUpChangesOfTheClient(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		ctx := context.Background()
		header := "Bearer " + w.issue("")
		if p, _ := w.verify(header); p == nil || p.Tier != access.Standard {
			t.Fatalf("%+v", p)
		}
		if err := w.Look(ctx); err != nil {
			t.Fatal(err)
		}
		w.verify(header)
		if err := w.store.System().SetTier(ctx, w.client.ID, access.Enterprise); err != nil {
			t.Fatal(err)
		}
		if err := w.Look(ctx); err != nil {
			t.Fatal(err)
		}
		if p, _ := w.verify(header); p == nil || p.Tier != access.Enterprise {
			t.Errorf("%+v", p)
		}
	})
}

func TestVerifyExpires(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		header := "Bearer " + w.issue("")
		w.clock.forward(Lifetime - time.Millisecond)
		for _, looked := range []bool{false, true} {
			if looked {
				if err := w.Look(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if _, reason := w.verify(header); reason != "" {
				t.Errorf("looked %v: %s before its time", looked, reason)
			}
		}
		w.clock.forward(time.Millisecond)
		if _, reason := w.verify(header); reason != "expired_token" {
			t.Errorf("%q from memory", reason)
		}
		w.clock.forward(trustFor)
		if _, reason := w.verify(header); reason != "expired_token" {
			t.Errorf("%q from the store", reason)
		}
	})
}

// A token that was read before a revocation must not be remembered after it.
func TestCacheRefusesWhatIsOlderThanItsEpoch(t *testing.T) {
	t.Parallel()
	var c cache
	c.init()
	hash := hashOf("token")
	before := c.current()
	c.saw(before+1, time.Now())
	c.put(hash, &clients.Token{}, before)
	if c.get(hash) != nil {
		t.Error("remembered")
	}
	c.put(hash, &clients.Token{}, c.current())
	if c.get(hash) == nil {
		t.Error("not remembered")
	}
	c.saw(c.current(), time.Now())
	if c.get(hash) == nil {
		t.Error("forgotten without a reason")
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c cache
	c.init()
	for i := range cacheLimit + 10 {
		hash := hashOf("")
		hash[0], hash[1], hash[2] = byte(i), byte(i>>8), byte(i>>16)
		c.put(hash, &clients.Token{}, 0)
	}
	if got := len(c.known); got > cacheLimit || got == 0 {
		t.Errorf("%d tokens are remembered", got)
	}
}

// Watch looks every second, goes on when the database is away, and ends with
// its context.
func TestWatch(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			var failures counter
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- w.Watch(ctx, slog.New(slog.NewTextHandler(&failures, nil)), worker.NewRounds(nil, "revocations", WatchEvery))
			}()
			time.Sleep(3*watchEvery + watchEvery/2) // of the bubble's clock
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if failures != 4 {
				t.Errorf("it looked %d times in three and a half seconds", failures)
			}
		})
	})
}

// counter counts lines of a log.
type counter int

func (c *counter) Write(line []byte) (int, error) {
	*c++
	return len(line), nil
}
