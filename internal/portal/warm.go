package portal

import (
	"context"
	"maps"
	"slices"
	"sync"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
)

// presence is the organisations whose members were just here: they may look at
// analytics next, or search.
type presence struct {
	mu   sync.Mutex
	orgs map[access.OrgNo]store.Org
	// noted has something in it when there may be organisations.
	noted chan struct{}
}

func newPresence() *presence {
	return &presence{orgs: map[access.OrgNo]store.Org{}, noted: make(chan struct{}, 1)}
}

// note never waits.
func (p *presence) note(org store.Org) {
	p.mu.Lock()
	p.orgs[org.No()] = org
	p.mu.Unlock()
	select {
	case p.noted <- struct{}{}:
	default:
	}
}

func (p *presence) take() []store.Org {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer clear(p.orgs)
	return slices.Collect(maps.Values(p.orgs))
}

// KeepWarm works out, until the context ends, what the page of analytics shows
// first to the members who are here, one organisation after the other.
func (p *Portal) KeepWarm(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.here.noted:
			p.warm(ctx)
		}
	}
}

// warm does it for those who were here since the last time. Nobody is shown
// anything, so there is no line of audit.
func (p *Portal) warm(ctx context.Context) {
	for _, org := range p.here.take() {
		var fields fault.Fields
		params := analytics.Request{}.Params(pain.DateOf(p.Now()), &fields)
		if err := p.Cohorts.Warm(ctx, org, &params); err != nil && ctx.Err() == nil {
			p.Log.Warn("analytics could not be worked out ahead", "organization", org.No(), "error", err)
		}
	}
}
