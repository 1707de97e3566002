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

// presence holds the organisations with recently active members, who may view
// analytics or search next.
type presence struct {
	mu   sync.Mutex
	orgs map[access.OrgNo]store.Org
	// noted is non-empty if there may be organisations.
	noted chan struct{}
}

func newPresence() *presence {
	return &presence{orgs: map[access.OrgNo]store.Org{}, noted: make(chan struct{}, 1)}
}

// note never blocks.
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

// KeepWarm precomputes the first analytics page for organisations with active
// members, one after the other, until the context ends.
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

// warm does this for the organisations noted since the last call. Nothing is
// shown to anyone, so it is not audited.
func (p *Portal) warm(ctx context.Context) {
	for _, org := range p.here.take() {
		var fields fault.Fields
		params := analytics.Request{}.Params(pain.DateOf(p.Now()), &fields)
		if err := p.Cohorts.Warm(ctx, org, &params); err != nil && ctx.Err() == nil {
			p.Log.Warn("could not prepare the analytics page", "organization", org.No(), "error", err)
		}
	}
}
