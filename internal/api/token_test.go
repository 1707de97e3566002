package api

import (
	"context"
	"net/http"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/oauth"
)

func refusedFor(reason string) map[string]any { return map[string]any{"reason": reason} }

// look lets a node notice revocations, as it does every second.
func (n *node) look() {
	n.tb.Helper()
	if err := n.authority.Look(context.Background()); err != nil {
		n.tb.Fatal(err)
	}
}

func TestTokenExpires(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		n.look()
		n.clock.forward(oauth.Lifetime - time.Minute)
		c.get("/v1/patients").is(http.StatusOK)
		n.clock.forward(time.Minute)
		r := c.get("/v1/patients")
		r.details(http.StatusUnauthorized, fault.Unauthorized, refusedFor("expired_token"))
		if got := r.header.Get("WWW-Authenticate"); got != `Bearer realm="anodyne", error="invalid_token", error_description="The access token has expired; request a new one."` {
			t.Errorf("WWW-Authenticate %q", got)
		}
		n.look() // and the same from memory
		c.get("/v1/patients").details(http.StatusUnauthorized, fault.Unauthorized, refusedFor("expired_token"))
	})
}

func TestTokenRevocation(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, colleague := n.caller("north"), n.caller("north")
		other := n.another()
		spare := c.issue("")
		n.look()
		other.look()
		c.get("/v1/patients").is(http.StatusOK)
		c.at(other).get("/v1/patients").is(http.StatusOK)

		// Another client cannot, and is told the same.
		if r := colleague.form("/oauth/revoke", colleague.credentials("token", c.token)).is(http.StatusOK); string(r.body) != "{}" {
			t.Errorf("%s", r.body)
		}
		c.get("/v1/patients").is(http.StatusOK)

		if r := c.form("/oauth/revoke", c.credentials("token", c.token, "token_type_hint", "access_token")).is(http.StatusOK); string(r.body) != "{}" || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %v", r.body, r.header)
		}
		c.get("/v1/patients").details(http.StatusUnauthorized, fault.Unauthorized, refusedFor("revoked_token"))
		other.look()
		c.at(other).get("/v1/patients").details(http.StatusUnauthorized, fault.Unauthorized, refusedFor("revoked_token"))
		c.form("/oauth/revoke", c.credentials("token", c.token)).is(http.StatusOK)
		c.form("/oauth/revoke", c.credentials("token", "at_unknown")).is(http.StatusOK)
		c.form("/oauth/revoke", c.credentials()).details(http.StatusBadRequest, fault.InvalidParameter,
			map[string]any{"parameter": "token", "value": nil, "oauth_error": "invalid_request"})
		c.form("/oauth/revoke", c.credentials("token", "x", "client_secret", "y")).is(http.StatusUnauthorized)

		c.token = spare
		c.get("/v1/patients").is(http.StatusOK)
	})
}

// A node that cannot look trusts nothing it remembers, so that a revocation
// is known within the promised time also when no news comes.
func TestRevocationWithoutNews(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		other := n.another()
		other.look()
		c.at(other).get("/v1/patients").is(http.StatusOK)
		c.form("/oauth/revoke", c.credentials("token", c.token)).is(http.StatusOK)
		n.clock.forward(5 * time.Second)
		c.at(other).get("/v1/patients").details(http.StatusUnauthorized, fault.Unauthorized, refusedFor("revoked_token"))
	})
}

func TestRevokedClient(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		other := n.another()
		n.look()
		c.get("/v1/patients").is(http.StatusOK)
		if err := other.store.System().RevokeClient(context.Background(), c.client.ID); err != nil {
			t.Fatal(err)
		}
		n.look()
		c.get("/v1/patients").details(http.StatusUnauthorized, fault.Unauthorized, refusedFor("revoked_token"))
		c.form("/oauth/token", c.credentials(grantType, clientCredentials)).fault(http.StatusUnauthorized, fault.InvalidClient)
	})
}

func TestTierChangeTakesEffect(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		other := n.another()
		n.look()
		if limit, remaining, _ := c.get("/v1/patients").limits(); limit != 1000 || remaining != 999 {
			t.Fatalf("%d of %d", remaining, limit)
		}
		c.exhaust()
		if err := other.store.System().SetTier(context.Background(), c.client.ID, access.Professional); err != nil {
			t.Fatal(err)
		}
		n.look()
		if limit, remaining, _ := c.get("/v1/patients").is(http.StatusOK).limits(); limit != 10_000 || remaining > 9_000 {
			t.Errorf("after the change %d of %d", remaining, limit)
		}
	})
}

func TestIntrospection(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, south := n.caller("north"), n.caller("south")
		token := c.issue("patients:read")
		r := c.form("/oauth/introspect", c.credentials("token", token)).is(http.StatusOK).json()
		wantMembers(t, r, "active", "scope", "client_id", "token_type", "exp", "iat")
		if r["active"] != true || r["scope"] != "patients:read" || r["client_id"] != c.client.ID.String() || r["exp"].(float64)-r["iat"].(float64) != 3600 {
			t.Errorf("%v", r)
		}
		dead := func(who *caller, token string) {
			t.Helper()
			if got := string(who.form("/oauth/introspect", who.credentials("token", token)).is(http.StatusOK).body); got != `{"active":false}` {
				t.Errorf("%s", got)
			}
		}
		dead(south, token)
		dead(c, "at_unknown")
		c.form("/oauth/revoke", c.credentials("token", token)).is(http.StatusOK)
		dead(c, token)
		expired := c.issue("")
		n.clock.forward(oauth.Lifetime)
		dead(c, expired)
		c.form("/oauth/introspect", c.credentials()).fault(http.StatusBadRequest, fault.InvalidParameter)
		n.form("/oauth/introspect", nil).fault(http.StatusUnauthorized, fault.InvalidClient)
	})
}
