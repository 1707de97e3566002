package webhook

import (
	"context"
	"log/slog"
	"runtime/debug"

	"anodyne.example/anodyne/internal/store/webhooks"
)

const (
	// eventsAtOnce and retriesAtOnce limit how much of an endpoint's work is
	// read at once and kept in memory. Twice the number of concurrent attempts
	// leaves enough to continue with.
	eventsAtOnce  = 4 * inFlight
	retriesAtOnce = 2 * inFlight
	// passUnwritten is the number of entries without an attempt after which the
	// position of an endpoint is stored.
	passUnwritten = 1000
)

// serve dispatches the work of a line until there is none. If the work of its
// organisation has failed, it waits.
func (w *Worker) serve(ctx context.Context, e *endpoint, l *line) {
	if !w.metrics.orgs.Ready(e.claim.Org) {
		w.postpone(e)
		return
	}
	if !e.begin(l) {
		return
	}
	hand := w.handEvents
	if l == &e.retries {
		hand = w.handRetries
	}
	w.running.Go(func() {
		for ended := false; !ended && ctx.Err() == nil; {
			more, err := hand(ctx, e)
			if w.metrics.orgs.HasFailed(e.claim.Org) || err != nil {
				_ = w.metrics.orgs.Done(ctx, e.claim.Org, err)
			}
			if err != nil && ctx.Err() == nil {
				w.about(e).Warn("could not read pending webhook deliveries; trying again", "error", err)
				e.abandon(l)
				w.postpone(e)
				return
			}
			ended = e.end(l, more && err == nil)
		}
	})
}

// postpone has an endpoint served again at a later poll.
func (w *Worker) postpone(e *endpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = map[*endpoint]struct{}{}
	}
	w.failed[e] = struct{}{}
}

// takeFailed returns the endpoints that were postponed.
func (w *Worker) takeFailed() map[*endpoint]struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	failed := w.failed
	w.failed = nil
	return failed
}

// about returns a logger for one endpoint.
func (w *Worker) about(e *endpoint) *slog.Logger {
	return w.log.With("webhook_id", e.claim.ID.String(), "organization_id", e.claim.OrgID.String())
}

// handEvents reads some of an endpoint's events and starts their attempts.
// more is set if there are others.
func (w *Worker) handEvents(ctx context.Context, e *endpoint) (more bool, err error) {
	work, held, err := w.work(ctx, e, 0, eventsAtOnce)
	if err == nil && held && e.unopened() {
		var open []webhooks.Task
		open, err = w.sys.OpenTasks(ctx, e.claim, work.ID)
		work.Events = append(open, work.Events...)
	}
	if err != nil {
		return false, err
	}
	if !held {
		w.drop(e)
		return false, nil
	}
	for i := range work.Events {
		if !w.start(ctx, e, &e.events, &work, &work.Events[i]) {
			return false, nil // the rest was not taken
		}
	}
	if e.pass(work.Next) {
		w.results <- &result{endpoint: e}
	}
	return work.More, nil
}

// handRetries reads due deliveries of an endpoint and starts their attempts.
// more is set if others can be started at once.
func (w *Worker) handRetries(ctx context.Context, e *endpoint) (more bool, err error) {
	// A delivery whose result is stored while we read would look due.
	busy, stored := e.busy()
	work, held, err := w.work(ctx, e, retriesAtOnce, 0)
	if err != nil {
		return false, err
	}
	if !held {
		w.drop(e)
		return false, nil
	}
	began, waits := false, false
	for i := range work.Retries {
		task := &work.Retries[i]
		if _, under := busy[task.Delivery]; under {
			waits = true
			continue
		}
		if !w.start(ctx, e, &e.retries, &work, task) {
			return false, nil
		}
		began = true
	}
	if !work.Ahead.IsZero() {
		w.noteDue(e, work.Ahead)
	}
	more = began && work.MoreRetries
	if work.Recovering {
		looked, err := w.sys.RecoverSlice(ctx, e.claim, e.underWay)
		if err != nil {
			return false, err
		}
		more, waits = more || looked, waits || !looked
	}
	return more || e.look(work.Due, waits, stored), nil
}

// work reads from the store, for a few endpoints at a time, because the
// readers are shared with requests. Failing endpoints do not delay the others.
func (w *Worker) work(ctx context.Context, e *endpoint, retries, events int) (work webhooks.Work, held bool, err error) {
	looking := w.looking
	if _, failing := e.state(w.now()); failing {
		looking = w.lookingFailing
	}
	if !enter(ctx, looking) {
		return work, false, ctx.Err()
	}
	defer func() { <-looking }()
	return w.sys.WebhookWork(ctx, e.claim, e.position(), retries, events)
}

// start starts an attempt as soon as there is room. It returns false if the
// worker stops or the endpoint is lost.
func (w *Worker) start(ctx context.Context, e *endpoint, l *line, work *webhooks.Work, task *webhooks.Task) bool {
	p := w.permit(ctx, e, l)
	if p == nil {
		return false
	}
	e.take(task, w.now())
	w.running.Go(func() {
		done := w.watch(e, p)
		defer done()
		w.attempt(e, work, task)
	})
	return true
}

// attempt sends one task and passes on the result.
func (w *Worker) attempt(e *endpoint, work *webhooks.Work, task *webhooks.Task) {
	w.metrics.inFlight.Inc()
	a := w.traced(e, work.ID, Message{URL: work.URL, ID: task.Event.ID.String(), Secrets: work.Secrets, Body: task.Body, At: w.now()})
	w.metrics.inFlight.Dec()
	if w.sending.Err() != nil && !a.OK() {
		e.giveUp(task) // it says nothing about the receiver
		return
	}
	if a.OK() {
		e.succeeded()
	}
	w.metrics.latency.Observe(a.Latency.Seconds())
	w.results <- &result{endpoint: e, task: task, attempt: a}
}

// try sends a message. A panic fails the attempt and does not end the service.
func (w *Worker) try(ctx context.Context, e *endpoint, m Message) (a Attempt) {
	defer func() {
		if p := recover(); p != nil {
			w.about(e).Error("panic in a webhook attempt", "panic", p, "stack", string(debug.Stack()))
			a = Attempt{At: m.At, Error: "the attempt failed because of an internal error of this server"}
		}
	}()
	return w.send(ctx, m)
}

// drop removes an endpoint whose claim was lost.
func (w *Worker) drop(e *endpoint) {
	e.lose()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.endpoints[e.claim.Key] == e {
		delete(w.endpoints, e.claim.Key)
	}
}
