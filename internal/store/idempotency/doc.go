// Package idempotency runs a write once for each Idempotency-Key: it keeps the
// outcome in the transaction of the write, and gives it again to whoever comes
// with the same key.
package idempotency
