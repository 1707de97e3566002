package webhook

import (
	"context"
	"sync"
	"time"
)

// line is one of an endpoint's two lines of work: events that are sent for the
// first time, and deliveries that are tried again. Neither waits for the other,
// so that retries are on time behind any number of events whose receiver hangs.
type line struct {
	slots chan struct{} // an attempt under way has one
	young chan struct{} // while the endpoint fails, an attempt that has just begun has one
	// Under the endpoint's mutex: somebody is handing out the work, and shall
	// look once more.
	serving, again bool
}

func newLine() line {
	return line{slots: make(chan struct{}, inFlight), young: make(chan struct{}, youngFailing)}
}

// permit is what an attempt has taken: places that it leaves when it turns out
// to be slow, and places that it keeps to its end.
type permit struct {
	mu          sync.Mutex
	early, late []chan struct{}
}

// slow leaves the places of attempts that are quick.
func (p *permit) slow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.early = leave(p.early)
}

// end leaves all of them; twice is safe.
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

// enter waits for a place. It is false when the context ends.
func enter(ctx context.Context, place chan struct{}) bool {
	select {
	case place <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// permit waits until an attempt of an endpoint may begin; nil when the worker
// stops, or the endpoint is lost.
//
// Every endpoint has a place of its own, so that it waits for no other as long
// as it has one attempt under way. For more it needs room in a lane, which it
// shares with its like.
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

// watch has an attempt leave the quick ones when it is not over after a while,
// and notes that it hangs. done ends that.
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
