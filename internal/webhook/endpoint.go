package webhook

import (
	"maps"
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
)

// endpoint is one that this worker has claimed. Nothing of it is needed after
// a crash: what is under way has no row yet, or one that is still due.
type endpoint struct {
	claim *store.WebhookClaim
	own   chan struct{} // one attempt under way needs no room in a lane

	mu              sync.Mutex
	events, retries line
	lost            bool      // the claim is not ours any more
	opened          bool      // what the claim found open is handed out
	active          time.Time // when it last had something to do
	// due is when the next retry is that nobody has handed out; zero when none
	// is known of. looked is what the store said when all that was due was
	// handed out; waits that there is work which has to wait for results to be
	// written.
	due, looked time.Time
	waits       bool
	// taken is the position up to which all is handed out, or not wanted;
	// written is what of it the store knows.
	taken, written store.Pos
	// open are the positions that are handed out and not written, with the
	// times of their events.
	open map[store.Pos]time.Time
	// retrying are the deliveries that are handed out again and not written.
	retrying map[id.Delivery]struct{}
	// health is as of the last result that is written. hanging are attempts
	// under way that are slow and began after the last success; answered counts
	// the successes.
	health   health
	hanging  map[*permit]struct{}
	answered int
}

func newEndpoint(c *store.WebhookClaim, now time.Time) *endpoint {
	e := &endpoint{
		claim: c, active: now, own: make(chan struct{}, 1), events: newLine(), retries: newLine(), taken: c.Pos, written: c.Pos, opened: len(c.Open) == 0,
		open: map[store.Pos]time.Time{}, retrying: map[id.Delivery]struct{}{}, hanging: map[*permit]struct{}{}, health: health{failingSince: c.FailingSince},
	}
	for _, pos := range c.Open {
		e.open[pos] = now // its event is read when it is handed out
	}
	return e
}

// begin takes the right to serve a line; without it, whoever has it will look
// once more.
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

// end gives that right back, unless there is more to do.
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

func (e *endpoint) lose() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost = true
}

// behind reports whether there are entries that were not looked at, or
// attempts that another node left.
func (e *endpoint) behind(head store.Pos) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return head > e.taken || !e.opened
}

func (e *endpoint) position() store.Pos {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.taken
}

// take notes that a task is handed out.
func (e *endpoint) take(t *store.WebhookTask, now time.Time) {
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

// idle reports that nothing is under way, and nothing was since a time. It is
// then lost: whoever wants it again has to claim it.
func (e *endpoint) idle(since time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.events.serving || e.retries.serving || len(e.open) > 0 || len(e.retrying) > 0 || e.active.After(since) {
		return false
	}
	e.lost = true
	return true
}

// unopened reports whether attempts that another node left are to be made.
func (e *endpoint) unopened() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.opened
}

// noteDue remembers that a retry is due at a time.
func (e *endpoint) noteDue(at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.due.IsZero() || at.Before(e.due) {
		e.due = at
	}
}

// takeDue reports whether a retry is due, which is then forgotten, and else when
// the next one is.
func (e *endpoint) takeDue(now time.Time) (due bool, next time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.due.IsZero() || e.due.After(now) {
		return false, e.due
	}
	e.due = time.Time{}
	return true, time.Time{}
}

// look notes that all is handed out that was due when the store said this, or
// waits for results to be written.
func (e *endpoint) look(due time.Time, waits bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.looked, e.waits = due, waits
}

// news reports whether the store says anything about what is due that was not
// looked at yet.
func (e *endpoint) news(due time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !due.Equal(e.looked)
}

// state says whether the claim is lost, and whether the endpoint fails: many
// attempts in a row, or any for a while.
func (e *endpoint) state(now time.Time) (lost, failing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost, e.health.failures+len(e.hanging) >= failingAfter || e.health.failingAt(now)
}

// hangs notes that an attempt is slow, unless another succeeded since it began;
// hangsNoMore that it is over.
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

// succeeded notes that the receiver answers; successes counts that.
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

// busy gives the deliveries that are handed out again.
func (e *endpoint) busy() map[id.Delivery]struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.retrying)
}

// pass notes that all entries up to a position were looked at, and all that
// is wanted of them handed out. It reports whether the store should be told
// soon.
func (e *endpoint) pass(next store.Pos) (far bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opened = true
	e.taken = max(e.taken, next)
	return e.taken-e.written > passUnwritten
}

// giveUp takes a task back whose attempt was broken off: the next who claims
// the endpoint sends it again.
func (e *endpoint) giveUp(t *store.WebhookTask) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.retrying, t.Delivery)
}

// lag says how many entries up to a head are not looked at or not written, and
// since when the oldest event is under way.
func (e *endpoint) lag(head store.Pos) (behind int64, oldest time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, at := range e.open {
		if oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	return int64(max(0, head-e.taken)) + int64(len(e.open)), oldest
}

// underWay reports whether the attempt at a position is not written yet.
func (e *endpoint) underWay(pos store.Pos) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, open := e.open[pos]
	return open
}

// progress is what is to be written when these results are: everything up to
// the position that is taken, but for what is still under way.
func (e *endpoint) progress(results []*result) (pos store.Pos, open []store.Pos) {
	e.mu.Lock()
	defer e.mu.Unlock()
	written := make(map[store.Pos]bool, len(results))
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

// wrote notes that results are written up to a position, and reports whether
// there is work that waited for it.
func (e *endpoint) wrote(results []*result, pos store.Pos) (waited bool) {
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
	waited, e.waits = e.waits, false
	return waited
}
