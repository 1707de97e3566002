// Package idempotency runs a write once for each Idempotency-Key: it stores the
// outcome in the transaction of the write, and returns it to later requests
// with the same key.
package idempotency
