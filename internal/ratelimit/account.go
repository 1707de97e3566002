package ratelimit

import "time"

// account is what this process knows about one client's window. It is guarded
// by its shard's lock.
type account struct {
	end    time.Time // end of the window according to the store; zero before the first grant
	used   int64     // used part of the window according to the store
	spare  int64     // part of used that is reserved by this process and not spent
	next   *round    // collects the requests that have to wait for the store
	served bool      // a goroutine is processing the rounds
	told   uses      // thresholds of the window that were crossed
	news   uses      // part of told without a warning yet
}

// spent returns how much of the window is used, as far as this process knows.
func (a *account) spent() int64 { return a.used - a.spare }

// take decides n requests from memory, or returns false if only the store can.
// This is the only place where allowance is spent.
func (a *account) take(limit, n int64, now time.Time) (d Decision, known bool) {
	if !now.Before(a.end) || !endOf(a.end, now).Equal(a.end) {
		return Decision{}, false
	}
	if a.spent() >= limit || a.spare < n && a.used >= limit {
		a.note(limit)
		return decide(false, limit, a.spent(), a.end, now), true
	}
	if a.spare < n {
		return Decision{}, false
	}
	a.spare -= n
	a.note(limit)
	return decide(true, limit, a.spent(), a.end, now), true
}

// credit applies the response to a request for n under limit.
func (a *account) credit(g Grant, limit, n int64) {
	// Windows are compared by wall clock, because the store knows nothing else.
	end := g.WindowEnd.Round(0)
	if !end.Equal(a.end) {
		a.end, a.spare, a.told, a.news = end, 0, 0, 0
	}
	a.spare += g.Granted
	a.used = g.Used
	if g.Granted < n {
		// Exhausted: until the end of the window the store is not asked again,
		// unless the limit is raised.
		a.used = max(a.used, limit)
	}
}

// round is a set of requests that share one call to the store.
type round struct {
	limit   int64 // of the latest request, so that a tier change takes effect
	waiters []waiter
	first   [1]waiter // memory for the first of them
	err     error
	done    chan struct{} // closed when the round is over; nothing changes after that
}

type waiter struct {
	n        int64 // requests
	decision Decision
	answered bool
	left     bool
}

// join adds n requests to the current round.
func (a *account) join(limit, n int64) (*round, int) {
	if a.next == nil {
		a.next = &round{done: make(chan struct{})}
		a.next.waiters = a.next.first[:0]
	}
	r := a.next
	r.limit = limit
	r.waiters = append(r.waiters, waiter{n: n})
	return r, len(r.waiters) - 1
}

// leave removes requests whose caller is gone. If they were already counted in
// the same window, they are returned to spare.
func (a *account) leave(r *round, i int) {
	w := &r.waiters[i]
	if w.answered {
		if w.decision.Allowed && w.decision.Reset == resetAt(a.end) {
			a.spare += w.n
		}
		return
	}
	select {
	case <-r.done: // the round failed; nothing to undo
	default:
		w.left = true
	}
}

// settle decides as many waiting requests from memory as possible, in order of
// arrival, and returns the number of the others.
func (a *account) settle(r *round, now time.Time) (open int64) {
	for i := range r.waiters {
		w := &r.waiters[i]
		if w.left || w.answered {
			continue
		}
		if w.decision, w.answered = a.take(r.limit, w.n, now); !w.answered {
			open += w.n
		}
	}
	return open
}

// outcome is valid once the round is done.
func (r *round) outcome(i int) (Decision, error) {
	if w := r.waiters[i]; w.answered {
		return w.decision, nil
	}
	return Decision{}, r.err
}
