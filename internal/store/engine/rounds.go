package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
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
	spare   int
	most    int
	binding bool

	mu      sync.Mutex
	busy    int            // lanes with a round under way
	moved   time.Time      // when the lanes that are not spare last made progress, if there are spare ones
	waiting []*round[Q, A] // in order; only the last accepts calls
	watched bool           // rescue will be called
}

// RoundsConfig describes how calls are combined.
type RoundsConfig struct {
	// Lanes is how many rounds are under way at a time.
	Lanes int
	// Spare is how many more may be under way while calls wait because the
	// others take long, such as when one waits for a lock.
	Spare int
	// Most is the maximum number of calls in a round.
	Most int
	// Binding is set if the result of a call that has begun matters even if its
	// caller is gone, as that of a write does. Otherwise the end of its context
	// ends a call at any time.
	Binding bool
}

// NewRounds returns rounds that run carries out: it sets answers[i] to the
// answer to asked[i], or returns an error for all. Its context has the values of
// the first call's context. If calls are binding, it ends at the latest of their
// deadlines; otherwise it is cancelled only with that of a single call.
func NewRounds[Q, A any](cfg RoundsConfig, run func(ctx context.Context, asked []Q, answers []A) error) *Rounds[Q, A] {
	return &Rounds[Q, A]{run: run, lanes: cfg.Lanes, spare: cfg.Spare, most: cfg.Most, binding: cfg.Binding}
}

// round is a set of calls.
type round[Q, A any] struct {
	calls []*call[Q, A]
	since time.Time     // when it began, if there are spare lanes
	begun chan struct{} // closed when it is decided which calls take part
	done  chan struct{} // closed when the calls have their results
}

type call[Q, A any] struct {
	ctx    context.Context
	asked  Q
	answer A
	err    error
	left   bool // guarded by the lock of Rounds until the round has begun
	// tell gets the result of a call that nobody waits for.
	tell func(A, error)
}

