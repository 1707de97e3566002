package webhook

import (
	"context"
	"errors"
	"time"

	"anodyne/internal/access"
	"anodyne/internal/store"
)

// looker finds endpoints that have work. Being told of a commit it looks at
// that organisation only. Once a second it asks what is due, and whether any
// journal has grown, and where. Every sweep it looks at all endpoints that are
// not its own, for what a dead node left.
type looker struct {
	*Worker
	polled bool      // since the last tick
	swept  time.Time // when all endpoints were looked at
	size   int64     // of all journals, at the last poll
	heads  map[access.OrgNo]store.Pos
}

// claimsAtOnce bounds the endpoints that one transaction claims.
const claimsAtOnce = 200

// patience is how long to wait for a word.
func (l *looker) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.nextDue.IsZero() {
		return 2 * poll // the next poll comes before
	}
	return max(0, l.nextDue.Sub(l.now()))
}

// round looks once, and has what it found served.
func (l *looker) round(ctx context.Context, news *store.News) error {
	orgs, all := news.Take()
	l.mu.Lock()
	waited := l.waited
	l.waited = nil
	l.mu.Unlock()
	for _, e := range waited {
		l.serve(ctx, e)
	}
	var err error
	if !l.polled || all {
		err = l.poll(ctx)
		l.polled = err == nil
	}
	for _, org := range orgs {
		err = errors.Join(err, l.lookAt(ctx, org))
	}
	return err
}

// lookAt has the endpoints of one organisation served.
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

// poll is what is done once a second.
func (l *looker) poll(ctx context.Context) error {
	l.mu.Lock()
	l.nextDue = time.Time{}
	missed, failed := l.missed, l.failed
	l.missed, l.failed = false, nil
	l.mu.Unlock()
	for _, e := range failed {
		l.serve(ctx, e)
	}
	steps := []func(context.Context) error{l.keep, l.lookAtDue, l.lookAtGrown}
	if missed || l.now().Sub(l.swept).Abs() >= sweep { // negative when the clock was put back
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

func (l *looker) lookAtDue(ctx context.Context) error {
	due, err := l.sys.DueWebhooks(ctx)
	return errors.Join(err, l.serveAll(ctx, due))
}

// lookAtGrown looks at the organisations whose journals have grown without
// our being told.
func (l *looker) lookAtGrown(ctx context.Context) error {
	size, err := l.sys.JournalSize(ctx)
	if err != nil || size == l.size {
		return err
	}
	grown := map[access.OrgNo]store.Pos{}
	if err := l.sys.JournalHeads(ctx, func(org access.OrgNo, head store.Pos) {
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
	if err := l.sys.PullRetries(ctx, longestWait); err != nil {
		return err
	}
	waiting, err := l.sys.WaitingWebhooks(ctx, l.node)
	if err = errors.Join(err, l.serveAll(ctx, waiting)); err != nil {
		return err
	}
	l.swept = now
	return l.measure(ctx)
}

// keep renews the lease in time, as long as there is a claim. One that ran out
// is renewed too: what another node has taken meanwhile has another token.
func (l *looker) keep(ctx context.Context) error {
	now := l.now()
	if l.held.IsZero() || now.Before(l.held.Add(-lease*2/3)) {
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
	if err := l.sys.HoldWebhooks(ctx, l.node, until); err != nil {
		return err
	}
	l.held = until
	return nil
}

// dropIdle forgets endpoints that had nothing to do for long, so that those
// that never have, or are deleted, cost nothing.
func (l *looker) dropIdle(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, e := range l.endpoints {
		if e.idle(now.Add(-idleFor)) {
			delete(l.endpoints, key)
		}
	}
}

// serveAll has endpoints served that have work: those that are ours, and
// those that can be claimed.
func (l *looker) serveAll(ctx context.Context, waiting []store.WaitingWebhook) error {
	var free []store.WebhookKey
	now := l.now()
	for _, found := range waiting {
		l.mu.Lock()
		e := l.endpoints[found.WebhookKey]
		if e != nil && e.claim.Token != found.Token {
			e.lose() // taken over, or to begin anew
			delete(l.endpoints, found.WebhookKey)
			e = nil
		}
		l.mu.Unlock()
		due := !found.Due.IsZero() && !found.Due.After(now)
		switch {
		case e != nil && (due || e.behind(found.Head)):
			l.serve(ctx, e)
		case e == nil && (!found.Held || found.Node == l.node):
			free = append(free, found.WebhookKey)
		}
		if e != nil && !found.Due.IsZero() && !due {
			l.noteDue(found.Due)
		}
	}
	for len(free) > 0 && ctx.Err() == nil {
		n := min(len(free), claimsAtOnce)
		if err := l.claim(ctx, free[:n]); err != nil {
			return err
		}
		free = free[n:]
	}
	return nil
}

// claim claims endpoints and has those served that it got.
func (l *looker) claim(ctx context.Context, keys []store.WebhookKey) error {
	until := l.now().Add(lease)
	claims, err := l.sys.ClaimWebhooks(ctx, l.node, until, newToken, keys)
	if err != nil {
		return err
	}
	l.held = until
	for _, c := range claims {
		e := newEndpoint(c, l.now())
		l.mu.Lock()
		l.endpoints[c.WebhookKey] = e
		l.mu.Unlock()
		l.serve(ctx, e)
	}
	return nil
}
