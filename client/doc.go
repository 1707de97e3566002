// Package client is the Go client of the Anodyne API.
//
//	c := client.New("https://anodyne.example.org", clientID, clientSecret)
//	patient, err := c.CreatePatient(ctx, client.NewPatient{
//		Name:        "Ada Example",
//		DateOfBirth: "1980-02-29",
//	})
//
// A Client is safe for use by many goroutines and is meant to be kept: it holds
// the access token and the connections.
//
// # Tokens
//
// The client asks for an access token when it first needs one, renews it a
// little before it expires, and once more when the service refuses it as
// expired, revoked or invalid. Callers that need a token at the same moment
// share one request for it.
//
// # Errors
//
// An answer of the service that is no success is an [*Error] with the status,
// the code and the details of the answer; [IsNotFound] and [IsCode] ask the
// usual questions. An error on the way there (a refused connection, a timeout,
// a cancelled context) wraps its cause, so that errors.Is(err, ctx.Err()) holds
// once the context has ended a call. No error text quotes a request or the
// details of an answer, so errors can be logged.
//
// # Retries
//
// A call is tried again, by default up to three times, when the service answers
// 429 or 503, and, if repeating it cannot do harm, when the connection fails.
// The waits follow Retry-After and otherwise grow from a quarter of a second;
// a little chance is added, so that many clients do not come back at the same
// moment. When the service asks for more than a minute, or for more than the
// context has left, the error is returned at once, and its RetryAfter says when
// to come back.
//
// Every POST carries an Idempotency-Key, the same over all tries of one call,
// so that a try whose answer was lost does not act twice. A caller that must be
// able to repeat a call after a crash gives a key of its own with
// [WithIdempotencyKey].
package client
