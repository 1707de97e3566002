package storetest

import (
	"context"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/store"
)

// Barrier blocks statements before they reach the database, as a slow disk or a
// lock would, so that a request stays in progress for as long as a test needs.
type Barrier struct {
	mu      sync.Mutex
	holding *holding
}

type holding struct {
	text     string
	most     int // how many more to block
	arrived  chan struct{}
	released chan struct{}
}

// Watch installs the barrier in the configuration of a database that is not
// open yet.
func (b *Barrier) Watch(cfg *store.Config) {
	before := cfg.Observe
	cfg.Observe = func(ctx context.Context, sql ...string) {
		if before != nil {
			before(ctx, sql...)
		}
		b.pass(ctx, sql)
	}
}

// Hold blocks the next statements that contain text, at most most of them,
// until release is called or their context ends. It sends a value on arrived
// for each of them.
func (b *Barrier) Hold(text string, most int) (arrived <-chan struct{}, release func()) {
	h := &holding{text: text, most: most, arrived: make(chan struct{}, most), released: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holding = h
	return h.arrived, sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.holding == h {
			b.holding = nil
		}
		close(h.released)
	})
}

func (b *Barrier) pass(ctx context.Context, sql []string) {
	b.mu.Lock()
	h := b.holding
	if h == nil || h.most == 0 || !strings.Contains(strings.Join(sql, "\n"), h.text) {
		b.mu.Unlock()
		return
	}
	h.most--
	b.mu.Unlock()
	h.arrived <- struct{}{}
	select {
	case <-h.released:
	case <-ctx.Done():
	}
}
