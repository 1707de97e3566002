package api

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store/clients"
)

// form is a form body from an authenticated client.
type form struct {
	url.Values
	client *clients.Client
}

var errNoCredentials = fault.New(fault.InvalidClient,
	"Send client_id and client_secret in the form, or as HTTP Basic.", "oauth_error", "invalid_client")

// revocationLimit is how many revocation and introspection requests a client
// may send per hour from one address after it has used up its own allowance.
const revocationLimit = 100

// NewRevocations returns the limiter for [Config.Revocations], for up to
// capacity pairs of client and address.
func NewRevocations(capacity int, now func() time.Time) *ratelimit.Addresses {
	return ratelimit.NewAddresses(revocationLimit, capacity, now)
}

// clientForm reads the form, authenticates the client and counts the request:
// for the client if its credentials are valid, for the source address
// otherwise.
func (a *API) clientForm(x *exchange) (form, error) {
	f, err := a.authenticated(x)
	if err != nil {
		return f, err
	}
	p := f.client.Principal()
	return f, a.take(x, &p)
}

// tokenForm is clientForm for revocation and introspection. Someone with a
// stolen token or secret can use up the client's allowance, and must not be
// able to prevent its owner from revoking it. Therefore a small additional
// allowance exists, counted by client and address, so the attacker only uses
// up their own.
func (a *API) tokenForm(x *exchange) (form, error) {
	f, err := a.authenticated(x)
	if err != nil {
		return f, err
	}
	p := f.client.Principal()
	if err = a.take(x, &p); !fault.Is(err, fault.RateLimitExceeded) {
		return f, err
	}
	d := a.Revocations.TakeFor(p.Client, x.source)
	x.limited(d)
	if !d.Allowed {
		return f, d.Fault()
	}
	return f, nil
}

// authenticated reads the form and authenticates the client.
func (a *API) authenticated(x *exchange) (form, error) {
	f, err := a.readForm(x)
	if err != nil {
		return f, a.refuse(x, err)
	}
	if f.client, err = a.authenticate(x, f.Values); err != nil {
		return f, a.refuse(x, err)
	}
	return f, nil
}

// authenticate returns the client that sent a form, with its secret or with an
// assertion signed with its key.
func (a *API) authenticate(x *exchange, f url.Values) (*clients.Client, error) {
	header := x.r.Header["Authorization"]
	if f.Has("client_assertion") || f.Has("client_assertion_type") {
		assertion, err := assertionOf(header, f)
		if err != nil {
			return nil, err
		}
		return a.Authority.AuthenticateAssertion(x.ctx(), f.Get("client_id"), assertion, a.audience(x.r))
	}
	clientID, secret, err := credentials(header, f)
	if err != nil {
		return nil, err
	}
	return a.Authority.Authenticate(x.ctx(), clientID, secret)
}

// audience lists what an assertion may be for: the token endpoint, as SMART
// Backend Services has it, or the issuer, which newer libraries use.
func (a *API) audience(r *http.Request) []string {
	base := a.base(r)
	return []string{base + tokenPath, base}
}

const tokenPath = "/oauth/token"

// jwtBearer is the only type of assertion (RFC 7523).
const jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// assertionOf returns the assertion of a form that has no other credentials.
func assertionOf(header []string, f url.Values) (string, error) {
	switch {
	case len(header) > 0 || f.Has("client_secret"):
		return "", fault.New(fault.InvalidParameter, "Authenticate with a client_assertion or with a secret, not with both.",
			"parameter", "client_assertion", "value", nil, "oauth_error", "invalid_request")
	case f.Get("client_assertion") == "":
		return "", fault.New(fault.InvalidParameter, "client_assertion is missing.", "parameter", "client_assertion", "value", nil, "oauth_error", "invalid_request")
	case f.Get("client_assertion_type") != jwtBearer:
		return "", fault.New(fault.InvalidClient, "client_assertion_type must be "+jwtBearer+".", "oauth_error", "invalid_client")
	}
	return f.Get("client_assertion"), nil
}

func (a *API) readForm(x *exchange) (form, error) {
	body, err := x.readBody(bodyLimit, "application/x-www-form-urlencoded")
	if err != nil {
		return form{}, err
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return form{}, fault.New(fault.InvalidBody, "The form cannot be parsed.", "reason", "not form-encoded", "offset", 0, "oauth_error", "invalid_request")
	}
	var fields fault.Fields
	for _, name := range []string{"grant_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope", "token", "token_type_hint"} {
		if len(values[name]) > 1 {
			fields.Add(name, nil, name+" is given more than once.")
		}
	}
	if err, ok := errors.AsType[*fault.Error](fields.Err()); ok {
		err.Details["oauth_error"] = "invalid_request"
		return form{}, err
	}
	return form{Values: values}, nil
}

