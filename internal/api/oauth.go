package api

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store"
)

// form is a form body whose sender has shown valid credentials.
type form struct {
	url.Values
	client *store.Client
}

var errNoCredentials = fault.New(fault.InvalidClient,
	"Send client_id and client_secret in the form, or as HTTP Basic.", "oauth_error", "invalid_client")

// revocationLimit is how many tokens a client may end or look up in an hour,
// from one address, after its own allowance is used up.
const revocationLimit = 100

// NewRevocations makes what counts those, for up to capacity pairs of client
// and address.
func NewRevocations(capacity int, now func() time.Time) *ratelimit.Addresses {
	return ratelimit.NewAddresses(revocationLimit, capacity, now)
}

// clientForm reads the form, knows the client by its secret and counts the
// request: for the client when its credentials are valid, else for the source
// address.
func (a *API) clientForm(x *exchange) (form, error) {
	f, err := a.authenticated(x)
	if err != nil {
		return f, err
	}
	p := f.client.Principal()
	return f, a.take(x, &p)
}

// tokenForm is clientForm of requests that end a token or ask about one.
// Whoever stole a token or a secret can use up the client's allowance, and must
// not keep its owner from revoking by that. So there is a small allowance
// beside it, which is counted by address too: the thief uses up his own.
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

// authenticated reads the form and knows the client by its secret.
func (a *API) authenticated(x *exchange) (form, error) {
	f, err := a.readForm(x)
	if err != nil {
		return f, a.refuse(x, err)
	}
	clientID, secret, err := credentials(x.r.Header["Authorization"], f.Values)
	if err == nil {
		f.client, err = a.Authority.Authenticate(x.ctx(), clientID, secret)
	}
	if err != nil {
		return f, a.refuse(x, err)
	}
	return f, nil
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
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope", "token", "token_type_hint"} {
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

// credentials come in the form or as HTTP Basic, not as both. Basic is
// form-encoded inside, as RFC 6749 (2.3.1) has it.
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

// basic reads an Authorization header of the Basic scheme.
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
	b = append(b, grant.Scopes.String()...)
	x.buf = append(b, `"}`...)
	x.h["Pragma"] = []string{"no-cache"}
	return answer{status: http.StatusOK, body: x.buf}, nil
}

// tokenParameter is the token that is asked about or ended.
func (f form) tokenParameter() (string, error) {
	token := f.Get("token")
	if token == "" {
		return "", fault.New(fault.InvalidParameter, "token is missing.", "parameter", "token", "value", nil, "oauth_error", "invalid_request")
	}
	return token, nil
}

// revokeToken answers 200 also for a token that is unknown or another's, as
// RFC 7009 has it.
func (a *API) revokeToken(x *exchange) (answer, error) {
	f, err := a.tokenForm(x)
	if err != nil {
		return answer{}, err
	}
	token, err := f.tokenParameter()
	if err != nil {
		return answer{}, err
	}
	if err := a.Authority.Revoke(x.ctx(), f.client, token, x.line(audit.TokenRevoke, "")); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: []byte("{}")}, nil
}

func (a *API) introspectToken(x *exchange) (answer, error) {
	f, err := a.tokenForm(x)
	if err != nil {
		return answer{}, err
	}
	text, err := f.tokenParameter()
	if err != nil {
		return answer{}, err
	}
	token, active, err := a.Authority.Introspect(x.ctx(), f.client, text)
	if err != nil {
		return answer{}, err
	}
	if !active {
		return answer{status: http.StatusOK, body: []byte(`{"active":false}`)}, nil
	}
	return x.json(http.StatusOK, map[string]any{
		"active": true, "scope": token.Principal.Scopes.String(), "client_id": token.Principal.ClientID,
		"token_type": "Bearer", "exp": token.ExpiresAt.Unix(), "iat": token.IssuedAt.Unix(),
	}), nil
}

// oauthMetadata tells OAuth libraries where everything is (RFC 8414).
func (a *API) oauthMetadata(x *exchange) (answer, error) {
	base := a.base(x.r)
	methods := []string{"client_secret_basic", "client_secret_post"}
	return x.json(http.StatusOK, map[string]any{
		"issuer":                                        base,
		"token_endpoint":                                base + "/oauth/token",
		"revocation_endpoint":                           base + "/oauth/revoke",
		"introspection_endpoint":                        base + "/oauth/introspect",
		"token_endpoint_auth_methods_supported":         methods,
		"revocation_endpoint_auth_methods_supported":    methods,
		"introspection_endpoint_auth_methods_supported": methods,
		"grant_types_supported":                         []string{"client_credentials"},
		"response_types_supported":                      []string{},
		"scopes_supported":                              access.AllScopes.Names(),
		"service_documentation":                         base + "/openapi.json",
	}), nil
}
