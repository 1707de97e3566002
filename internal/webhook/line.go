package webhook

import (
	"context"
	"sync"
	"time"
)

// line is one of an endpoint's two queues: events sent for the first time, and
// deliveries retried. Neither waits for the other, so that retries are on time
// even if many events wait for a slow receiver.
type line struct {
	slots chan struct{} // held by an attempt in progress
	young chan struct{} // held by a recent attempt while the endpoint is failing
	// Guarded by the endpoint's mutex: a goroutine is dispatching the work, and
	// should check once more.
	serving, again bool
}

func newLine() line {
	return line{slots: make(chan struct{}, inFlight), young: make(chan struct{}, youngFailing)}
}

// permit holds the places taken by an attempt: some are released when it turns
// out to be slow, the others at its end.
type permit struct {
	mu          sync.Mutex
	early, late []chan struct{}
}

// slow releases the places reserved for fast attempts.
func (p *permit) slow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.early = leave(p.early)
}

// end releases all places. It may be called twice.
func (p *permit) end() {
	p.slow()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = leave(p.late)
}

func leave(places []chan struct{}) []chan struct{} {
	for _, place := range places {
		<-place
	}
	return nil
}

// enter waits for a place. It returns false if the context ends.
func enter(ctx context.Context, place chan struct{}) bool {
	select {
	case place <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// permit waits until an attempt for an endpoint may begin. It returns nil if
// the worker stops or the endpoint is lost.
//
// Every endpoint has one place of its own, so that its first attempt never
// waits for other endpoints. Further attempts need a place in a lane shared
// with similar endpoints.
func (w *Worker) permit(ctx context.Context, e *endpoint, l *line) *permit {
	if !enter(ctx, l.slots) {
		return nil
	}
	p := &permit{late: []chan struct{}{l.slots}}
	_, failing := e.state(w.now())
	ok := true
	if failing {
		if ok = enter(ctx, l.young); ok {
			p.early = append(p.early, l.young)
		}
	}
	if lost, _ := e.state(w.now()); lost || !ok || !w.room(ctx, e, failing, p) {
		p.end()
		return nil
	}
	return p
}

// room takes the endpoint's own place or one in a lane.
func (w *Worker) room(ctx context.Context, e *endpoint, failing bool, p *permit) bool {
	lane := w.fast
	if failing {
		lane = w.failing
	}
	select {
	case e.own <- struct{}{}:
		lane = nil
	default:
		select {
		case e.own <- struct{}{}:
			lane = nil
		case lane <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	switch {
	case lane == nil:
		p.late = append(p.late, e.own)
		if !failing {
			return true
		}
		if !enter(ctx, w.dead) {
			return false
		}
		p.late = append(p.late, w.dead)
	case failing:
		p.late = append(p.late, lane)
	default:
		p.early = append(p.early, lane)
	}
	return true
}

// watch releases the places for fast attempts if an attempt is not over after
// a while, and records that it hangs. done ends that.
func (w *Worker) watch(e *endpoint, p *permit) (done func()) {
	since := e.successes()
	slow := time.AfterFunc(w.slowAfter, func() {
		p.slow()
		e.hangs(p, since)
	})
	return func() {
		slow.Stop()
		e.hangsNoMore(p)
		p.end()
	}
}
