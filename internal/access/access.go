// Package access says who is asking and what they may do: principal, scopes,
// tiers. It is pure; tokens are verified in internal/oauth.
package access

import (
	"time"

	"anodyne.example/anodyne/internal/id"
)

// OrgNo, ClientNo and AccountNo are the numbers the store keys its rows by.
// They never leave the process.
type (
	OrgNo     int64
	ClientNo  int64
	AccountNo int64
)

// Principal is a verified caller of one organisation: a client, or in the
// portal a member, who has no client.
type Principal struct {
	Org      OrgNo
	OrgID    id.Org
	Account  AccountNo
	Client   ClientNo
	ClientID id.Client
	Scopes   Scopes
	Tier     Tier
}

// Grant is an issued access token.
type Grant struct {
	Token    string
	Lifetime time.Duration
	Scopes   Scopes
}
