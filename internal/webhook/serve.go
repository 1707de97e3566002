package webhook

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"anodyne/internal/store"
)

const (
	// eventsAtOnce and retriesAtOnce are how much of an endpoint's work is
	// read in one go, and kept in memory until it is handed out. Twice what
	// can be under way leaves something to begin behind what is.
	eventsAtOnce  = 4 * inFlight
	retriesAtOnce = 2 * inFlight
	// passUnwritten is after how many entries without an attempt the store is
	// told how far an endpoint has come.
	passUnwritten = 1000
)

// serve has the work of an endpoint handed out, until there is none.
func (w *Worker) serve(ctx context.Context, e *endpoint) {
	if !e.begin() {
		return
	}
	w.running.Go(func() {
		for more := true; more; {
			var err error
			if more, err = w.hand(ctx, e); err != nil && ctx.Err() == nil {
				w.log.Warn("a webhook waits", "error", err)
				w.mu.Lock()
				w.failed = append(w.failed, e)
				w.mu.Unlock()
			}
			more = !e.end(more && err == nil) && ctx.Err() == nil
		}
	})
}

// hand reads a slice of an endpoint's work and begins its attempts. More says
// that there is work that can be begun at once.
func (w *Worker) hand(ctx context.Context, e *endpoint) (more bool, err error) {
	// A delivery whose result is written while we read would look due.
	busy := e.busy()
	work, held, err := w.work(ctx, e)
	if err != nil {
		return false, err
	}
	if !held {
		w.drop(e)
		return false, nil
	}
	began := false
	for _, tasks := range [][]store.WebhookTask{work.Retries, work.Events} {
		for i := range tasks {
			task := &tasks[i]
			if _, under := busy[task.Delivery]; under {
				continue
			}
			if !w.begin(ctx, e, &work, task) {
				return false, nil // what is left was not taken
			}
			began = true
		}
	}
	if e.pass(work.Next) {
		w.results <- &result{endpoint: e}
	}
	if work.Recovering {
		looked, err := w.sys.RecoverSlice(ctx, e.claim, e.underWay)
		if err != nil {
			return false, err
		}
		began = began || looked
	}
	rest := len(work.Retries) > 0 || work.Recovering
	if rest && !began {
		e.wait()
	}
	return work.More || rest && began, nil
}

// work reads from the store, a few endpoints at a time: the store's readers
// are there for requests too.
func (w *Worker) work(ctx context.Context, e *endpoint) (work store.WebhookWork, held bool, err error) {
	select {
	case w.looking <- struct{}{}:
	case <-ctx.Done():
		return work, false, ctx.Err()
	}
	defer func() { <-w.looking }()
	work, held, err = w.sys.WebhookWork(ctx, e.claim, e.position(), retriesAtOnce, eventsAtOnce)
	if err != nil || !held || e.opened {
		return work, held, err
	}
	open, err := w.sys.OpenTasks(ctx, e.claim, work.ID)
	work.Events = append(open, work.Events...)
	return work, held, err
}

// begin starts an attempt as soon as there is room for it. It is false when
// the worker stops, or the endpoint is lost.
func (w *Worker) begin(ctx context.Context, e *endpoint, work *store.WebhookWork, task *store.WebhookTask) bool {
	lost, failing := e.state()
	if lost {
		return false
	}
	lane, room := w.fast, 1
	if failing {
		// It has to find so much room that few others are under way.
		lane, room = w.failing, inFlight-inFlightFailing+1
	}
	for n := range room {
		if !enter(ctx, e.slots) {
			leave(e.slots, n)
			return false
		}
	}
	leave(e.slots, room-1)
	if !enter(ctx, lane) {
		leave(e.slots, 1)
		return false
	}
	e.take(task, w.now())
	w.running.Go(func() {
		defer leave(e.slots, 1)
		w.attempt(e, work, task, lane)
	})
	return true
}

func enter(ctx context.Context, room chan struct{}) bool {
	select {
	case room <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func leave(room chan struct{}, n int) {
	for range n {
		<-room
	}
}

// attempt sends one task and hands the result in.
func (w *Worker) attempt(e *endpoint, work *store.WebhookWork, task *store.WebhookTask, lane chan struct{}) {
	out := sync.OnceFunc(func() { leave(lane, 1) })
	defer out()
	if lane == w.fast {
		slow := time.AfterFunc(slowAfter, out)
		defer slow.Stop()
	}
	w.metrics.inFlight.Inc()
	a := w.traced(work.ID, Message{URL: work.URL, ID: task.Event.ID.String(), Secrets: work.Secrets, Body: task.Body, At: w.now()})
	w.metrics.inFlight.Dec()
	if w.sending.Err() != nil && !a.OK() {
		e.giveUp(task) // it says nothing about the receiver
		return
	}
	w.metrics.latency.Observe(a.Latency.Seconds())
	w.results <- &result{endpoint: e, task: task, attempt: a}
}

// try sends a message. A panic is the attempt's failure: it must not end the
// service.
func (w *Worker) try(ctx context.Context, m Message) (a Attempt) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("panic in an attempt", "panic", p, "stack", string(debug.Stack()))
			a = Attempt{At: m.At, Error: "the attempt failed for a reason inside this server"}
		}
	}()
	return w.send(ctx, m)
}

// drop forgets an endpoint that is not ours any more.
func (w *Worker) drop(e *endpoint) {
	e.lose()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.endpoints[e.claim.WebhookKey] == e {
		delete(w.endpoints, e.claim.WebhookKey)
	}
}
