// Package clients keeps the applications that call the API: their secrets,
// scopes and tiers, their tokens, the windows of their rate limits, and how much
// they ask.
package clients
