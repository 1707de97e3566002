package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
)

// reserveTimeout limits one call to the store, so that a hanging store does
// not block a client's requests for longer.
const reserveTimeout = 10 * time.Second

// returners is how many clients Close processes in parallel: enough for the
// store to group them into one commit.
const returners = 16

// serve makes the claim of a client's next round, until no request waits. It
// must be called with the shard locked, and does not wait.
func (l *Limiter) serve(ctx context.Context, sh *shard, client access.ClientNo, a *account) {
	for a.next != nil {
		r := a.next
		a.next = nil
		now := l.now()
		// The previous round may have left spare, or the window may be
		// exhausted; then the store need not be asked.
		if open := a.settle(r, now); open > 0 {
			limit := r.limit
			n := open + max(l.ahead(limit), 0)
			l.rounds.Add(1)
			l.claim(ctx, client, limit, n, now, func(g Grant, err error) {
				defer l.rounds.Done()
				sh.mu.Lock()
				defer sh.mu.Unlock()
				if r.err = check(g, n, now, err); r.err == nil {
					a.credit(g, limit, n)
					// At the time of asking: a grant is valid for those who
					// waited for it, even if its window has expired in the
					// meantime.
					a.settle(r, now)
				}
				l.conclude(ctx, sh, client, a, r)
				l.serve(ctx, sh, client, a)
			})
			return
		}
		l.conclude(ctx, sh, client, a, r)
	}
	a.served = false
}

// conclude ends a round.
func (l *Limiter) conclude(ctx context.Context, sh *shard, client access.ClientNo, a *account, r *round) {
	if a.news != 0 {
		l.tell(ctx, sh, client, a)
	}
	close(r.done)
}

// check returns the error of a claim, or that of an impossible result.
func check(g Grant, n int64, now time.Time, err error) error {
	if err != nil {
		return fmt.Errorf("ratelimit: reserve: %w", err)
	}
	if g.Granted < 0 || g.Granted > n || g.Used < g.Granted || !g.WindowEnd.After(now) {
		return fmt.Errorf("ratelimit: reserve answered %d of %d, used %d, window end %s at %s",
			g.Granted, n, g.Used, g.WindowEnd.UTC(), now.UTC())
	}
	return nil
}

// claim calls the store in a goroutine.
func (reserve Reserve) claim(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time, tell func(Grant, error)) {
	go func() { tell(reserve.ask(context.WithoutCancel(ctx), client, limit, n, now)) }()
}

// ask calls the store. A panic becomes an error: it must neither leave waiting
// requests behind nor end the process.
func (reserve Reserve) ask(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time) (g Grant, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	return reserve(ctx, client, limit, n, now)
}

// Close waits for running calls and returns unused reservations, so that a
// restart costs the clients nothing. Requests that need the store fail from
// then on. Close may be called again; after an error it returns what the first
// call did not get to. A failed return is not retried, because it may have
// been carried out.
func (l *Limiter) Close(ctx context.Context) error {
	for i := range l.shards {
		sh := &l.shards[i]
		sh.mu.Lock()
		sh.closed = true
		sh.mu.Unlock()
	}
	l.start()
	idle := make(chan struct{})
	go func() {
		l.rounds.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
		return fmt.Errorf("ratelimit: close: %w", ctx.Err())
	}

	work := make(chan unspent)
	errs := make([]error, returners)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			for u := range work {
				if err := l.giveBack(ctx, u.client, u.end, u.n); err != nil {
					errs[i] = errors.Join(errs[i], fmt.Errorf("ratelimit: return: %w", err))
				}
			}
		})
	}
	for i := range l.shards {
		for _, u := range l.shards[i].collect(l.now()) {
			work <- u
		}
	}
	close(work)
	group.Wait()
	return errors.Join(errs...)
}

// unspent is what is to be returned for one client.
type unspent struct {
	client access.ClientNo
	end    time.Time
	n      int64
}

// collect removes the spare of all open windows of the shard.
func (sh *shard) collect(now time.Time) (all []unspent) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for client, a := range sh.accounts {
		if a.spare > 0 && now.Before(a.end) {
			all = append(all, unspent{client, a.end, a.spare})
			a.used -= a.spare
			a.spare = 0
		}
	}
	return all
}
