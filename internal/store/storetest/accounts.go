package storetest

import (
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/accounts"
)

// NewMember returns the description of the n-th member.
func NewMember(n int, role access.Role) accounts.NewAccount {
	return accounts.NewAccount{Email: fmt.Sprintf("member%d@example.org", n), Name: fmt.Sprintf("Member %d", n), Role: role, PasswordHash: "hash"}
}

// PortalLine returns the start of an audit line for an action in the portal.
func PortalLine(now time.Time) audit.Entry { return audit.Entry{At: now, Source: "192.0.2.1"} }

// TryOf returns a sign-in attempt from a fixed network.
func TryOf(email string) accounts.SignInTry {
	return accounts.SignInTry{EmailHash: []byte(email), Network: "192.0.2.1/32"}
}

// ErrOf returns the error of a call that also returns a value.
func ErrOf[T any](_ T, err error) error { return err }
