package webhook

import (
	"net/http"
	"time"
)

// Message is what one attempt sends.
type Message struct {
	URL string
	// ID is the same in every attempt, so that a receiver can tell a repeat.
	ID string
	// Secrets sign the message, each of them; there are two while a secret
	// is being rotated.
	Secrets []string
	Body    []byte
	// At is the moment of the attempt, which is signed: receivers refuse
	// what is old.
	At time.Time
}

// Attempt is what came of sending a message.
type Attempt struct {
	At      time.Time
	Latency time.Duration
	// Status is 0 when no answer came.
	Status int
	// Answer is the beginning of the answer's body, as printable text.
	Answer string
	// Error says in plain words why the attempt failed; empty when it did not.
	Error string
	// RetryAfter is how long the receiver asks to be left alone; 0 when it
	// does not say.
	RetryAfter time.Duration
}

// OK reports whether the message was delivered: a 2xx, complete and in time.
func (a Attempt) OK() bool { return a.Error == "" && a.Status/100 == 2 }

// Gone reports whether the receiver asks to be sent nothing any more.
func (a Attempt) Gone() bool { return a.Status == http.StatusGone }
