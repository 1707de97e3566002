package api

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/oauth"
)

// Real OAuth clients get along with the token endpoint.
func TestOAuthLibrary(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		ctx := context.WithValue(context.Background(), oauth2.HTTPClient, n.http)
		for name, style := range map[string]oauth2.AuthStyle{"header": oauth2.AuthStyleInHeader, "form": oauth2.AuthStyleInParams} {
			cfg := clientcredentials.Config{ClientID: c.client.ID.String(), ClientSecret: c.secret, TokenURL: n.url + "/oauth/token",
				AuthStyle: style, Scopes: []string{"patients:read", "events:read"}}
			token, err := cfg.Token(ctx)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if left := time.Until(token.Expiry); left < 59*time.Minute || left > time.Hour || token.Extra("scope") != "patients:read events:read" {
				t.Errorf("%s: %v left, scope %v", name, left, token.Extra("scope"))
			}
			answer, err := cfg.Client(ctx).Get(n.url + "/v1/patients")
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("%s: %v %v", name, answer, err)
			}
			_ = answer.Body.Close()
			cfg.ClientSecret = "cs_wrong"
			_, err = cfg.Token(ctx)
			refused, ok := err.(*oauth2.RetrieveError)
			if !ok || refused.Response.StatusCode != http.StatusUnauthorized || !strings.Contains(string(refused.Body), "invalid_client") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func basicHeader(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func TestBasicIsFormDecoded(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.client.ID.String()
		// Every byte may be escaped, and a plus is a space.
		everyByte := func(s string) string {
			var b strings.Builder
			for _, r := range []byte(s) {
				b.WriteString("%" + string("0123456789ABCDEF"[r>>4]) + string("0123456789ABCDEF"[r&15]))
			}
			return b.String()
		}
		grant := url.Values{grantType: {clientCredentials}}
		for _, header := range []string{basicHeader(id, c.secret), basicHeader(everyByte(id), everyByte(c.secret)), "basic " + basicHeader(id, c.secret)[6:]} {
			n.form("/oauth/token", grant, "Authorization", header).is(http.StatusOK)
		}
		grant.Set("client_id", id) // says the same again
		n.form("/oauth/token", grant, "Authorization", basicHeader(id, c.secret)).is(http.StatusOK)
		for _, header := range []string{basicHeader(id, c.secret+"+"), basicHeader(id, c.secret+"%"), basicHeader(id, ""), basicHeader("", c.secret),
			"Basic", "Basic !", "Basic " + base64.StdEncoding.EncodeToString([]byte(id+c.secret)), "Bearer " + c.token, "Digest x"} {
			n.form("/oauth/token", grant, "Authorization", header).fault(http.StatusUnauthorized, fault.InvalidClient)
		}
		n.form("/oauth/token", c.credentials(grantType, clientCredentials), "Authorization", basicHeader(id, c.secret)).
			details(http.StatusBadRequest, fault.InvalidParameter, map[string]any{"parameter": "client_secret", "value": nil, "oauth_error": "invalid_request"})
		grant.Set("client_id", "cli_other")
		n.form("/oauth/token", grant, "Authorization", basicHeader(id, c.secret)).is(http.StatusBadRequest)
	})
}

func TestTokenRequestFaults(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north", access.PatientsRead|access.EventsRead)
		for _, f := range []struct {
			more             []string
			code             fault.Code
			parameter, value any
			word             string
		}{
			{nil, fault.InvalidParameter, "grant_type", nil, "invalid_request"},
			{[]string{grantType, ""}, fault.InvalidParameter, "grant_type", nil, "invalid_request"},
			{[]string{grantType, "password"}, fault.UnsupportedGrantType, "grant_type", "password", "unsupported_grant_type"},
			{[]string{grantType, "Client_Credentials"}, fault.UnsupportedGrantType, "grant_type", "Client_Credentials", "unsupported_grant_type"},
			{[]string{grantType, clientCredentials, "scope", "patients:write"}, fault.InvalidScope, "scope", "patients:write", "invalid_scope"},
			{[]string{grantType, clientCredentials, "scope", "patients:read audit:read"}, fault.InvalidScope, "scope", "patients:read audit:read", "invalid_scope"},
			{[]string{grantType, clientCredentials, "scope", "patients:read everything"}, fault.InvalidScope, "scope", "everything", "invalid_scope"},
		} {
			r := c.form("/oauth/token", c.credentials(f.more...))
			r.details(http.StatusBadRequest, f.code, map[string]any{"parameter": f.parameter, "value": f.value, "oauth_error": f.word})
			if got := r.json()["error_description"]; got != r.message() {
				t.Errorf("error_description %q, message %q", got, r.message())
			}
		}
		twice := c.credentials(grantType, clientCredentials)
		twice.Add(grantType, clientCredentials)
		c.form("/oauth/token", twice).details(http.StatusBadRequest, fault.InvalidParameter,
			map[string]any{"parameter": "grant_type", "value": nil, "oauth_error": "invalid_request"})
		n.send("POST", "/oauth/token", "a=%zz", "Content-Type", formType).fault(http.StatusBadRequest, fault.InvalidBody)
	})
}

