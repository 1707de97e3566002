package webhook

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// counter is a receiver that counts, and signals when it has this many.
type counter struct {
	url  string
	mu   sync.Mutex
	n    int
	want int
	full chan struct{}
	at   map[string]time.Time // when each came; nil to leave that out
}

func newCounter(tb testing.TB, want int, times bool) *counter {
	tb.Helper()
	c := &counter{want: want, full: make(chan struct{})}
	if times {
		c.at = map[string]time.Time{}
	}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		now := time.Now()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.at != nil {
			c.at[r.Header.Get(headerID)] = now
		}
		if c.n++; c.n == c.want {
			close(c.full)
		}
	}))
	tb.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// BenchmarkDeliveries is about events that wait in the journal: sent to one
// receiver on loopback, and every result durable.
func BenchmarkDeliveries(b *testing.B) {
	for _, engine := range storetest.Engines {
		b.Run(engine, func(b *testing.B) {
			s := newService(b, storetest.Database(b, engine))
			in := newCounter(b, b.N, false)
			w := storetest.AddWebhook(b, s.org, in.url)
			s.fill(b.N)
			b.ResetTimer()
			running := s.deliver()
			<-in.full
			running.stop() // writes the rest
			b.StopTimer()
			if b.N <= 1000 {
				if got := s.statuses(w)[webhooks.Delivered]; got != b.N {
					b.Fatalf("%d delivered, want %d", got, b.N)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}

// BenchmarkCommitToReceipt is the time from the end of a commit to the
// receiver's handler, at 200 events a second.
func BenchmarkCommitToReceipt(b *testing.B) {
	for _, engine := range storetest.Engines {
		b.Run(engine, func(b *testing.B) {
			s := newService(b, storetest.Database(b, engine))
			in := newCounter(b, b.N+1, true)
			storetest.AddWebhook(b, s.org, in.url)
			s.deliver()
			s.event() // claims the endpoint
			committed := make(map[string]time.Time, b.N)
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			b.ResetTimer()
			for range b.N {
				<-tick.C
				p := storetest.Patient("A")
				c := storetest.Created(p)
				if _, err := s.org.CreatePatient(b.Context(), &p, c, nil, idempotency.Outcome{}); err != nil {
					b.Fatal(err)
				}
				committed[c.Event.ID.String()] = time.Now()
			}
			<-in.full
			b.StopTimer()
			var took []time.Duration
			for id, at := range committed {
				took = append(took, in.at[id].Sub(at))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkIdle is what a service with 10,000 endpoints and nothing to do costs
// a second, and what a look at all of them costs every sweep.
func BenchmarkIdle(b *testing.B) {
	for _, engine := range storetest.Engines {
		s := newService(b, storetest.Database(b, engine))
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				who := storetest.Client(b, s.store, fmt.Sprint("Hospital ", i))
				for range webhooks.MaxWebhooks {
					storetest.AddWebhook(b, s.store.For(&who), "https://example.org/")
				}
			})
		}
		wg.Wait()
		w := NewWorker(Delivery{Store: s.store, Now: s.clock.now})
		w.endpoints = map[webhooks.Key]*endpoint{}
		news, stop := w.sys.Follow()
		look := &looker{Worker: w, heads: map[access.OrgNo]journal.Pos{}}
		round := func(b *testing.B, prepare func()) {
			for b.Loop() {
				prepare()
				if err := look.round(b.Context(), news); err != nil {
					b.Fatal(err)
				}
			}
		}
		for len(w.endpoints) < 100*webhooks.MaxWebhooks { // all have entries to look at, and are claimed
			look.polled = false
			if err := look.round(b.Context(), news); err != nil {
				b.Fatal(err)
			}
		}
		w.running.Wait()
		b.Run(engine+"/second", func(b *testing.B) { round(b, func() { look.polled = false }) })
		b.Run(engine+"/sweep", func(b *testing.B) { round(b, func() { look.polled, look.swept = false, time.Time{} }) })
		stop()
		w.leave()
	}
}
