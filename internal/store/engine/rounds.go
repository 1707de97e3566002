package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// ErrAlone is returned by a round that failed for a reason that may concern
// only some of its calls. Each has to be made again on its own, so that no call
// fails because of another.
var ErrAlone = errors.New("the call has to be made on its own")

// Rounds combines calls that wait for the database. A call that finds a free
// lane starts a round at once. While all lanes are busy, calls gather, and the
// next round makes all of them together. The cost of a call therefore falls as
// the load grows, and a single call does not wait.
//
// Every call gets a result: that of its round, the error of its round, or that
// of its context.
type Rounds[Q, A any] struct {
	run     func(ctx context.Context, asked []Q, answers []A) error
	lanes   int
	most    int
	binding bool

	mu      sync.Mutex
	busy    int            // lanes with a round under way
	waiting []*round[Q, A] // in order; only the last accepts calls
}

// RoundsConfig describes how calls are combined.
type RoundsConfig struct {
	// Lanes is how many rounds are under way at a time.
	Lanes int
	// Most is the maximum number of calls in a round.
	Most int
	// Binding is set if the result of a call that has begun matters even if its
	// caller is gone, as that of a write does. Otherwise the end of its context
	// ends a call at any time.
	Binding bool
}

// NewRounds returns rounds that run carries out: it sets answers[i] to the
// answer to asked[i], or returns an error for all. Its context has the values of
// the first call's context. It is cancelled only with that of a single call that
// is not binding.
func NewRounds[Q, A any](cfg RoundsConfig, run func(ctx context.Context, asked []Q, answers []A) error) *Rounds[Q, A] {
	return &Rounds[Q, A]{run: run, lanes: cfg.Lanes, most: cfg.Most, binding: cfg.Binding}
}

// round is a set of calls.
type round[Q, A any] struct {
	calls []*call[Q, A]
	begun chan struct{} // closed when it is decided which calls take part
	done  chan struct{} // closed when the calls have their results
}

type call[Q, A any] struct {
	ctx    context.Context
	asked  Q
	answer A
	err    error
	left   bool // guarded by the lock of Rounds until the round has begun
}

// Do makes a call in the next round.
func (r *Rounds[Q, A]) Do(ctx context.Context, asked Q) (answer A, err error) {
	if err := ctx.Err(); err != nil {
		return answer, err
	}
	c := &call[Q, A]{ctx: ctx, asked: asked}
	joined := r.join(c)
	if joined == nil { // nobody else is waiting, so there is nobody to wait for
		defer r.pass()
		if r.binding {
			ctx = context.WithoutCancel(ctx)
		}
		r.carryOut(ctx, []*call[Q, A]{c})
		return c.answer, c.err
	}
	select {
	case <-joined.done:
		return c.answer, c.err
	case <-ctx.Done():
	}
	r.mu.Lock()
	c.left = true
	r.mu.Unlock()
	if r.binding {
		select {
		case <-joined.begun:
			<-joined.done
			return c.answer, c.err
		default:
		}
	}
	return answer, ctx.Err()
}

// join adds a call to the round that gathers. If a lane is free, it takes that
// instead and returns nil.
func (r *Rounds[Q, A]) join(c *call[Q, A]) *round[Q, A] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy < r.lanes {
		r.busy++
		return nil
	}
	var last *round[Q, A]
	if n := len(r.waiting); n > 0 && len(r.waiting[n-1].calls) < r.most {
		last = r.waiting[n-1]
	} else {
		last = &round[Q, A]{begun: make(chan struct{}), done: make(chan struct{})}
		r.waiting = append(r.waiting, last)
	}
	last.calls = append(last.calls, c)
	return last
}

// pass gives a lane to the calls that have gathered, or frees it.
func (r *Rounds[Q, A]) pass() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) > 0 {
		go r.serve()
	} else {
		r.busy--
	}
}

// serve runs rounds until no call waits.
func (r *Rounds[Q, A]) serve() {
	for {
		r.mu.Lock()
		if len(r.waiting) == 0 {
			r.busy--
			r.mu.Unlock()
			return
		}
		next := r.waiting[0]
		r.waiting[0] = nil
		r.waiting = r.waiting[1:]
		calls := next.calls[:0]
		for _, c := range next.calls {
			if !c.left {
				calls = append(calls, c)
			}
		}
		close(next.begun)
		r.mu.Unlock()
		if len(calls) > 0 {
			r.carryOut(context.WithoutCancel(calls[0].ctx), calls)
		}
		close(next.done)
	}
}

// carryOut runs a round and distributes its results. A panic becomes the error
// of its calls.
func (r *Rounds[Q, A]) carryOut(ctx context.Context, calls []*call[Q, A]) {
	asked, answers := make([]Q, len(calls)), make([]A, len(calls))
	for i, c := range calls {
		asked[i] = c.asked
	}
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic in a round: %v\n%s", p, debug.Stack())
			}
		}()
		return r.run(ctx, asked, answers)
	}()
	for i, c := range calls {
		if c.err = err; err == nil {
			c.answer = answers[i]
		}
	}
}
