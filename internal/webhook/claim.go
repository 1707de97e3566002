package webhook

import (
	"context"
	"errors"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// claimsAtOnce limits the endpoints claimed in one transaction.
const claimsAtOnce = 200

// serveAll serves endpoints that have work: this node's own, and those that can be
// claimed. Those of organisations that failed are claimed separately, and after a
// pause, because a claim may have to wait for a lock.
func (l *looker) serveAll(ctx context.Context, waiting []webhooks.WaitingWebhook) error {
	var free, again []webhooks.WaitingWebhook
	var errs error
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
		case found.Held && found.Node != l.attendance.Node: // by another node
		case !l.metrics.orgs.HasFailed(found.Org):
			free = append(free, found)
		case l.metrics.orgs.Ready(found.Org):
			again = append(again, found)
		default:
			l.miss()
		}
	}
	for chunk := range slices.Chunk(free, claimsAtOnce) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.claim(ctx, chunk); err != nil {
			errs = errors.Join(errs, l.claimByOrg(ctx, chunk, err))
		}
	}
	return errors.Join(errs, l.claimByOrg(ctx, again, nil))
}

// claimByOrg claims endpoints one organisation at a time, so that only those of
// a failing organisation wait. together is the error of claiming all of them
// together, if that was tried.
func (l *looker) claimByOrg(ctx context.Context, free []webhooks.WaitingWebhook, together error) (errs error) {
	byOrg := map[access.OrgNo][]webhooks.WaitingWebhook{}
	for _, w := range free {
		byOrg[w.Org] = append(byOrg[w.Org], w)
	}
	if together != nil && len(byOrg) == 1 {
		return l.metrics.orgs.Done(ctx, free[0].Org, together)
	}
	for org, list := range byOrg {
		errs = errors.Join(errs, l.metrics.orgs.Done(ctx, org, l.claim(ctx, list)))
	}
	return errs
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
