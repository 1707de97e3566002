// Package webhooks keeps the endpoints of organisations and what was delivered
// to them: the cursors in the journal, the claims of the nodes that deliver,
// attempts, retries and their counts. Who sends, and when an endpoint has failed
// too often, is in internal/webhook.
package webhooks
