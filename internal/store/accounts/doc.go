// Package accounts keeps the organisations and their members: accounts and
// roles, invitations, sessions, reset links and attempts to sign in.
package accounts
