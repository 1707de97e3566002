package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// renewalTimeout bounds a shared token request, retries included.
	renewalTimeout = time.Minute

	// renewalMargin is how long before its expiry a token is renewed, so that
	// none expires on its way; a short-lived token has a tenth of its life.
	renewalMargin = time.Minute
)

// Token is an access token.
type Token struct {
	AccessToken string
	Scopes      []string
	// Expiry is zero when it is not known.
	Expiry time.Time
}

// String keeps the token itself out of logs.
func (t Token) String() string {
	return "access token for " + strings.Join(t.Scopes, " ") + " until " + t.Expiry.Format(time.RFC3339)
}

// Token returns the access token in use and gets one first when there is none,
// or when the last is about to expire.
func (c *Client) Token(ctx context.Context) (Token, error) {
	const op = "get token"
	if token, ok := c.tokens.current(); ok {
		return token, nil
	}
	if err := ctx.Err(); err != nil {
		return Token{}, &netError{op, err}
	}
	// The request is shared, so it must not end with the context of the caller
	// that happened to be first.
	renewal := c.tokens.renew(func() (Token, error) {
		if token, ok := c.tokens.current(); ok {
			return token, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewalTimeout)
		defer cancel()
		return c.requestToken(ctx, op)
	})
	select {
	case <-renewal.done:
		return renewal.token, renewal.err
	case <-ctx.Done():
		return Token{}, &netError{op, ctx.Err()}
	}
}

func (c *Client) requestToken(ctx context.Context, op string) (Token, error) {
	form := url.Values{
		"grant_type":    {"client_credentials"},
		"client_id":     {c.id},
		"client_secret": {c.secret},
	}
	if c.scope != "" {
		form.Set("scope", c.scope)
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int64  `json:"expires_in"`
		Scope       string `json:"scope"`
	}
	call := &call{op: op, method: http.MethodPost, path: []string{"oauth", "token"}, body: form, oauth: true}
	if _, err := c.do(ctx, call, &answer); err != nil {
		return Token{}, err
	}
	if answer.AccessToken == "" || !strings.EqualFold(answer.TokenType, "Bearer") {
		return Token{}, errors.New("anodyne: get token: the answer has no bearer token")
	}
	token := Token{AccessToken: answer.AccessToken, Scopes: strings.Fields(answer.Scope)}
	c.tokens.keep(&token, time.Duration(answer.ExpiresIn)*time.Second)
	return token, nil
}

// tokens holds the token in use.
type tokens struct {
	mu      sync.Mutex
	held    Token
	renewAt time.Time // zero: only when it is refused
	fixed   bool
	renewal *renewal // the request under way, if any
}

// renewal is a request for a token, shared by all callers that need one. Its
// result may be read once done is closed.
type renewal struct {
	done  chan struct{}
	token Token
	err   error
}

// renew joins the request under way, or starts one.
func (t *tokens) renew(request func() (Token, error)) *renewal {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.renewal != nil {
		return t.renewal
	}
	r := &renewal{done: make(chan struct{})}
	t.renewal = r
	go func() {
		r.token, r.err = request()
		t.mu.Lock()
		t.renewal = nil
		t.mu.Unlock()
		close(r.done)
	}()
	return r
}

// current returns the token in use, and false when it is time for another.
func (t *tokens) current() (Token, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fixed {
		return t.held, true
	}
	due := !t.renewAt.IsZero() && !time.Now().Before(t.renewAt)
	return t.held, t.held.AccessToken != "" && !due
}

// keep takes a new token into use and sets its expiry.
func (t *tokens) keep(token *Token, lifetime time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewAt = time.Time{}
	if lifetime > 0 {
		token.Expiry = time.Now().Add(lifetime)
		t.renewAt = token.Expiry.Add(-min(renewalMargin, lifetime/10))
	}
	t.held = *token
}

// fix takes a token into use for good.
func (t *tokens) fix(accessToken string) {
	t.held, t.fixed = Token{AccessToken: accessToken}, true
}

// drop gives a refused token up, unless another is in use already. It reports
// whether there can be another.
func (t *tokens) drop(accessToken string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fixed {
		return false
	}
	if t.held.AccessToken == accessToken {
		t.held = Token{}
	}
	return true
}
