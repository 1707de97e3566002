// Package client is the Go client for the Anodyne API.
//
//	c := client.New("https://anodyne.example.org", clientID, clientSecret)
//	patient, err := c.CreatePatient(ctx, client.NewPatient{
//		Name:        "Ada Example",
//		DateOfBirth: "1980-02-29",
//	})
//
// A Client is safe for concurrent use and should be reused: it holds the
// access token and the connections.
//
// # Tokens
//
// The client requests an access token when it first needs one, renews it
// shortly before it expires, and renews it once if the service rejects it as
// expired, revoked or invalid. Concurrent callers that need a token share one
// request for it.
//
// With [WithPrivateKey], the client authenticates with a registered key pair
// instead of the secret (private_key_jwt, as in SMART Backend Services).
//
// # Errors
//
// An unsuccessful response of the service is returned as an [*Error] with its
// status, code and details; [IsNotFound] and [IsCode] cover the common checks.
// A transport error (a refused connection, a timeout, a cancelled context)
// wraps its cause, so errors.Is(err, ctx.Err()) is true if the context ended
// the call. Error messages never quote a request or the details of a response,
// so they are safe to log.
//
// # Retries
//
// A call is retried, by default up to three times, if the service responds
// with 429 or 503, or if the connection fails and the call is safe to repeat.
// The delay follows Retry-After, and otherwise grows from a quarter of a
// second; jitter keeps many clients from retrying at the same moment. If the
// service asks for more than a minute, or for more time than the context has
// left, the error is returned at once, with the requested delay in RetryAfter.
//
// Every POST carries an Idempotency-Key, which is the same for all attempts of
// one call, so an attempt with a lost response does not take effect twice. A
// caller that must be able to repeat a call after a crash sets its own key
// with [WithIdempotencyKey].
package client
