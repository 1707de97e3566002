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
// that succeeds, all waiting requests get its outcome, unless they have another
// body; if it fails or panics, one continues.
func TestUnderway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUnderway(5 * time.Second)
		body := func(text string) *Once { return &Once{Body: []byte(text)} }
		enter := func(place string) *first {
			t.Helper()
			own, _, err := u.enter(t.Context(), place, body("x"))
			if err != nil || own == nil {
				t.Fatalf("%v, %v", own, err)
			}
			return own
		}
		one := enter("a")
		u.end(enter("b")) // another key does not wait
		began := time.Now()
		if _, _, err := u.enter(t.Context(), "a", body("x")); !fault.Is(err, fault.IdempotencyRunning) || time.Since(began) != u.patience {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, _, err := u.enter(gone, "a", body("x")); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that the caller left", err)
		}
		type entered struct {
			own *first
			out Outcome
			err error
		}
		results := make(chan entered, 3)
		var waiting sync.WaitGroup
		for range cap(results) {
			waiting.Go(func() {
				own, out, err := u.enter(t.Context(), "a", body("x"))
				results <- entered{own, out, err}
			})
		}
		synctest.Wait()
		u.end(one)
		synctest.Wait()
		if len(results) != 1 {
			t.Fatalf("%d go on after a failure, want one", len(results))
		}
		second := (<-results).own
		waiting.Go(func() {
			if _, _, err := u.enter(t.Context(), "a", body("y")); !fault.Is(err, fault.IdempotencyKeyReused) {
				t.Errorf("another body: %v", err)
			}
		})
		synctest.Wait()
		buffer := []byte("made")
		second.succeed(Outcome{Status: 201, Body: buffer})
		copy(buffer, "next")
		u.end(second)
		waiting.Wait()
		for range 2 {
			if r := <-results; r.own != nil || r.err != nil || !r.out.Replayed || r.out.Status != 201 || string(r.out.Body) != "made" {
				t.Errorf("after a success: %+v", r)
			}
		}
		if len(u.keys) != 0 {
			t.Errorf("%d keys are left", len(u.keys))
		}
	})
}
