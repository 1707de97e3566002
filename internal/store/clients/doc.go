// Package clients stores the applications that call the API: their secrets,
// scopes and tiers, their tokens, their rate limit windows, and their usage.
package clients
