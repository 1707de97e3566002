package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
)

// usage counts the requests of clients by hour and outcome, for the portal.
// Counts are kept in memory and periodically added to the store, so a crash
// may lose the most recent ones. The rate limit is counted separately and
// loses nothing.
type usage struct {
	mu     sync.Mutex
	counts map[usageKey]int64
}

type usageKey struct {
	org     access.OrgNo
	client  access.ClientNo
	hour    int64 // hours since 1970
	outcome clients.UsageOutcome
}

// usageEvery is how often counts are added to the store.
const usageEvery = 10 * time.Second

func (u *usage) count(p *access.Principal, status int, at time.Time) {
	key := usageKey{p.Org, p.Client, at.Unix() / 3600, outcomeOf(status)}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.counts == nil {
		u.counts = map[usageKey]int64{}
	}
	u.counts[key]++
}

func outcomeOf(status int) clients.UsageOutcome {
	switch {
	case status == http.StatusTooManyRequests:
		return clients.UsageLimited
	case status >= http.StatusInternalServerError:
		return clients.UsageFailed
	case status >= http.StatusBadRequest:
		return clients.UsageRefused
	}
	return clients.UsageAnswered
}

// flush adds the counts to the store. If that fails, they are kept.
func (u *usage) flush(ctx context.Context, sys store.System) error {
	u.mu.Lock()
	counts := u.counts
	u.counts = nil
	u.mu.Unlock()
	if len(counts) == 0 {
		return nil
	}
	list := make([]clients.Usage, 0, len(counts))
	for key, n := range counts {
		list = append(list, clients.Usage{Org: key.org, Client: key.client, Hour: time.Unix(key.hour*3600, 0), Outcome: key.outcome, Requests: n})
	}
	err := sys.AddUsage(ctx, list)
	if err != nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.counts == nil {
			u.counts = map[usageKey]int64{}
		}
		for key, n := range counts {
			u.counts[key] += n
		}
	}
	return err
}

// KeepUsage periodically adds the counts to the store, and does so a last time
// when the context ends.
func (a *API) KeepUsage(ctx context.Context) error {
	tick := time.NewTicker(usageEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		err := a.FlushUsage(context.WithoutCancel(ctx))
		a.metrics.usage.Done(err)
		if err != nil {
			a.Log.Warn("could not save usage counts; trying again", "error", err)
		}
	}
	return nil
}

// FlushUsage adds the counts collected so far to the store.
func (a *API) FlushUsage(ctx context.Context) error { return a.usage.flush(ctx, a.Store.System()) }
