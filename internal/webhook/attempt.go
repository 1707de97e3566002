package webhook

import (
	"net/http"
	"time"
)

// Message is the content of one attempt.
type Message struct {
	URL string
	// ID is the same in every attempt, so that a receiver can recognise a
	// repeat.
	ID string
	// Secrets all sign the message. There are two while a secret is being
	// rotated.
	Secrets []string
	Body    []byte
	// At is the time of the attempt. It is signed, so that receivers can reject
	// old messages.
	At time.Time
}

// Attempt is the result of sending a message.
type Attempt struct {
	At      time.Time
	Latency time.Duration
	// Status is 0 if there was no response.
	Status int
	// Answer is the beginning of the response body, as printable text.
	Answer string
	// Error explains why the attempt failed; it is empty if it did not.
	Error string
	// RetryAfter is the delay requested by the receiver, or 0.
	RetryAfter time.Duration
}

// OK reports whether the message was delivered: a complete 2xx response within
// the time limit.
func (a Attempt) OK() bool { return a.Error == "" && a.Status/100 == 2 }

// Gone reports whether the receiver asks for no further messages.
func (a Attempt) Gone() bool { return a.Status == http.StatusGone }
