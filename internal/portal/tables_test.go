package portal

import (
	"testing"

	"anodyne/internal/store"
)

func TestEveryDisabledReasonHasWords(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{store.DisabledByRequest, store.DisabledGone, store.DisabledFailing} {
		if disabledReasons[reason] == "" {
			t.Errorf("%q has no words", reason)
		}
	}
}
