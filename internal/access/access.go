// Package access defines who is calling and what they may do: principals,
// scopes, roles and tiers. It has no I/O; internal/oauth verifies tokens.
package access

import (
	"time"

	"anodyne.example/anodyne/internal/id"
)

// OrgNo, ClientNo and AccountNo are the numeric keys of rows in the store.
// They are internal to the process.
type (
	OrgNo     int64
	ClientNo  int64
	AccountNo int64
)

// Principal is an authenticated caller of one organisation: a client or, in
// the portal, a member, who has no client.
type Principal struct {
	Org      OrgNo
	OrgID    id.Org
	Account  AccountNo
	Client   ClientNo
	ClientID id.Client
	Scopes   Scopes
	// SMART is what SMART scopes of a token permit with FHIR resources,
	// besides what Scopes permit; see [Principal.MayFHIR].
	SMART SMART
	Tier  Tier
}

// Grant is an issued access token.
type Grant struct {
	Token    string
	Lifetime time.Duration
	// Scope is what it was issued for.
	Scope Asked
}
