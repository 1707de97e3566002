package storetest

import (
	"context"
	"sync"
	"testing"

	"anodyne.example/anodyne/internal/store"
)

// Run starts the workers that assign positions and listen to other nodes, as
// the server does, until the test ends.
func Run(tb testing.TB, nodes ...*store.Store) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, s := range nodes {
		for _, work := range []func(context.Context) error{s.System().Sequence, s.System().Listen} {
			running.Go(func() {
				if err := work(ctx); err != nil {
					tb.Errorf("a worker ended: %v", err)
				}
			})
		}
	}
	tb.Cleanup(func() {
		cancel()
		running.Wait()
	})
}
