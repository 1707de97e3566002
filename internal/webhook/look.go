package webhook

import (
	"context"
	"errors"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// looker finds endpoints with work. When notified of a commit, it checks that
// organisation only. It knows when a retry of its own endpoints is due; for
// others, it queries those that have become due since the last query. Once a
// second it checks whether a node is gone and which journals have grown. With
// every sweep it checks all endpoints that are not its own.
type looker struct {
	*Worker
	polled bool      // since the last tick
	swept  time.Time // last time all endpoints were checked
	size   int64     // of all journals, at the last poll
	heads  map[access.OrgNo]journal.Pos
	// dueUpTo is the time up to which due work was checked, and dueNext when to
	// check again; zero means at the next poll.
	dueUpTo, dueNext time.Time
	others           []int64   // nodes that were present
	rejoined         time.Time // when the lock was reacquired, by the local clock
}

// claimsAtOnce limits the endpoints claimed in one transaction.
const claimsAtOnce = 200

// patience returns how long to wait for a notification.
func (l *looker) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait, now := 2*poll, l.now() // the next poll comes first
	for _, at := range []time.Time{l.nextDue, l.dueNext} {
		if !at.IsZero() {
			wait = min(wait, max(0, at.Sub(now)))
		}
	}
	return wait
}

// round checks once and serves what it finds.
func (l *looker) round(ctx context.Context, news *journal.News) error {
	orgs, all := news.Take()
	l.mu.Lock()
	waited := l.waited
	l.waited = nil
	l.mu.Unlock()
	for _, e := range waited {
		l.serve(ctx, e, &e.retries)
	}
	l.serveDue(ctx)
	var err error
	if !l.polled || all {
		err = l.poll(ctx)
		l.polled = err == nil
	} else if !l.dueNext.IsZero() && !l.dueNext.After(l.now()) {
		err = l.lookAtDue(ctx)
	}
	for _, org := range orgs {
		err = errors.Join(err, l.lookAt(ctx, org))
	}
	return err
}

// serveDue serves own endpoints with a due retry.
func (l *looker) serveDue(ctx context.Context) {
	now := l.now()
	l.mu.Lock()
	if l.nextDue.IsZero() || l.nextDue.After(now) {
		l.mu.Unlock()
		return
	}
	var due []*endpoint
	l.nextDue = time.Time{}
	for _, e := range l.endpoints {
		is, next := e.takeDue(now)
		if is {
			due = append(due, e)
		} else if !next.IsZero() && (l.nextDue.IsZero() || next.Before(l.nextDue)) {
			l.nextDue = next
		}
	}
	l.mu.Unlock()
	for _, e := range due {
		l.serve(ctx, e, &e.retries)
	}
}

// lookAt serves the endpoints of one organisation.
func (l *looker) lookAt(ctx context.Context, org access.OrgNo) error {
	waiting, err := l.sys.WebhooksOf(ctx, org)
	if err != nil {
		return err
	}
	if len(waiting) > 0 {
		l.heads[org] = waiting[0].Head
	}
	return l.serveAll(ctx, waiting)
}

// poll runs once a second.
func (l *looker) poll(ctx context.Context) error {
	l.dueNext = time.Time{}
	l.attend(ctx)
	l.mu.Lock()
	missed, failed := l.missed, l.failed
	l.missed, l.failed = false, nil
	l.mu.Unlock()
	for _, e := range failed {
		l.serve(ctx, e, &e.retries)
		l.serve(ctx, e, &e.events)
	}
	gone, err := l.callRoll(ctx)
	if err != nil {
		l.miss()
		return err
	}
	steps := []func(context.Context) error{l.keep, l.lookAtDue, l.lookAtGrown}
	if missed || gone || l.now().Sub(l.swept).Abs() >= sweep { // negative if the clock was set back
		steps = append(steps, l.sweep)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			l.miss()
			return err
		}
	}
	return nil
}

// callRoll checks which nodes are present and releases the claims of those
// that are gone. It reports whether one is gone, including nodes that joined
// and left since the last check.
func (l *looker) callRoll(ctx context.Context) (gone bool, err error) {
	if !l.rejoined.IsZero() && time.Since(l.rejoined) < regather {
		return false, nil
	}
	roll, err := l.sys.CallRoll(ctx, l.attendance.Node)
	if err != nil {
		return false, err
	}
	if roll.Missed {
		if err := l.attendance.Again(ctx); err != nil {
			return false, err
		}
		l.rejoined = time.Now()
		return false, nil
	}
	gone = roll.Freed
	for _, node := range l.others {
		_, there := slices.BinarySearch(roll.Others, node)
		gone = gone || !there
	}
	l.others = roll.Others
	return gone, nil
}

// lookAtDue checks what has become due since the last check, however much is
// still in progress, and determines when to check again.
func (l *looker) lookAtDue(ctx context.Context) error {
	now := l.now()
	after := webhooks.DuePlace{}
	if !l.dueUpTo.IsZero() && !l.dueUpTo.After(now) { // otherwise the clock was set back
		after = webhooks.DueAfter(l.dueUpTo)
	}
	l.dueNext = time.Time{}
	for {
		due, err := l.sys.DueWebhooks(ctx, after, now)
		if err = errors.Join(err, l.serveAll(ctx, due)); err != nil {
			return err
		}
		if len(due) < webhooks.DuePage {
			break
		}
		after = due[len(due)-1].Place()
	}
	l.dueUpTo = now
	next, err := l.sys.NextDue(ctx, now)
	if err != nil || next.IsZero() {
		return err
	}
	if soonest := now.Add(dueEvery); next.Before(soonest) {
		next = soonest
	}
	l.dueNext = next
	return nil
}

