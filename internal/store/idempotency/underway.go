package idempotency

import (
	"bytes"
	"context"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

// underway tracks the Idempotency-Keys of requests running in this process, so
// that others with the same key wait without holding a connection, and get the
// outcome without asking the database.
type underway struct {
	patience time.Duration
	mu       *sync.Mutex
	keys     map[string]*first
}

// first is the request running under a key.
type first struct {
	place string
	key   *Once
	ended chan struct{}
	// ok and out are set by succeed.
	ok  bool
	out Outcome
}

func newUnderway(patience time.Duration) underway {
	return underway{patience, &sync.Mutex{}, map[string]*first{}}
}

// enter waits while another request with the key is running. After a success
// all waiting requests get its outcome, and a nil first. After a failure one of
// them becomes the first, which must call end.
func (u *underway) enter(ctx context.Context, place string, key *Once) (own *first, out Outcome, err error) {
	var patience <-chan time.Time
	for {
		u.mu.Lock()
		other := u.keys[place]
		if other == nil {
			own = &first{place: place, key: key, ended: make(chan struct{})}
			u.keys[place] = own
			u.mu.Unlock()
			return own, out, nil
		}
		u.mu.Unlock()
		if patience == nil {
			timer := time.NewTimer(u.patience)
			defer timer.Stop()
			patience = timer.C
		}
		select {
		case <-other.ended:
			if other.ok {
				out, err = other.replay(key)
				return nil, out, err
			}
		case <-patience:
			return nil, out, stillRunning()
		case <-ctx.Done():
			return nil, out, ctx.Err()
		}
	}
}

// succeed keeps the outcome for the waiting requests. It copies the body, whose
// buffer the caller may use for another response.
func (f *first) succeed(out Outcome) {
	f.ok, f.out = true, out
	f.out.Body = bytes.Clone(out.Body)
}

// end lets the waiting requests go on. A first that did not call succeed, such
// as one that panicked, counts as failed.
func (u *underway) end(own *first) {
	u.mu.Lock()
	delete(u.keys, own.place)
	u.mu.Unlock()
	close(own.ended)
}

// replay returns the outcome for another request with the key.
func (f *first) replay(key *Once) (Outcome, error) {
	if !bytes.Equal(f.key.Body, key.Body) {
		return Outcome{}, keyReused()
	}
	out := f.out
	out.Replayed = true
	return out, nil
}

func keyReused() error {
	return fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key was already used with a different body; use a new key for a new request.")
}

func stillRunning() error {
	e := fault.New(fault.IdempotencyRunning, "The first request with this Idempotency-Key is still running; try again shortly.")
	e.RetryAfter = time.Second
	return e
}
