package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// looker finds endpoints with work. When notified of a commit, it checks that
// organisation only. It knows when a retry of its own endpoints is due; for
// others, it queries those that have become due since the last query. Once a
// second, or rarely if a node is elected for that, it checks whether a node is
// gone and which journals have grown. With every sweep it checks all endpoints
// that are not its own.
type looker struct {
	*Worker
	polled bool // since the last tick
	rest   *engine.Poll
	swept  time.Time // last time all endpoints were checked
	size   int64     // of all journals, at the last poll
	heads  map[access.OrgNo]journal.Pos
	// dueUpTo is the time up to which due work was checked, and dueNext when to
	// check again; zero means at the next poll.
	dueUpTo, dueNext time.Time
	others           []int64   // nodes that were present
	rejoined         time.Time // when the lock was reacquired, by the local clock
}

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
	for _, e := range l.takeWaited() {
		l.serve(ctx, e, &e.retries)
	}
	l.serveDue(ctx)
	var err error
	if !l.polled || all {
		err = l.tend(ctx)
		if due := l.rest.Due(); err == nil && (due || all || l.isMissed()) {
			err = l.poll(ctx)
		}
		if l.polled = engine.IgnorePart(err) == nil; err != nil {
			l.rest.Again()
		}
	} else if !l.dueNext.IsZero() && !l.dueNext.After(l.now()) {
		err = l.lookAtDue(ctx)
	}
	for _, org := range orgs {
		if lookErr := l.lookAt(ctx, org); lookErr != nil {
			err = errors.Join(err, lookErr)
			l.miss() // there may be no other notification, and the next poll may be a minute away
		}
	}
	return err
}

// takeWaited returns the endpoints that could not start anything until now.
func (l *looker) takeWaited() []*endpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	waited := l.waited
	l.waited = nil
	return waited
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

// errLater reports that an organisation that failed is not tried yet.
var errLater = fmt.Errorf("the webhooks of an organisation that failed are not tried yet: %w", engine.ErrPart)

// lookAt serves the endpoints of one organisation.
func (l *looker) lookAt(ctx context.Context, org access.OrgNo) error {
	if !l.metrics.orgs.Ready(org) {
		return errLater
	}
	waiting, err := l.sys.WebhooksOf(ctx, org)
	if err != nil {
		return l.metrics.orgs.Done(ctx, org, err)
	}
	if len(waiting) > 0 {
		l.heads[org] = waiting[0].Head
	}
	return l.serveAll(ctx, waiting)
}

// tend takes care of the endpoints that this node has claimed. It runs once a
// second, and usually needs no statement.
func (l *looker) tend(ctx context.Context) error {
	l.attend(ctx)
	for e := range l.takeFailed() {
		l.serve(ctx, e, &e.retries)
		l.serve(ctx, e, &e.events)
	}
	l.dropIdle(l.now())
	if err := l.keep(ctx); err != nil {
		l.miss()
		return err
	}
	return nil
}

// isMissed reports whether an endpoint may be free.
func (l *looker) isMissed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.missed
}

// poll looks for the endpoints of other nodes: once a second, or rarely if
// nodes notify each other and one is elected to do it.
func (l *looker) poll(ctx context.Context) error {
	l.dueNext = time.Time{}
	l.mu.Lock()
	missed := l.missed
	l.missed = false
	l.mu.Unlock()
	gone, err := l.callRoll(ctx)
	if err != nil {
		l.miss()
		return err
	}
	steps := []func(context.Context) error{l.lookAtDue, l.lookAtGrown}
	if missed || gone || l.now().Sub(l.swept).Abs() >= sweep { // negative if the clock was set back
		steps = append(steps, l.sweep)
	}
	for _, step := range steps { // an error in one step must not keep the others from running
		err = errors.Join(err, step(ctx))
	}
	if err != nil && !errors.Is(err, engine.ErrPart) {
		l.miss()
	}
	return err
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
	var failed error // of some organisations
	for {
		due, err := l.sys.DueWebhooks(ctx, after, now)
		if failed = errors.Join(failed, err); err != nil && !errors.Is(err, engine.ErrPart) {
			return failed
		}
		failed = errors.Join(failed, l.serveAll(ctx, due))
		if len(due) < webhooks.DuePage || ctx.Err() != nil {
			break
		}
		after = due[len(due)-1].Place()
	}
	if failed != nil {
		return failed
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
	if err != nil && !errors.Is(err, engine.ErrPart) || err == nil && size == l.size {
		return err
	}
	grown := map[access.OrgNo]journal.Pos{}
	errs := errors.Join(err, l.sys.JournalHeads(ctx, func(org access.OrgNo, head journal.Pos) {
		if l.heads[org] != head {
			grown[org] = head
		}
	}))
	if errs != nil && !errors.Is(errs, engine.ErrPart) {
		return errs
	}
	for org, head := range grown {
		if err := l.lookAt(ctx, org); err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		l.heads[org] = max(l.heads[org], head)
	}
	if errs == nil {
		l.size = size
	}
	return errs
}

func (l *looker) sweep(ctx context.Context) error {
	now := l.now()
	pulled, err := l.sys.PullRetries(ctx, longestWait)
	for _, key := range pulled {
		l.mu.Lock()
		e := l.endpoints[key]
		l.mu.Unlock()
		if e != nil {
			l.noteDue(e, now)
		}
	}
	waiting, waitingErr := l.sys.WaitingWebhooks(ctx, l.attendance.Node)
	if err = errors.Join(err, waitingErr, l.serveAll(ctx, waiting)); err != nil && !errors.Is(err, engine.ErrPart) {
		return err
	}
	l.swept = now
	return errors.Join(err, l.measure(ctx))
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
		if e.idle(now) {
			delete(l.endpoints, key)
		}
	}
}
