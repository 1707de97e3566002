// Package webhooks stores the endpoints of organisations and the deliveries to
// them: cursors in the journal, claims of delivering nodes, attempts, retries
// and their counts. Sending, and the rule for disabling a failing endpoint, are
// in internal/webhook.
package webhooks
