package webhook

import (
	"maps"
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// endpoint is an endpoint claimed by this worker. Nothing in it is needed
// after a crash: attempts in progress have no row yet, or one that is still
// due.
type endpoint struct {
	claim *webhooks.Claim
	own   chan struct{} // the first attempt in progress needs no place in a lane

	mu              sync.Mutex
	events, retries line
	lost            bool      // the claim was lost
	opened          bool      // deliveries found open by the claim are dispatched
	active          time.Time // last time it had work
	// due is the time of the next known retry that is not dispatched, or zero.
	// looked is what the store reported when everything due was dispatched.
	// waits is set if there is work that must wait for results to be stored.
	// stored counts how often some were.
	due, looked time.Time
	waits       bool
	stored      int
	// taken is the position up to which all entries are dispatched or not
	// subscribed; written is the part of it that is stored.
	taken, written journal.Pos
	// open are the positions dispatched but not stored, with the times of their
	// events.
	open map[journal.Pos]time.Time
	// retrying are the deliveries dispatched again but not stored.
	retrying map[id.Delivery]struct{}
	// health is as of the last stored result. hanging are slow attempts in
	// progress that began after the last success; answered counts the
	// successes.
	health   health
	hanging  map[*permit]struct{}
	answered int
}

func newEndpoint(c *webhooks.Claim, now time.Time) *endpoint {
	e := &endpoint{
		claim: c, active: now, own: make(chan struct{}, 1), events: newLine(), retries: newLine(), taken: c.Pos, written: c.Pos, opened: len(c.Open) == 0,
		open: map[journal.Pos]time.Time{}, retrying: map[id.Delivery]struct{}{}, hanging: map[*permit]struct{}{}, health: health{failingSince: c.FailingSince},
	}
	for _, pos := range c.Open {
		e.open[pos] = now // its event is read when it is dispatched
	}
	return e
}

// begin acquires the right to serve a line. If it is taken, its holder will
// check once more.
func (e *endpoint) begin(l *line) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost {
		return false
	}
	if l.serving {
		l.again = true
		return false
	}
	l.serving, l.again = true, false
	return true
}

// end releases that right, unless there is more to do.
func (e *endpoint) end(l *line, more bool) (ended bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if (more || l.again) && !e.lost {
		l.again = false
		return false
	}
	l.serving = false
	return true
}

// abandon releases that right although there may be more to do.
func (e *endpoint) abandon(l *line) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.serving, l.again = false, false
}

func (e *endpoint) lose() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost = true
}

// behind reports whether there are unprocessed entries, or attempts left by
// another node.
func (e *endpoint) behind(head journal.Pos) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return head > e.taken || !e.opened
}

func (e *endpoint) position() journal.Pos {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.taken
}

// take records that a task is dispatched.
func (e *endpoint) take(t *webhooks.Task, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.active = now
	if t.Again {
		e.retrying[t.Delivery] = struct{}{}
		return
	}
	e.open[t.Pos] = t.Event.At
	e.taken = max(e.taken, t.Pos)
}

// idle reports whether nothing is in progress, was for idleFor, or is due soon. If
// so, the endpoint is marked as lost and must be claimed again before use.
func (e *endpoint) idle(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	since, soon := now.Add(-idleFor), now.Add(idleFor)
	if !e.due.IsZero() && e.due.Before(soon) || e.events.serving || e.retries.serving || len(e.open) > 0 || len(e.retrying) > 0 || e.active.After(since) {
		return false
	}
	e.lost = true
	return true
}

// unopened reports whether there are attempts left by another node.
func (e *endpoint) unopened() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.opened
}

// noteDue records the time of a retry.
func (e *endpoint) noteDue(at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.due.IsZero() || at.Before(e.due) {
		e.due = at
	}
}

// takeDue reports whether a retry is due, and clears it, or else returns the
// time of the next.
func (e *endpoint) takeDue(now time.Time) (due bool, next time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.due.IsZero() || e.due.After(now) {
		return false, e.due
	}
	e.due = time.Time{}
	return true, time.Time{}
}

// look records that everything due according to the store is dispatched, or
// waits for results to be stored. It reports whether to look again, because some
// were stored since the beginning, when their number was before.
func (e *endpoint) look(due time.Time, waits bool, before int) (again bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if waits && e.stored != before {
		return true
	}
	e.looked, e.waits = due, waits
	return false
}

// news reports whether the store has due work that was not processed yet.
func (e *endpoint) news(due time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !due.Equal(e.looked)
}

// state returns whether the claim is lost, and whether the endpoint is
// failing: many attempts in a row, or all for a while.
func (e *endpoint) state(now time.Time) (lost, failing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost, e.health.failures+len(e.hanging) >= failingAfter || e.health.failingAt(now)
}

// hangs records that an attempt is slow, unless another succeeded since it
// began; hangsNoMore records its end.
func (e *endpoint) hangs(p *permit, since int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.answered == since {
		e.hanging[p] = struct{}{}
	}
}

func (e *endpoint) hangsNoMore(p *permit) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.hanging, p)
}

// succeeded records that the receiver responds; successes returns the count.
func (e *endpoint) succeeded() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answered++
	clear(e.hanging)
}

func (e *endpoint) successes() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answered
}

// busy returns the deliveries dispatched again, and how often results were
// stored.
func (e *endpoint) busy() (retrying map[id.Delivery]struct{}, stored int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.retrying), e.stored
}

// pass records that all entries up to a position were processed, and all
// subscribed ones dispatched. It reports whether the position should be stored
// soon.
func (e *endpoint) pass(next journal.Pos) (far bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opened = true
	e.taken = max(e.taken, next)
	return e.taken-e.written > passUnwritten
}

// giveUp releases a task whose attempt was aborted. It will be sent again by
// the next node that claims the endpoint.
func (e *endpoint) giveUp(t *webhooks.Task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.retrying, t.Delivery)
}

// lag returns the number of entries up to head that are not processed or not
// stored, and the time of the oldest event in progress.
func (e *endpoint) lag(head journal.Pos) (behind int64, oldest time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, at := range e.open {
		if oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	return int64(max(0, head-e.taken)) + int64(len(e.open)), oldest
}

// underWay reports whether the result of the attempt at a position is not
// stored yet.
func (e *endpoint) underWay(pos journal.Pos) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, open := e.open[pos]
	return open
}

// progress returns what to store together with these results: everything up to
// the position taken, except for attempts in progress.
func (e *endpoint) progress(results []*result) (pos journal.Pos, open []journal.Pos) {
	e.mu.Lock()
	defer e.mu.Unlock()
	written := make(map[journal.Pos]bool, len(results))
	for _, r := range results {
		if !r.task.Again {
			written[r.task.Pos] = true
		}
	}
	for p := range e.open {
		if !written[p] {
			open = append(open, p)
		}
	}
	slices.Sort(open)
	return e.taken, open
}

// wrote records that results are stored up to a position, and reports whether
// work was waiting for that.
func (e *endpoint) wrote(results []*result, pos journal.Pos) (waited bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range results {
		if r.task.Again {
			delete(e.retrying, r.task.Delivery)
		} else {
			delete(e.open, r.task.Pos)
		}
	}
	e.written = max(e.written, pos)
	e.stored++
	waited, e.waits = e.waits, false
	return waited
}
