package idempotency

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

// A request waits for a running one with the same key, for a short time. If
// that succeeds, all waiting requests continue; if it fails, one does.
func TestUnderway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUnderway(5 * time.Second)
		enter := func(key string) func(bool) {
			t.Helper()
			done, err := u.enter(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			return done
		}
		first := enter("a")
		enter("b")(true) // another key does not wait
		began := time.Now()
		if _, err := u.enter(t.Context(), "a"); !fault.Is(err, fault.IdempotencyRunning) || time.Since(began) != u.patience {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := u.enter(gone, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that the caller left", err)
		}
		var waiting sync.WaitGroup
		entered := make(chan func(bool), 3)
		for range cap(entered) {
			waiting.Go(func() {
				done, err := u.enter(t.Context(), "a")
				if err != nil {
					t.Error(err)
				}
				entered <- done
			})
		}
		synctest.Wait()
		first(false)
		synctest.Wait()
		if len(entered) != 1 {
			t.Errorf("%d go on after a failure, want one", len(entered))
		}
		second := <-entered
		second(true)
		synctest.Wait()
		if len(entered) != 2 || len(u.keys) != 0 {
			t.Errorf("%d go on after a success, want the two others; %d keys are left", len(entered), len(u.keys))
		}
		waiting.Wait()
	})
}
