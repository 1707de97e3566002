package webhook

import (
	"time"

	"anodyne.example/anodyne/internal/store/webhooks"
)

// health is the health of an endpoint.
type health struct {
	// failingSince is the time of the first failure after the last success, or
	// zero if the last attempt succeeded.
	failingSince time.Time
	// failures counts consecutive failures.
	failures int
}

// failingAt reports whether the endpoint has been failing for a while.
func (h health) failingAt(now time.Time) bool {
	return !h.failingSince.IsZero() && now.Sub(h.failingSince) >= failingFor
}

// after returns the health after an attempt. disable, if not empty, is the
// reason to disable the endpoint: the receiver asked for it, or all attempts
// including this one have failed for too long.
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
		return h, webhooks.DisabledGone
	case a.At.Sub(h.failingSince) >= webhooks.FailingFor:
		return h, webhooks.DisabledFailing
	}
	return h, ""
}