// credentials reads the credentials from the form or from HTTP Basic, but not
// from both. Basic credentials are form-encoded (RFC 6749, 2.3.1).
func credentials(header []string, f url.Values) (clientID, secret string, err error) {
	if len(header) == 0 {
		clientID, secret = f.Get("client_id"), f.Get("client_secret")
		if clientID == "" || secret == "" {
			return "", "", errNoCredentials
		}
		return clientID, secret, nil
	}
	clientID, secret, ok := basic(header)
	if !ok {
		return "", "", errNoCredentials
	}
	if f.Has("client_secret") || f.Has("client_id") && f.Get("client_id") != clientID {
		return "", "", fault.New(fault.InvalidParameter, "Send the client's credentials in the form or as HTTP Basic, not as both.",
			"parameter", "client_secret", "value", nil, "oauth_error", "invalid_request")
	}
	return clientID, secret, nil
}

// basic parses an Authorization header with the Basic scheme.
func basic(header []string) (user, password string, ok bool) {
	scheme, encoded, _ := strings.Cut(header[0], " ")
	if len(header) != 1 || !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return "", "", false
	}
	user, password, ok = strings.Cut(string(decoded), ":")
	user, userErr := url.QueryUnescape(user)
	password, passwordErr := url.QueryUnescape(password)
	return user, password, ok && userErr == nil && passwordErr == nil && user != "" && password != ""
}

func (a *API) issueToken(x *exchange) (answer, error) {
	f, err := a.clientForm(x)
	if err != nil {
		return answer{}, err
	}
	switch grant := f.Get("grant_type"); grant {
	case "client_credentials":
	case "":
		return answer{}, fault.New(fault.InvalidParameter, "grant_type is missing; it must be client_credentials.",
			"parameter", "grant_type", "value", nil, "oauth_error", "invalid_request")
	default:
		return answer{}, fault.New(fault.UnsupportedGrantType, "grant_type must be client_credentials.",
			"parameter", "grant_type", "value", clip(grant), "oauth_error", "unsupported_grant_type")
	}
	grant, err := a.Authority.Issue(x.ctx(), f.client, f.Get("scope"))
	if err != nil {
		return answer{}, err
	}
	b := append(x.buf, `{"access_token":"`...)
	b = append(b, grant.Token...)
	b = append(b, `","token_type":"Bearer","expires_in":`...)
	b = strconv.AppendInt(b, int64(grant.Lifetime.Seconds()), 10)
	b = append(b, `,"scope":"`...)
	b = append(b, grant.Scope.String()...)
	x.buf = append(b, `"}`...)
	x.h["Pragma"] = []string{"no-cache"}
	return answer{status: http.StatusOK, body: x.buf}, nil
}

// tokenParameter returns the client of a request and the token that it wants
// to revoke or introspect.
func (a *API) tokenParameter(x *exchange) (client *clients.Client, token string, err error) {
	f, err := a.tokenForm(x)
	if err != nil {
		return f.client, "", err
	}
	if token = f.Get("token"); token == "" {
		err = fault.New(fault.InvalidParameter, "token is missing.", "parameter", "token", "value", nil, "oauth_error", "invalid_request")
	}
	return f.client, token, err
}

// revokeToken returns 200 even if the token is unknown or belongs to another
// client (RFC 7009).
func (a *API) revokeToken(x *exchange) (answer, error) {
	client, token, err := a.tokenParameter(x)
	if err != nil {
		return answer{}, err
	}
	if err := a.Authority.Revoke(x.ctx(), client, token, x.line(audit.TokenRevoke, "")); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: []byte("{}")}, nil
}

func (a *API) introspectToken(x *exchange) (answer, error) {
	client, text, err := a.tokenParameter(x)
	if err != nil {
		return answer{}, err
	}
	token, active, err := a.Authority.Introspect(x.ctx(), client, text)
	if err != nil {
		return answer{}, err
	}
	if !active {
		return answer{status: http.StatusOK, body: []byte(`{"active":false}`)}, nil
	}
	return x.json(http.StatusOK, map[string]any{
		"active": true, "scope": token.Scope.String(), "client_id": token.Principal.ClientID,
		"token_type": "Bearer", "exp": token.ExpiresAt.Unix(), "iat": token.IssuedAt.Unix(),
	}), nil
}
