package storetest

import (
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/accounts"
)

// NewMember describes the n-th member.
func NewMember(n int, role access.Role) accounts.NewAccount {
	return accounts.NewAccount{Email: fmt.Sprintf("member%d@example.org", n), Name: fmt.Sprintf("Member %d", n), Role: role, PasswordHash: "hash"}
}

// PortalLine begins the audit line of somebody in the portal.
func PortalLine(now time.Time) audit.Entry { return audit.Entry{At: now, Source: "192.0.2.1"} }

// TryOf is an attempt from one network.
func TryOf(email string) accounts.SignInTry {
	return accounts.SignInTry{EmailHash: []byte(email), Network: "192.0.2.1/32"}
}

// ErrOf is the error of a call with a result.
func ErrOf[T any](_ T, err error) error { return err }
