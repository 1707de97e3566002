package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Introspection is what the service knows of a token. Of a token that is not
// active it tells nothing else.
type Introspection struct {
	Active    bool
	ClientID  string
	Scopes    []string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Revoke ends a token of this client. A token that is unknown or already ended
// is no error. When it is the token in use, the next call gets a new one.
func (c *Client) Revoke(ctx context.Context, accessToken string) error {
	_, err := c.do(ctx, c.tokenCall("revoke token", "revoke", accessToken), nil)
	if err == nil {
		c.tokens.drop(accessToken)
	}
	return err
}

// Introspect asks the service about a token.
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
		body: url.Values{
			"token":         {accessToken},
			"client_id":     {c.id},
			"client_secret": {c.secret},
		},
		oauth: true,
	}
}

// epoch makes a time of seconds since 1970, and none of none.
func epoch(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
