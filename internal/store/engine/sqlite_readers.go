package engine

import (
	"context"
	"errors"
	"sync"
	"time"
)

// readers is the pool of connections that read a SQLite file. It is last in,
// first out: the connection released last has the pages in its cache, and in
// that of the CPU. In rotation, each of them would have to read every page
// again after a commit, which invalidates all caches.
type readers struct {
	free    chan struct{} // one element per idle reader
	closing chan struct{}
	mu      sync.Mutex
	idle    []*sqliteConn
	waits   waits
}

func newReaders(most int) *readers {
	return &readers{free: make(chan struct{}, most), closing: make(chan struct{})}
}

// most returns the total number of readers.
func (r *readers) most() int { return cap(r.free) }

// readerTime bounds the wait of a lookup for a reader.
const readerTime = time.Minute

// take returns a reader as soon as one is idle. It waits at most as long as
// given, unless that is 0.
func (r *readers) take(ctx context.Context, wait time.Duration) (*sqliteConn, error) {
	select {
	case <-r.free:
	default: // only callers that have to wait pay for the other channels
		defer r.waits.begin()()
		if wait > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, wait)
			defer cancel()
		}
		select {
		case <-r.free:
		case <-r.closing:
			return nil, errClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c := r.pop()
	if err := c.ready(); err != nil {
		r.give(c)
		return nil, err
	}
	return c, nil
}

// pop returns an idle reader to a caller that received from free.
func (r *readers) pop() *sqliteConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.idle) - 1
	c := r.idle[last]
	r.idle = r.idle[:last]
	return c
}

// give returns a reader to the pool.
func (r *readers) give(c *sqliteConn) {
	c.end()
	r.mu.Lock()
	r.idle = append(r.idle, c)
	r.mu.Unlock()
	r.free <- struct{}{}
}

// close waits for the readers in use, but not forever: one that is not returned
// belongs to an abandoned request.
func (r *readers) close() error {
	close(r.closing)
	var errs error
	patience := time.After(5 * time.Second)
	for range r.most() {
		select {
		case <-r.free:
		case <-patience:
			select {
			case <-r.free: // the time was up while it was returned
				patience = time.After(0)
			default:
				return errors.Join(errs, errors.New("a reader is still in use"))
			}
		}
		errs = errors.Join(errs, r.pop().close())
	}
	return errs
}

// abandon closes the open readers after one could not be opened.
func (r *readers) abandon() error {
	var errs error
	for _, c := range r.idle {
		errs = errors.Join(errs, c.close())
	}
	return errs
}
