package oauth

import (
	"context"
	"crypto"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/clients"
)

// Limits of an assertion.
const (
	longestAssertion  = 8 << 10
	assertionLifetime = 5 * time.Minute
	// clockSkew is how much a client's clock may be ahead.
	clockSkew = 10 * time.Second
)

func badAssertion(message string) error {
	return fault.New(fault.InvalidClient, message, "oauth_error", "invalid_client")
}

// errKey does not say whether the client exists.
var errKey = badAssertion("The client is unknown, or has no key with the kid of the client_assertion.")

// AuthenticateAssertion returns the client that signed an assertion
// (private_key_jwt: RFC 7523 and SMART Backend Services). clientID is the
// client_id parameter, or "". Each of the assertion's audiences must be one of
// audience. An assertion is accepted once.
func (a *Authority) AuthenticateAssertion(ctx context.Context, clientID, assertion string, audience []string) (*clients.Client, error) {
	if len(assertion) > longestAssertion {
		return nil, badAssertion("The client_assertion is longer than 8192 bytes.")
	}
	token, err := jwt.ParseSigned(assertion, signatures)
	if err != nil || len(token.Headers) != 1 {
		return nil, badAssertion("The client_assertion must be a JWT in compact form, signed with RS384 or ES384.")
	}
	header := token.Headers[0]
	if typ, given := header.ExtraHeaders["typ"]; given && !jwtType(typ) {
		return nil, badAssertion("The header typ of the client_assertion must be JWT.")
	}
	if header.KeyID == "" {
		return nil, badAssertion("The header of the client_assertion has no kid.")
	}
	var said jwt.Claims
	if err := token.UnsafeClaimsWithoutVerification(&said); err != nil {
		return nil, badAssertion("The claims of the client_assertion cannot be read.")
	}
	if said.Issuer == "" || said.Issuer != said.Subject {
		return nil, badAssertion("The claims iss and sub of the client_assertion must both be the client ID.")
	}
	if clientID != "" && clientID != said.Issuer {
		return nil, badAssertion("client_id is not the client that the client_assertion is from.")
	}
	parsed, err := id.Parse[id.ClientKind](said.Issuer)
	if err != nil {
		return nil, errKey
	}
	found, keys, err := a.store.Keys(ctx, parsed)
	if fault.Is(err, fault.NotFound) || err == nil && !found.RevokedAt.IsZero() {
		return nil, errKey
	}
	if err != nil {
		return nil, err
	}
	key, err := a.keyOf(ctx, &found, keys, header.KeyID, header.ExtraHeaders["jku"])
	if err != nil {
		return nil, err
	}
	var claims jwt.Claims
	if err := token.Claims(key.public, &claims); err != nil || key.algorithm != header.Algorithm {
		return nil, badAssertion("The signature of the client_assertion is not valid for the key with its kid.")
	}
	if err := judgeClaims(&claims, audience, a.now()); err != nil {
		return nil, err
	}
	hash := hashOf(claims.ID)
	first, err := a.store.UseAssertion(ctx, &found, clients.Assertion{
		JTIHash: hash[:], ExpiresAt: claims.Expiry.Time(), KeyID: key.registered, UsedAt: key.usedAt,
	})
	if err != nil {
		return nil, err
	}
	if !first {
		return nil, badAssertion("The client_assertion was used before. Sign a new one, with its own jti, for every request.")
	}
	return &found, nil
}

// jwtType reports whether a typ header can be that of a client assertion.
func jwtType(typ any) bool {
	text, _ := typ.(string)
	return strings.EqualFold(text, "JWT") || strings.EqualFold(text, "client-authentication+jwt")
}

// signingKey is the key of an assertion.
type signingKey struct {
	public    crypto.PublicKey
	algorithm string
	// registered is its ID, or "" if it comes from the client's address.
	registered string
	usedAt     time.Time
}

// keyOf returns the key with an ID of a client: a registered one, or one from
// the client's address. jku is the header of that name, which may only name
// that address.
func (a *Authority) keyOf(ctx context.Context, c *clients.Client, keys clients.Keys, kid string, jku any) (signingKey, error) {
	if jku != nil && (keys.URI.URI == "" || jku != keys.URI.URI) {
		return signingKey{}, badAssertion("The header jku of the client_assertion is not the registered jwks_uri. Leave it out, or register it.")
	}
	if i := slices.IndexFunc(keys.Keys, func(k clients.Key) bool { return k.ID == kid }); i >= 0 && jku == nil {
		public, err := stored(keys.Keys[i])
		return signingKey{public, keys.Keys[i].Algorithm, kid, keys.Keys[i].UsedAt}, err
	}
	if keys.URI.URI == "" {
		return signingKey{}, errKey
	}
	key, published, err := a.remote.key(ctx, remoteAddress{c.No, keys.URI.URI}, kid)
	switch {
	case errors.Is(err, errRemote):
		a.log.Warn("cannot read the keys of a client", "client_id", c.ID.String(), "error", err)
		return signingKey{}, badAssertion("The keys at the client's jwks_uri cannot be read. To see why, save the URL again in the portal.")
	case err != nil:
		return signingKey{}, err
	case !published:
		return signingKey{}, errKey
	}
	return signingKey{public: key.public, algorithm: key.Algorithm, usedAt: keys.URI.UsedAt}, nil
}

// judgeClaims checks the claims of an assertion whose signature is valid.
func judgeClaims(c *jwt.Claims, audience []string, now time.Time) error {
	switch {
	case len(c.Audience) == 0 || slices.ContainsFunc(c.Audience, func(aud string) bool { return !slices.Contains(audience, aud) }):
		return badAssertion("The claim aud of the client_assertion must be " + audience[0] + ".")
	case c.Expiry == nil:
		return badAssertion("The client_assertion has no claim exp.")
	case !now.Before(c.Expiry.Time()):
		return badAssertion("The client_assertion has expired.")
	case c.Expiry.Time().After(now.Add(assertionLifetime + clockSkew)):
		return badAssertion("The claim exp of the client_assertion must be at most 5 minutes ahead.")
	case c.NotBefore != nil && c.NotBefore.Time().After(now.Add(clockSkew)):
		return badAssertion("The client_assertion is not valid yet (nbf).")
	case c.IssuedAt != nil && c.IssuedAt.Time().After(now.Add(clockSkew)):
		return badAssertion("The claim iat of the client_assertion is in the future.")
	case c.ID == "":
		return badAssertion("The client_assertion has no claim jti.")
	}
	return nil
}
