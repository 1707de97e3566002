package webhook

import (
	"context"
	"errors"
	"time"

	"anodyne/internal/access"
	"anodyne/internal/store"
)

// looker finds endpoints that have work. Being told of a commit it looks at
// that organisation only; once a second it asks whether anything is due or has
// grown at all, and only then looks at everything.
type looker struct {
	*Worker
	polled bool      // since the last poll
	stale  bool      // everything is to be looked at
	swept  time.Time // when everything was
	size   int64     // of all journals, then
}

// claimsAtOnce bounds the endpoints that one transaction claims.
const claimsAtOnce = 200

// orgsAtOnce is up to how many organisations are looked at one by one.
const orgsAtOnce = 100

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
	l.stale = l.stale || all || len(orgs) > orgsAtOnce
	var err error
	if !l.polled {
		err = l.poll(ctx)
		l.polled = err == nil
	}
	if l.stale {
		waiting, lookErr := l.sys.WaitingWebhooks(ctx)
		l.stale = lookErr != nil
		return errors.Join(err, lookErr, l.serveAll(ctx, waiting))
	}
	for _, org := range orgs {
		err = errors.Join(err, l.lookAt(ctx, org))
	}
	return err
}

func (l *looker) lookAt(ctx context.Context, org access.OrgNo) error {
	waiting, err := l.sys.WebhooksOf(ctx, org)
	return errors.Join(err, l.serveAll(ctx, waiting))
}

// poll is what is done once a second: it keeps the claims, takes up what is
// due, and finds out whether there may be more.
func (l *looker) poll(ctx context.Context) error {
	l.mu.Lock()
	l.nextDue = time.Time{}
	l.stale = l.stale || l.missed
	l.missed = false
	l.mu.Unlock()
	err := l.keep(ctx)
	due, dueErr := l.sys.DueWebhooks(ctx)
	size, sizeErr := l.sys.JournalSize(ctx)
	if err = errors.Join(err, dueErr, sizeErr); err != nil {
		return err
	}
	now := l.now()
	l.stale = l.stale || size != l.size
	l.size = size
	if now.Sub(l.swept) >= sweep {
		l.swept, l.stale = now, true
		l.dropIdle(now)
		l.measure(ctx)
	}
	return l.serveAll(ctx, due)
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
