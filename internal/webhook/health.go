package webhook

import (
	"time"

	"anodyne.example/anodyne/internal/store"
)

// health is how an endpoint does.
type health struct {
	// failingSince is the time of the first failure after the last success;
	// zero when the last attempt succeeded.
	failingSince time.Time
	// failures counts those in a row.
	failures int
}

// failingAt reports an endpoint that has been failing for a while.
func (h health) failingAt(now time.Time) bool {
	return !h.failingSince.IsZero() && now.Sub(h.failingSince) >= failingFor
}

// after judges one attempt more. The reason, when not empty, is why the
// endpoint is to be disabled: the receiver says so, or nothing but failure for
// long, of which this attempt is one.
func (h health) after(a Attempt) (_ health, disable string) {
	if a.OK() {
		return health{}, ""
	}
	h.failures++
	if h.failingSince.IsZero() {
		h.failingSince = a.At
	}
	switch {
	case a.Gone():
		return h, store.DisabledGone
	case a.At.Sub(h.failingSince) >= store.FailingFor:
		return h, store.DisabledFailing
	}
	return h, ""
}
