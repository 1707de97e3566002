// Package worker runs background tasks. Start returns as soon as a worker is
// launched; Stop blocks until all have ended, and may be called twice.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Group is a set of workers that start and stop together.
type Group struct {
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	names  []string
	wg     sync.WaitGroup
}

// NewGroup returns an empty group.
func NewGroup(log *slog.Logger) *Group {
	ctx, cancel := context.WithCancel(context.Background())
	return &Group{log: log, ctx: ctx, cancel: cancel}
}

// Start launches a worker. It runs until its context ends. A worker that
// panics or returns an error before that is restarted after a pause, because
// the service must not silently continue without it. One that returns nil is
// done.
func (g *Group) Start(name string, run func(context.Context) error) {
	g.names = append(g.names, name)
	g.wg.Go(func() {
		for g.ctx.Err() == nil {
			err := guarded(g.ctx, run)
			if err == nil {
				return
			}
			g.log.Error("worker failed; restarting it", "worker", name, "error", err)
			select {
			case <-time.After(time.Second):
			case <-g.ctx.Done():
			}
		}
	})
}

// Names returns the names of the workers that were started.
func (g *Group) Names() []string { return g.names }

// Stop stops the workers and waits for them.
func (g *Group) Stop() {
	g.cancel()
	g.wg.Wait()
}

func guarded(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return run(ctx)
}