// lookAtGrown checks the organisations whose journals have grown without a
// notification.
func (l *looker) lookAtGrown(ctx context.Context) error {
	size, err := l.sys.JournalSize(ctx)
	if err != nil || size == l.size {
		return err
	}
	grown := map[access.OrgNo]journal.Pos{}
	if err := l.sys.JournalHeads(ctx, func(org access.OrgNo, head journal.Pos) {
		if l.heads[org] != head {
			grown[org] = head
		}
	}); err != nil {
		return err
	}
	for org, head := range grown {
		if err := l.lookAt(ctx, org); err != nil {
			return err
		}
		l.heads[org] = max(l.heads[org], head)
	}
	l.size = size
	return nil
}

func (l *looker) sweep(ctx context.Context) error {
	now := l.now()
	l.dropIdle(now)
	pulled, err := l.sys.PullRetries(ctx, longestWait)
	for _, key := range pulled {
		l.mu.Lock()
		e := l.endpoints[key]
		l.mu.Unlock()
		if e != nil {
			l.noteDue(e, now)
		}
	}
	if err != nil {
		return err
	}
	waiting, err := l.sys.WaitingWebhooks(ctx, l.attendance.Node)
	if err = errors.Join(err, l.serveAll(ctx, waiting)); err != nil {
		return err
	}
	l.swept = now
	return l.measure(ctx)
}

// keep renews the lease in time, as long as there is a claim. An expired lease
// is renewed too, since anything taken over by another node has a new token,
// and so is one written before the clock was set back.
func (l *looker) keep(ctx context.Context) error {
	now := l.now()
	if l.held.IsZero() || now.Before(l.held.Add(-lease*2/3)) && !l.held.After(now.Add(lease)) {
		return nil
	}
	l.mu.Lock()
	claims := len(l.endpoints)
	l.mu.Unlock()
	if claims == 0 {
		l.release(ctx)
		return nil
	}
	until := now.Add(lease)
	if err := l.sys.HoldWebhooks(ctx, l.attendance.Node, until); err != nil {
		return err
	}
	l.held = until
	return nil
}

// dropIdle releases endpoints that had no work for long, so that inactive and
// deleted ones cost nothing.
func (l *looker) dropIdle(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, e := range l.endpoints {
		if e.idle(now.Add(-idleFor)) {
			delete(l.endpoints, key)
		}
	}
}

// serveAll serves endpoints with work: own ones, and those that can be
// claimed.
func (l *looker) serveAll(ctx context.Context, waiting []webhooks.WaitingWebhook) error {
	var free []webhooks.WaitingWebhook
	now := l.now()
	for _, found := range waiting {
		l.mu.Lock()
		e := l.endpoints[found.Key]
		if e != nil && e.claim.Token != found.Token {
			e.lose() // taken over, or to be restarted
			delete(l.endpoints, found.Key)
			e = nil
		}
		l.mu.Unlock()
		switch {
		case e != nil:
			l.serveOwn(ctx, e, &found, now)
		case !found.Held || found.Node == l.attendance.Node:
			free = append(free, found)
		}
	}
	for chunk := range slices.Chunk(free, claimsAtOnce) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.claim(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}

// serveOwn serves an own endpoint if it has new work.
func (l *looker) serveOwn(ctx context.Context, e *endpoint, found *webhooks.WaitingWebhook, now time.Time) {
	if e.behind(found.Head) {
		l.serve(ctx, e, &e.events)
	}
	switch due := found.Due; {
	case due.IsZero():
	case due.After(now):
		l.noteDue(e, due)
	case e.news(due):
		l.serve(ctx, e, &e.retries)
	}
}

// claim claims endpoints and serves those it got.
func (l *looker) claim(ctx context.Context, free []webhooks.WaitingWebhook) error {
	keys := make([]webhooks.Key, len(free))
	found := make(map[webhooks.Key]*webhooks.WaitingWebhook, len(free))
	for i := range free {
		keys[i] = free[i].Key
		found[keys[i]] = &free[i]
	}
	if l.held.IsZero() && l.unattended != nil {
		l.log.Warn("if this process is killed, other nodes take over its webhooks only when its lease ends", "lease", lease, "error", l.unattended)
	}
	now := l.now()
	claims, err := l.sys.ClaimWebhooks(ctx, l.attendance.Node, now.Add(lease), newToken, keys)
	if err != nil {
		return err
	}
	l.held = now.Add(lease)
	for _, c := range claims {
		e := newEndpoint(c, now)
		l.mu.Lock()
		l.endpoints[c.Key] = e
		l.mu.Unlock()
		waiting := found[c.Key]
		waiting.Due = c.Due // may have changed since
		l.serveOwn(ctx, e, waiting, now)
	}
	return nil
}
