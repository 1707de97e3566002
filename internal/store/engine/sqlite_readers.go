package engine

import (
	"context"
	"errors"
	"sync"
	"time"
)

// readers are the connections that read a SQLite file. Whoever needs one gets
// the one that was given back last: its pages are in its cache, and in the
// processor's. In turns, each of them would have to read every page again after
// a commit, which empties the caches of all.
type readers struct {
	free    chan struct{} // holds one for each that is idle
	closing chan struct{}
	mu      sync.Mutex
	idle    []*sqliteConn
	waits   waits
}

func newReaders(most int) *readers {
	return &readers{free: make(chan struct{}, most), closing: make(chan struct{})}
}

// most is how many readers there are when all are idle.
func (r *readers) most() int { return cap(r.free) }

// take gives a reader, as soon as there is one.
func (r *readers) take(ctx context.Context) (*sqliteConn, error) {
	select {
	case <-r.free:
	default: // only who has to wait pays for the other channels
		defer r.waits.begin()()
		select {
		case <-r.free:
		case <-r.closing:
			return nil, errClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return r.pop(), nil
}

// pop gives an idle reader to whoever took one of free.
func (r *readers) pop() *sqliteConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.idle) - 1
	c := r.idle[last]
	r.idle = r.idle[:last]
	return c
}

// give takes a reader back.
func (r *readers) give(c *sqliteConn) {
	c.end()
	r.mu.Lock()
	r.idle = append(r.idle, c)
	r.mu.Unlock()
	r.free <- struct{}{}
}

// close waits for the readers that are out, but not for ever: a reader that
// does not come back belongs to a request that was abandoned.
func (r *readers) close() error {
	close(r.closing)
	var errs error
	patience := time.After(5 * time.Second)
	for range r.most() {
		select {
		case <-r.free:
			errs = errors.Join(errs, r.pop().close())
		case <-patience:
			return errors.Join(errs, errors.New("a reader is still in use"))
		}
	}
	return errs
}

// abandon closes those that were opened, when not all of them can be.
func (r *readers) abandon() error {
	var errs error
	for _, c := range r.idle {
		errs = errors.Join(errs, c.close())
	}
	return errs
}
