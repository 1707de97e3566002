package ratelimit_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/ratelimit"
)

// Whatever happens, in any order, a window never lets more through than the
// highest limit in force during it, and all decisions are consistent.
func TestNoHistoryExceedsTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(rapid.IntRange(1, 3).Draw(t, "nodes"), rapid.Int64Range(0, 6).Draw(t, "ahead"))
		t.Repeat(map[string]func(*rapid.T){
			"requests": func(t *rapid.T) {
				h.requests(t, rapid.SliceOfN(requestGen, 1, 40).Draw(t, "requests"))
			},
			"clock": func(t *rapid.T) {
				h.clock.advance(time.Duration(rapid.IntRange(-4000, 8000).Draw(t, "seconds")) * time.Second)
			},
			"kill": func(t *rapid.T) {
				h.replace(rapid.IntRange(0, len(h.nodes)-1).Draw(t, "node"))
			},
			"stop": func(t *rapid.T) {
				i := rapid.IntRange(0, len(h.nodes)-1).Draw(t, "node")
				if err := h.nodes[i].Close(context.Background()); err != nil {
					t.Fatalf("Close: %v", err)
				}
				h.replace(i)
			},
			"": h.check,
		})
		for _, l := range h.nodes {
			if err := l.Close(context.Background()); err != nil {
				t.Fatalf("Close: %v", err)
			}
		}
	})
}

type request struct {
	node   int
	client access.ClientNo
	limit  int64
	leaves bool
}

var requestGen = rapid.Custom(func(t *rapid.T) request {
	return request{
		node:   rapid.IntRange(0, 2).Draw(t, "node"),
		client: access.ClientNo(rapid.IntRange(1, 2).Draw(t, "client")),
		limit:  rapid.SampledFrom([]int64{3, 10, 10, 10, 25}).Draw(t, "limit"),
		leaves: rapid.IntRange(0, 4).Draw(t, "leaves") == 0,
	}
})

type window struct {
	client access.ClientNo
	reset  int64
}

// history is a service of some nodes and what it has let through.
type history struct {
	store *ledger
	clock *clock
	ahead int64
	nodes []*ratelimit.Limiter

	mu     sync.Mutex
	passed map[window]int64
	limit  map[window]int64 // the highest under which a request passed
}

func newHistory(nodes int, ahead int64) *history {
	h := &history{store: newLedger(), clock: newClock(), ahead: ahead, nodes: make([]*ratelimit.Limiter, nodes),
		passed: map[window]int64{}, limit: map[window]int64{}}
	for i := range h.nodes {
		h.replace(i)
	}
	return h
}

func (h *history) replace(i int) { h.nodes[i] = h.store.limiter(h.ahead, h.clock.now) }

// requests sends all at once; those that leave do so at about the same time.
func (h *history) requests(t *rapid.T, all []request) {
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, q := range all {
		group.Go(func() {
			own := context.Background()
			if q.leaves {
				own = ctx
			}
			d, err := h.nodes[q.node%len(h.nodes)].Take(own, q.client, q.limit)
			switch {
			case err != nil && !q.leaves:
				t.Errorf("Take: %v", err)
			case err == nil && (d.Remaining < 0 || d.Remaining >= d.Limit):
				t.Errorf("%+v", d)
			case d.Allowed:
				h.mu.Lock()
				defer h.mu.Unlock()
				w := window{q.client, d.Reset}
				h.passed[w]++
				h.limit[w] = max(h.limit[w], d.Limit)
			}
		})
	}
	group.Go(cancel)
	group.Wait()
}

func (h *history) check(t *rapid.T) {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	for w, passed := range h.passed {
		if passed > h.limit[w] && h.store.ends[w] == 1 {
			t.Fatalf("client %d: %d passed in the window that ends at %d, limit %d", w.client, passed, w.reset, h.limit[w])
		}
	}
	// A call may still be under way for requests that have left.
	for client, r := range h.store.rows {
		w := window{client, r.end.Unix()}
		if passed := h.passed[w]; passed > r.used && h.store.ends[w] == 1 {
			t.Fatalf("client %d: %d passed, the store counts %d", client, passed, r.used)
		}
	}
}
