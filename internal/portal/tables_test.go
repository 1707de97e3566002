package portal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// Requests that take too long, or are refused under load, get a 503 with
// helpful text; database errors reveal no details.
func TestWhatIsNotAnsweredInTime(t *testing.T) {
	t.Parallel()
	const away = "The database is not responding. Please try again in a moment."
	for _, test := range []struct {
		err  error
		want string
	}{
		{fault.Away("Too many wait.", nil), "Too many wait."},
		{fault.Away("The database is not available.", errors.New("secret")), away},
		{fmt.Errorf("reading: %w", context.DeadlineExceeded), "This took too long. Please try again in a moment."},
		{fmt.Errorf("reading: %w", context.Canceled), "This took too long. Please try again in a moment."},
	} {
		if status, words := statusOf(test.err); status != http.StatusServiceUnavailable || words != test.want {
			t.Errorf("%v: %d %q", test.err, status, words)
		}
	}
}

func TestEveryDisabledReasonHasWords(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{webhooks.DisabledByRequest, webhooks.DisabledGone, webhooks.DisabledFailing} {
		if disabledReasons[reason] == "" {
			t.Errorf("%q has no words", reason)
		}
	}
}
