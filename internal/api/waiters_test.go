package api

import (
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// A client that waits with many requests is answered at once from a bound on,
// and others can still wait.
func TestWaitersAreBounded(t *testing.T) {
	t.Parallel()
	n := start(t, storetest.SQLite, func(cfg *Config) { cfg.MaxWaiting = 2 })
	c, south := n.caller("north"), n.caller("south")
	waiting := func(want int) {
		t.Helper()
		testwait.Until(t, "callers to wait", func() bool {
			n.api.waiters.mu.Lock()
			defer n.api.waiters.mu.Unlock()
			return n.api.waiters.all == want
		})
	}
	waits := c.waiting(c.get("/v1/events").cursor())
	waiting(1)
	if events := c.get("/v1/events?wait=30").data(); len(events) != 0 {
		t.Errorf("%v", events)
	}
	select {
	case <-waits:
		t.Error("the first wait ended before anything happened")
	default:
	}
	other := south.waiting(south.get("/v1/events").cursor())
	waiting(2)
	for _, caller := range []struct {
		create func(string) string
		waits  <-chan *reply
	}{{c.create, waits}, {south.create, other}} {
		caller.create("Arlo Finch")
		if events := (<-caller.waits).data(); len(events) != 1 {
			t.Errorf("%v", events)
		}
	}
	waiting(0)
}
