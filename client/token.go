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
	// renewalTimeout limits a shared token request, including retries.
	renewalTimeout = time.Minute

	// renewalMargin is how long before expiry a token is renewed, so that none
	// expires in transit. For a short-lived token it is a tenth of its
	// lifetime.
	renewalMargin = time.Minute
)

// Token is an access token.
type Token struct {
	AccessToken string
	Scopes      []string
	// Expiry is zero if unknown.
	Expiry time.Time
}

// String hides the token, so that a Token can be logged.
func (t Token) String() string {
	return "access token for " + strings.Join(t.Scopes, " ") + " until " + t.Expiry.Format(time.RFC3339)
}

// Token returns the current access token. It requests a new one if there is
// none or the current one is about to expire.
func (c *Client) Token(ctx context.Context) (Token, error) {
	const op = "get token"
	if token, ok := c.tokens.current(); ok {
		return token, nil
	}
	if err := ctx.Err(); err != nil {
		return Token{}, &netError{op, err}
	}
	// The request is shared, so it must not be cancelled with the context of
	// the first caller.
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
	form := url.Values{"grant_type": {"client_credentials"}}
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

// tokens holds the current token.
type tokens struct {
	mu      sync.Mutex
	held    Token
	renewAt time.Time // zero: only if it is rejected
	fixed   bool
	renewal *renewal // request in progress, if any
}

// renewal is a token request shared by all callers that need one. Its result
// may be read once done is closed.
type renewal struct {
	done  chan struct{}
	token Token
	err   error
}

// renew joins the request in progress or starts one.
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

// current returns the current token, and false if a new one is needed.
func (t *tokens) current() (Token, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fixed {
		return t.held, true
	}
	due := !t.renewAt.IsZero() && !time.Now().Before(t.renewAt)
	return t.held, t.held.AccessToken != "" && !due
}

// keep stores a new token and sets its expiry.
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

// fix stores a token that is never renewed.
func (t *tokens) fix(accessToken string) {
	t.held, t.fixed = Token{AccessToken: accessToken}, true
}

// drop discards a rejected token, unless it was already replaced. It reports
// whether a new one can be requested.
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
