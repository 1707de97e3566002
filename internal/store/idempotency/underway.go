package idempotency

import (
	"context"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

// underway tracks the Idempotency-Keys of requests running in this process, so
// that others with the same key wait without holding a connection.
type underway struct {
	patience time.Duration
	mu       *sync.Mutex
	keys     map[string]*first
}

// first is the request running under a key.
type first struct {
	ended chan struct{}
	ok    bool // set when it ends
}

func newUnderway(patience time.Duration) underway {
	return underway{patience, &sync.Mutex{}, map[string]*first{}}
}

// enter waits while another request with the key is running. The caller must
// call done when it ends, with whether it succeeded. After a success all
// waiting requests enter together and find the outcome. After a failure one of
// them does.
func (u *underway) enter(ctx context.Context, key string) (done func(ok bool), err error) {
	var patience <-chan time.Time
	for {
		u.mu.Lock()
		other := u.keys[key]
		if other == nil {
			own := &first{ended: make(chan struct{})}
			u.keys[key] = own
			u.mu.Unlock()
			return func(ok bool) {
				u.mu.Lock()
				delete(u.keys, key)
				u.mu.Unlock()
				own.ok = ok
				close(own.ended)
			}, nil
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
				return func(bool) {}, nil
			}
		case <-patience:
			return nil, stillRunning()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func stillRunning() error {
	e := fault.New(fault.IdempotencyRunning, "The first request with this Idempotency-Key is still running; try again shortly.")
	e.RetryAfter = time.Second
	return e
}
