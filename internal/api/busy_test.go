package api

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/oauth"
)

// spend uses up the allowance of an address.
func (n *node) spend(address string) {
	for n.api.Addresses.Take(netip.MustParseAddr(address)).Allowed {
	}
}

// A once valid token gets 401 and is not counted, whatever happened to it, so
// that a client behind a busy address requests a new one.
func TestTokensThatWereOursAreNeverCounted(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		ctx := context.Background()
		c, ended := n.caller("north"), n.caller("north")
		revoked := c.issue("")
		c.form("/oauth/revoke", c.credentials("token", revoked)).is(http.StatusOK)
		if err := n.store.System().RevokeClient(ctx, ended.client.ID); err != nil {
			t.Fatal(err)
		}
		n.look()
		other := n.another()
		refused := func(token, reason string) {
			t.Helper()
			for _, at := range []*node{n, other} {
				before := at.api.Addresses.Peek(netip.MustParseAddr("127.0.0.1"))
				r := at.send("GET", "/v1/patients", "", "Authorization", "Bearer "+token)
				r.details(http.StatusUnauthorized, fault.Unauthorized, refusedFor(reason))
				if _, remaining, _ := r.limits(); remaining != before.Remaining {
					t.Errorf("%s: %d left, %d before", reason, remaining, before.Remaining)
				}
			}
		}
		for range 2 { // with allowance, and without
			refused(revoked, "revoked_token")
			refused(ended.token, "revoked_token")
			n.spend("127.0.0.1")
			other.spend("127.0.0.1")
		}
		n.clock.forward(oauth.Lifetime)
		n.spend("127.0.0.1")
		other.spend("127.0.0.1")
		refused(c.token, "expired_token")

		// Rows of expired tokens are purged; the tokens are still known as ours.
		n.clock.forward(25 * time.Hour)
		if err := n.store.System().Purge(ctx); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(c.token))
		if _, found, err := n.store.System().Token(ctx, sum[:]); err != nil || found {
			t.Fatalf("the row is still there: %v, %v", found, err)
		}
		n.spend("127.0.0.1")
		other.spend("127.0.0.1")
		for _, token := range []string{c.token, revoked, ended.token} {
			refused(token, "expired_token")
		}
		// What only looks like one counts, and is refused by the allowance.
		for _, forged := range []string{swapped(c.token, len(c.token)-1), swapped(c.token, len("at_")+1), "at_" + strings.Repeat("z", len(c.token)-len("at_")), c.token + "0"} {
			n.send("GET", "/v1/patients", "", "Authorization", "Bearer "+forged).fault(http.StatusTooManyRequests, fault.RateLimitExceeded)
		}
	})
}

// swapped is a token with another digit in one place.
func swapped(token string, at int) string {
	b := []byte(token)
	if b[at]++; b[at] > '9' {
		b[at] = '0'
	}
	return string(b)
}

// Whoever stole a token or a secret and uses up the client's allowance cannot
// keep its owner from revoking.
func TestRevocationWithASpentAllowance(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		stolen := c.issue("")
		c.exhaust()
		c.get("/v1/patients").is(http.StatusTooManyRequests)
		if got := string(c.form("/oauth/introspect", c.credentials("token", stolen)).is(http.StatusOK).body); !strings.Contains(got, `"active":true`) {
			t.Errorf("%s", got)
		}
		r := c.form("/oauth/revoke", c.credentials("token", stolen)).is(http.StatusOK)
		if limit, remaining, _ := r.limits(); limit != revocationLimit || remaining != revocationLimit-2 {
			t.Errorf("%d of %d left", remaining, limit)
		}
		n.send("GET", "/v1/patients", "", "Authorization", "Bearer "+stolen).
			details(http.StatusUnauthorized, fault.Unauthorized, refusedFor("revoked_token"))
		c.form("/oauth/token", c.credentials(grantType, clientCredentials)).is(http.StatusTooManyRequests)
	})
}

// The allowance for revocation is small and per client and address: someone
// who has the secret only uses up that of their own address.
func TestRevocationHasAnAllowanceOfItsOwn(t *testing.T) {
	trust := func(cfg *Config) { cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	eachWith(t, trust, func(t *testing.T, n *node) {
		c, colleague := n.caller("north"), n.caller("north")
		c.exhaust()
		colleague.exhaust()
		thief, owner := []string{"X-Forwarded-For", "192.0.2.66"}, []string{"X-Forwarded-For", "192.0.2.1"}
		var reset int64
		for i := range revocationLimit {
			path := []string{"/oauth/revoke", "/oauth/introspect"}[i%2]
			limit, remaining, end := c.form(path, c.credentials("token", "x"), thief...).is(http.StatusOK).limits()
			if limit != revocationLimit || remaining != revocationLimit-1-int64(i) || reset != 0 && end != reset {
				t.Fatalf("%d: %d of %d left until %d, before %d", i, remaining, limit, end, reset)
			}
			reset = end
		}
		for _, path := range []string{"/oauth/revoke", "/oauth/introspect"} {
			r := c.form(path, c.credentials("token", "x"), thief...)
			details := r.fault(http.StatusTooManyRequests, fault.RateLimitExceeded)
			if details["limit"] != float64(revocationLimit) || details["reset"] != float64(reset) || r.remaining() != 0 || r.number("Retry-After") < 3500 {
				t.Errorf("%v", details)
			}
			colleague.form(path, colleague.credentials("token", "x"), thief...).is(http.StatusOK)
			c.form(path, c.credentials("token", "x"), owner...).is(http.StatusOK)
		}
		// A caller without the secret only uses up the allowance of their
		// address.
		for range 3 {
			before := c.form("/oauth/introspect", c.credentials("token", "x"), owner...).is(http.StatusOK).remaining()
			c.form("/oauth/revoke", c.credentials("token", "x", "client_secret", "guess"), owner...).is(http.StatusUnauthorized)
			if got := c.form("/oauth/introspect", c.credentials("token", "x"), owner...).is(http.StatusOK).remaining(); got != before-1 {
				t.Errorf("%d left, %d before", got, before)
			}
		}
		n.clock.forward(time.Hour)
		c.form("/oauth/revoke", c.credentials("token", "x"), thief...).is(http.StatusOK)
	})
}

// As long as the client has allowance, revocation counts for it like anything
// else.
func TestRevocationCountsForTheClientFirst(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		if limit, remaining, _ := c.form("/oauth/revoke", c.credentials("token", "x")).limits(); limit != access.Standard.Limit() || remaining != limit-1 {
			t.Errorf("%d of %d left", remaining, limit)
		}
	})
}
