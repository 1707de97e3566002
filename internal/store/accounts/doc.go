// Package accounts stores organisations and their members: accounts and roles,
// invitations, sessions, reset links, and sign-in attempts.
package accounts
