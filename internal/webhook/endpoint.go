package webhook

import (
	"maps"
	"slices"
	"sync"
	"time"

	"anodyne/internal/id"
	"anodyne/internal/store"
)

// endpoint is one that this worker has claimed. Nothing of it is needed after
// a crash: what is under way has no row yet, or one that is still due.
type endpoint struct {
	claim *store.WebhookClaim
	slots chan struct{} // an attempt under way has one

	mu      sync.Mutex
	serving bool      // somebody is handing out its work
	again   bool      // and shall look once more
	lost    bool      // the claim is not ours any more
	opened  bool      // what the claim found open is handed out
	waits   bool      // see wait
	active  time.Time // when it last had something to do
	// taken is the position up to which all is handed out, or not wanted;
	// written is what of it the store knows.
	taken, written store.Pos
	// open are the positions that are handed out and not written, with the
	// times of their events.
	open map[store.Pos]time.Time
	// retrying are the deliveries that are handed out again and not written.
	retrying map[id.Delivery]struct{}
	// health is as of the last result.
	health health
}

func newEndpoint(c *store.WebhookClaim, now time.Time) *endpoint {
	e := &endpoint{
		claim: c, active: now, slots: make(chan struct{}, inFlight), taken: c.Pos, written: c.Pos, opened: len(c.Open) == 0,
		open: map[store.Pos]time.Time{}, retrying: map[id.Delivery]struct{}{}, health: health{failingSince: c.FailingSince},
	}
	for _, pos := range c.Open {
		e.open[pos] = now // its event is read when it is handed out
	}
	return e
}

// begin takes the right to serve the endpoint; without it, whoever has it will
// look once more.
func (e *endpoint) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost {
		return false
	}
	if e.serving {
		e.again = true
		return false
	}
	e.serving, e.again = true, false
	return true
}

// end gives that right back, unless there is more to do.
func (e *endpoint) end(more bool) (ended bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if (more || e.again) && !e.lost {
		e.again = false
		return false
	}
	e.serving = false
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
	if e.serving || len(e.open) > 0 || len(e.retrying) > 0 || e.active.After(since) {
		return false
	}
	e.lost = true
	return true
}

// wait notes that there is work that cannot be begun before results are
// written.
func (e *endpoint) wait() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits = true
}

// state says whether the claim is lost, and whether the endpoint fails.
func (e *endpoint) state() (lost, failing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost, e.health.failures >= failingAfter
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