// Do makes a call in the next round.
func (r *Rounds[Q, A]) Do(ctx context.Context, asked Q) (answer A, err error) {
	if err := ctx.Err(); err != nil {
		return answer, err
	}
	c := &call[Q, A]{ctx: ctx, asked: asked}
	r.mu.Lock()
	joined := r.gather(c)
	next := r.begin()
	r.mu.Unlock()
	if next != nil {
		// There is nobody to wait for, so the caller makes the round.
		r.makeRound(ctx, next)
		if joined == next {
			return c.answer, c.err
		}
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

// Add adds a call to the next round without making it: the caller has to call
// Do or Start soon. The end of ctx does not end the call. tell is called with
// its result, and must not block.
func (r *Rounds[Q, A]) Add(ctx context.Context, asked Q, tell func(A, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gather(&call[Q, A]{ctx: ctx, asked: asked, tell: tell})
}

// Start makes the calls that were added, unless all lanes are busy: then a
// later round makes them.
func (r *Rounds[Q, A]) Start() {
	r.mu.Lock()
	next := r.begin()
	r.mu.Unlock()
	if next != nil {
		r.makeRound(context.Background(), next)
	}
}

// makeRound makes a round that has begun, and then gives its lane to others.
func (r *Rounds[Q, A]) makeRound(ctx context.Context, this *round[Q, A]) {
	defer r.pass(this)
	r.carryOut(ctx, this)
}

// gather adds a call to the last waiting round. Like begin, it must be called
// with the lock held.
func (r *Rounds[Q, A]) gather(c *call[Q, A]) *round[Q, A] {
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

// begin takes a free lane and returns the first round that waits, or nil if
// there is no lane or no round.
//
// It first yields to goroutines that are about to add a call. If there are none,
// that takes almost no time.
func (r *Rounds[Q, A]) begin() *round[Q, A] {
	if len(r.waiting) == 0 {
		return nil
	}
	if !r.free() {
		r.watch()
		return nil
	}
	r.busy++
	r.yield()
	if len(r.waiting) == 0 { // another lane has taken it
		r.busy--
		return nil
	}
	return r.next()
}

// free reports whether another round may begin.
func (r *Rounds[Q, A]) free() bool {
	return r.busy < r.lanes || r.busy < r.lanes+r.spare && r.slow()
}

// slow reports whether the rounds under way take long.
func (r *Rounds[Q, A]) slow() bool { return time.Since(r.moved) > slowRound }

// slowRound is how long the latest round must have taken before spare lanes
// start others.
const slowRound = 20 * time.Millisecond

// watch starts a spare lane for the calls that wait, if they still do after a
// while.
func (r *Rounds[Q, A]) watch() {
	if r.spare > 0 && !r.watched {
		r.watched = true
		time.AfterFunc(slowRound+time.Millisecond, r.rescue)
	}
}

func (r *Rounds[Q, A]) rescue() {
	r.mu.Lock()
	r.watched = false
	next := r.begin()
	if len(r.waiting) > 0 {
		r.watch()
	}
	r.mu.Unlock()
	if next != nil {
		r.makeRound(context.Background(), next)
	}
}

func (r *Rounds[Q, A]) yield() {
	r.mu.Unlock()
	runtime.Gosched()
	r.mu.Lock()
}

// next returns the first round that waits, with the calls that take part.
func (r *Rounds[Q, A]) next() *round[Q, A] {
	next := r.waiting[0]
	r.waiting[0] = nil
	r.waiting = r.waiting[1:]
	calls := next.calls[:0]
	for _, c := range next.calls {
		if !c.left {
			calls = append(calls, c)
		}
	}
	next.calls = calls
	if r.spare > 0 {
		next.since = time.Now()
		if r.busy <= r.lanes {
			r.moved = next.since
		}
	}
	close(next.begun)
	return next
}

// pass gives the lane of a round to the calls that have gathered, or frees it.
func (r *Rounds[Q, A]) pass(made *round[Q, A]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stays(made) {
		go r.serve(made)
	} else {
		r.leave()
	}
}

// stays reports whether the lane of a round makes another for the calls that
// wait. A spare lane does so only while the others take long.
func (r *Rounds[Q, A]) stays(made *round[Q, A]) bool {
	if r.spare > 0 && time.Since(made.since) > slowRound {
		r.moved = time.Now()
	}
	return len(r.waiting) > 0 && (r.busy <= r.lanes || r.slow())
}

// leave frees a lane. Calls that wait are left to the others.
func (r *Rounds[Q, A]) leave() {
	if r.busy--; len(r.waiting) > 0 {
		r.watch()
	}
}

// serve runs rounds until no call waits, after one that was made.
func (r *Rounds[Q, A]) serve(made *round[Q, A]) {
	for {
		r.mu.Lock()
		r.yield()
		if !r.stays(made) {
			r.leave()
			r.mu.Unlock()
			return
		}
		made = r.next()
		r.mu.Unlock()
		r.carryOut(context.Background(), made)
	}
}

// latestDeadline returns the latest deadline of calls, unless one has none.
func latestDeadline[Q, A any](calls []*call[Q, A]) (latest time.Time, ok bool) {
	for _, c := range calls {
		until, ok := c.ctx.Deadline()
		if !ok {
			return latest, false
		}
		if until.After(latest) {
			latest = until
		}
	}
	return latest, true
}

// carryOut runs a round and distributes its results. A panic becomes the error
// of its calls. If the caller of the first call makes the round, ctx is that of
// the call, and its end ends the round only if there is no other call.
func (r *Rounds[Q, A]) carryOut(ctx context.Context, this *round[Q, A]) {
	calls := this.calls
	if len(calls) == 0 { // all have left
		close(this.done)
		return
	}
	if r.binding || len(calls) > 1 || calls[0].ctx != ctx || calls[0].tell != nil {
		ctx = context.WithoutCancel(calls[0].ctx)
	}
	if until, ok := latestDeadline(calls); ok && r.binding {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
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
	// Those who are told come first: the callers wait for what they do, too, such
	// as admitting the request that was counted, and need not wait twice.
	defer close(this.done)
	for _, c := range calls {
		if c.tell != nil {
			c.tell(c.answer, c.err)
		}
	}
}
