// Package oauth authenticates clients by their secrets or by assertions signed
// with their keys, issues and revokes tokens (OAuth 2.0 client credentials, RFC
// 6749, 7009, 7523, 7662; SMART Backend Services) and verifies them. The HTTP
// endpoints are in internal/api.
package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
)

// Lifetime is the lifetime of a token. There are no refresh tokens; a client
// requests a new token instead.
const Lifetime = time.Hour

// Authority authenticates clients, and issues and verifies tokens.
type Authority struct {
	store store.System
	all   *store.Store
	now   func() time.Time
	cache cache
	mark  mark
	// remote are the keys that clients publish.
	remote remoteKeys
	log    *slog.Logger
}

// New returns an authority. [Authority.Watch] must run, or it will not notice
// revocations by other processes.
func New(s *store.Store, now func() time.Time) *Authority {
	a := &Authority{store: s.System(), all: s, now: now, mark: s.System().TokenKey()}
	a.cache.init()
	a.remote.now, a.log = now, slog.New(slog.DiscardHandler)
	return a
}

// FetchFrom lets the authority read the keys that clients publish at a
// jwks_uri; without it, only registered keys are accepted. It must be called
// before the first request.
func (a *Authority) FetchFrom(fetch FetchKeys, log *slog.Logger) { a.remote.fetch, a.log = fetch, log }

var errClient = fault.New(fault.InvalidClient, "The client is unknown or the secret is wrong.", "oauth_error", "invalid_client")

// Authenticate returns the client with this ID and one of its live secrets.
// Every failure returns the same error.
func (a *Authority) Authenticate(ctx context.Context, clientID, secret string) (*clients.Client, error) {
	parsed, err := id.Parse[id.ClientKind](clientID)
	if err != nil {
		return nil, errClient
	}
	given := hashOf(secret)
	if c := a.cache.client(parsed, given, a.now()); c != nil {
		return c, nil
	}
	epoch := a.cache.current()
	found, secrets, err := a.store.Credentials(ctx, parsed)
	if fault.Is(err, fault.NotFound) {
		return nil, errClient
	}
	if err != nil {
		return nil, err
	}
	match := 0
	for _, live := range secrets {
		same := subtle.ConstantTimeCompare(given[:], live.Hash)
		if match |= same; same == 1 {
			found.Secret = live
		}
	}
	if match == 0 || !found.RevokedAt.IsZero() {
		return nil, errClient
	}
	a.cache.putClient(parsed, given, found, epoch)
	return &found, nil
}

// Issue creates an access token for a client. scope narrows its scopes; ""
// means all that were granted. A scope that was not granted is an error.
func (a *Authority) Issue(ctx context.Context, c *clients.Client, scope string) (access.Grant, error) {
	asked, err := narrow(c.Scopes, scope)
	if err != nil {
		return access.Grant{}, err
	}
	token, hash := a.mark.newToken()
	unclaim := a.cache.claimUse(c, a.now())
	issued, err := a.store.IssueToken(ctx, c, hash, asked, Lifetime)
	if err == nil && !issued {
		err = errClient // the cached client has been revoked since
	}
	if err != nil {
		unclaim()
		return access.Grant{}, err
	}
	return access.Grant{Token: token, Lifetime: Lifetime, Scope: asked}, nil
}

func narrow(granted access.Scopes, scope string) (access.Asked, error) {
	if strings.TrimSpace(scope) == "" {
		return access.Asked{Scopes: granted}, nil
	}
	asked, err := access.ParseAsked(scope)
	if unknown, ok := errors.AsType[access.UnknownScopeError](err); ok {
		return access.Asked{}, fault.New(fault.InvalidScope, "The scope list contains an unknown scope.",
			"parameter", "scope", "value", string(unknown), "oauth_error", "invalid_scope")
	}
	if missing := asked.Missing(granted); missing != 0 {
		return access.Asked{}, fault.New(fault.InvalidScope, "The client was not granted "+missing.String()+".",
			"parameter", "scope", "value", scope, "oauth_error", "invalid_scope")
	}
	return asked, nil
}

// Revoke revokes a token if it belongs to the client, and does nothing
// otherwise.
func (a *Authority) Revoke(ctx context.Context, c *clients.Client, token string, line audit.Entry) error {
	hash := hashOf(token)
	p := c.Principal()
	if err := a.all.For(&p).RevokeToken(ctx, hash[:], line); err != nil {
		return err
	}
	a.cache.forget(hash)
	return nil
}

// Introspect returns a token if it is active and belongs to the client's
// organisation.
func (a *Authority) Introspect(ctx context.Context, c *clients.Client, token string) (t clients.Token, active bool, err error) {
	hash := hashOf(token)
	t, found, err := a.store.Token(ctx, hash[:])
	if err != nil || !found || t.Revoked || t.Over(a.now()) || t.Principal.Org != c.Org {
		return clients.Token{}, false, err
	}
	return t, true, nil
}
