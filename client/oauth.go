package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Introspection describes a token. For an inactive token, all other fields are
// empty.
type Introspection struct {
	Active    bool
	ClientID  string
	Scopes    []string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Revoke revokes a token of this client. Revoking an unknown or expired token
// is not an error. If the token is the one in use, the next call requests a
// new one.
func (c *Client) Revoke(ctx context.Context, accessToken string) error {
	_, err := c.do(ctx, c.tokenCall("revoke token", "revoke", accessToken), nil)
	if err == nil {
		c.tokens.drop(accessToken)
	}
	return err
}

// Introspect returns the state of a token.
func (c *Client) Introspect(ctx context.Context, accessToken string) (*Introspection, error) {
	var answer struct {
		Active   bool   `json:"active"`
		ClientID string `json:"client_id"`
		Scope    string `json:"scope"`
		IssuedAt int64  `json:"iat"`
		Expires  int64  `json:"exp"`
	}
	if _, err := c.do(ctx, c.tokenCall("introspect token", "introspect", accessToken), &answer); err != nil {
		return nil, err
	}
	return &Introspection{
		Active:    answer.Active,
		ClientID:  answer.ClientID,
		Scopes:    strings.Fields(answer.Scope),
		IssuedAt:  epoch(answer.IssuedAt),
		ExpiresAt: epoch(answer.Expires),
	}, nil
}

func (c *Client) tokenCall(op, endpoint, accessToken string) *call {
	return &call{
		op:     op,
		method: http.MethodPost,
		path:   []string{"oauth", endpoint},
		body:   url.Values{"token": {accessToken}},
		oauth:  true,
	}
}

// epoch converts seconds since 1970 to a time, and zero to the zero time.
func epoch(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