func TestScopeNarrows(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		r := c.form("/oauth/token", c.credentials(grantType, clientCredentials, "scope", "events:read  patients:read events:read")).is(http.StatusOK).json()
		if r["scope"] != "patients:read events:read" {
			t.Errorf("scope %q", r["scope"])
		}
		c.token = r["access_token"].(string)
		c.get("/v1/patients").is(http.StatusOK)
		c.get("/v1/events").is(http.StatusOK)
		refused := c.post("/v1/patients", fullPatient)
		refused.details(http.StatusForbidden, fault.Forbidden,
			map[string]any{"required_scope": "patients:write", "granted_scopes": []any{"patients:read", "events:read"}})
		if got := refused.header.Get("WWW-Authenticate"); got != `Bearer realm="anodyne", error="insufficient_scope", scope="patients:write"` {
			t.Errorf("WWW-Authenticate %q", got)
		}
		if got := c.form("/oauth/token", c.credentials(grantType, clientCredentials, "scope", " ")).is(http.StatusOK).json()["scope"]; got != access.AllScopes.String() {
			t.Errorf("an empty scope gave %q", got)
		}
	})
}

// Whatever is wrong with the credentials, the answer is the same.
func TestUnknownClientAndWrongSecretAreAlike(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, revoked := n.caller("north"), n.caller("north")
		if err := n.store.System().RevokeClient(context.Background(), revoked.client.ID); err != nil {
			t.Fatal(err)
		}
		var first string
		for _, fields := range []url.Values{
			c.credentials(grantType, clientCredentials, "client_secret", revoked.secret),
			c.credentials(grantType, clientCredentials, "client_secret", "x"),
			c.credentials(grantType, clientCredentials, "client_id", "cli_01kf14e860rxathabqv1je7gxh"),
			c.credentials(grantType, clientCredentials, "client_id", "nobody"),
			revoked.credentials(grantType, clientCredentials),
		} {
			r := n.form("/oauth/token", fields)
			r.details(http.StatusUnauthorized, fault.InvalidClient, map[string]any{"oauth_error": "invalid_client"})
			if got := r.header.Get("WWW-Authenticate"); got != `Basic realm="anodyne", charset="UTF-8"` || r.header.Get("Cache-Control") != "no-store" {
				t.Errorf("WWW-Authenticate %q, Cache-Control %q", got, r.header.Get("Cache-Control"))
			}
			if first == "" {
				first = string(r.body)
			}
			if string(r.body) != first {
				t.Errorf("%s and %s", r.body, first)
			}
		}
		for _, fields := range []url.Values{nil, {"client_id": {c.client.ID.String()}}, {"client_secret": {c.secret}}} {
			n.form("/oauth/token", fields).details(http.StatusUnauthorized, fault.InvalidClient, map[string]any{"oauth_error": "invalid_client"})
		}
	})
}

func TestTwoLiveSecrets(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		works := func(secret string) bool {
			return c.form("/oauth/token", c.credentials(grantType, clientCredentials, "client_secret", secret)).status == http.StatusOK
		}
		rotate := func() string {
			secret, hash := oauth.NewSecret()
			if err := n.store.System().RotateSecret(context.Background(), c.client.ID, hash, time.Hour); err != nil {
				t.Fatal(err)
			}
			return secret
		}
		first, second := c.secret, rotate()
		if !works(first) || !works(second) {
			t.Error("both secrets should work")
		}
		third := rotate()
		if works(first) || !works(second) || !works(third) {
			t.Error("the newest two secrets should work, and no other")
		}
		n.clock.forward(time.Hour)
		if works(second) || !works(third) {
			t.Error("after the overlap only the newest secret should work")
		}
	})
}

func TestOAuthMetadata(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		r := n.send("GET", "/.well-known/oauth-authorization-server", "").is(http.StatusOK).json()
		if r["issuer"] != n.url || r["token_endpoint"] != n.url+"/oauth/token" || r["revocation_endpoint"] != n.url+"/oauth/revoke" || r["introspection_endpoint"] != n.url+"/oauth/introspect" {
			t.Errorf("%v", r)
		}
		var scopes []string
		for _, scope := range r["scopes_supported"].([]any) {
			scopes = append(scopes, scope.(string))
		}
		if !slices.Equal(scopes, append(access.AllScopes.Names(), access.SMARTScopes()...)) {
			t.Errorf("scopes %v", scopes)
		}
	})
}

func TestOAuthMetadataOfAPublicAddress(t *testing.T) {
	const base = "https://api.example.org"
	eachWith(t, func(cfg *Config) { cfg.BaseURL = base }, func(t *testing.T, n *node) {
		r := n.send("GET", "/.well-known/oauth-authorization-server", "").is(http.StatusOK).json()
		if r["issuer"] != base || r["token_endpoint"] != base+"/oauth/token" {
			t.Errorf("%v", r)
		}
	})
}
