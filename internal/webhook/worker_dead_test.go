package webhook

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
	"anodyne.example/anodyne/internal/testneed"
)

// ward is a receiver without a network that counts attempts by address.
type ward struct {
	mu    sync.Mutex
	tries map[string]int // by address and event
	hung  atomic.Int64   // attempts that hang now
	gone  chan struct{}  // ends what hangs
}

func newWard() *ward { return &ward{tries: map[string]int{}, gone: make(chan struct{})} }

// end ends what hangs, so that workers can be stopped.
func (w *ward) end() { close(w.gone) }

// try counts an attempt and says how many it is for its address and event.
func (w *ward) try(m Message) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries[m.URL+" "+m.ID]++
	return w.tries[m.URL+" "+m.ID]
}

// tried counts the events that came so often to addresses that begin so.
func (w *ward) tried(prefix string, times int) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, tries := range w.tries {
		if strings.HasPrefix(key, prefix) && tries >= times {
			n++
		}
	}
	return n
}

// hang is an attempt that is not answered before the test ends.
func (w *ward) hang(m Message) Attempt {
	w.hung.Add(1)
	defer w.hung.Add(-1)
	<-w.gone
	return refusal(m)
}

func refusal(m Message) Attempt { return Attempt{At: m.At, Status: 503, Error: "503"} }

// hospitals makes organisations with endpoints of the given addresses in each.
func (s *service) hospitals(name string, count int, urls func(org int) []string) (orgs []store.Org) {
	s.Helper()
	orgs = make([]store.Org, count)
	var wg sync.WaitGroup
	for i := range orgs {
		wg.Go(func() {
			who := storetest.Client(s, s.store, fmt.Sprint(name, i))
			orgs[i] = s.store.For(&who)
			for _, url := range urls(i) {
				storetest.AddWebhook(s, orgs[i], url, event.PatientCreated)
			}
		})
	}
	wg.Wait()
	return orgs
}

func (s *service) pending(n int) func() bool {
	return func() bool {
		b, err := s.store.System().WebhookBacklog(context.Background())
		return err == nil && b.Pending == int64(n)
	}
}

// Five thousand endpoints whose retries are all due, and hang or are refused,
// delay no other retry, on one node or on several.
func TestFiveThousandDeadEndpoints(t *testing.T) {
	testneed.Long(t, "work for five thousand endpoints")
	const dead, healthy = 5000, 3
	eachService(t, func(t *testing.T, s *service) {
		w := newWard()
		defer w.end()
		send := func(_ context.Context, m Message) Attempt {
			switch try := w.try(m); {
			case strings.HasPrefix(m.URL, "http://healthy/") && try > 1:
				return Attempt{At: m.At, Status: 200}
			case strings.HasPrefix(m.URL, "http://hangs/") && try > 1:
				return w.hang(m)
			}
			return refusal(m)
		}
		orgs := s.hospitals("Dead ", dead/webhooks.MaxWebhooks, func(org int) (urls []string) {
			for i := range webhooks.MaxWebhooks {
				how := "hangs"
				if i%5 == 0 {
					how = "refuses"
				}
				urls = append(urls, fmt.Sprintf("http://%s/%d/%d", how, org, i))
			}
			return urls
		})
		well := s.hospitals("Healthy ", healthy, func(org int) []string { return []string{fmt.Sprint("http://healthy/", org)} })
		workers := []*worker{s.work(s.store, send)}
		if s.store.Engine() == storetest.Postgres {
			workers = append(workers, s.work(s.node(), send), s.work(s.node(), send))
		}
		pass := func(d time.Duration) {
			s.clock.pass(d)
			for _, worker := range workers {
				worker.poke()
			}
		}
		for _, org := range orgs {
			storetest.AddPatient(t, org, "A")
		}
		s.eventually("each is tried, and has failed", s.pending(dead))
		pass(schedule[1] * 6 / 5)
		s.eventually("each is tried again", func() bool { return w.tried("http://", 2) == dead })
		s.eventually("many hang", func() bool { return w.hung.Load() == dead*4/5 })
		for _, org := range well {
			storetest.AddPatient(t, org, "B")
		}
		s.eventually("the healthy ones fail once", s.pending(dead+healthy))
		pass(schedule[1] * 6 / 5)
		s.eventually("and are delivered", func() bool { return w.tried("http://healthy/", 2) == healthy })
		s.eventually("which is written", s.pending(dead))
		if hung := w.hung.Load(); hung != dead*4/5 {
			t.Errorf("%d hang, want %d", hung, dead*4/5)
		}
	})
}

// An endpoint that failed for a while is retried on time, although more others
// than any lane can hold are failing and hanging.
func TestRecoveringEndpointBesideDeadOnes(t *testing.T) {
	const dead = failingLane + 88
	eachService(t, func(t *testing.T, s *service) {
		w := newWard()
		defer w.end()
		var repaired, hangs atomic.Bool
		orgs := s.hospitals("Dead ", dead/webhooks.MaxWebhooks, func(org int) (urls []string) {
			for i := range webhooks.MaxWebhooks {
				urls = append(urls, fmt.Sprintf("http://dead/%d/%d", org, i))
			}
			return urls
		})
		storetest.AddWebhook(t, s.org, "http://repaired/", event.PatientCreated)
		worker := s.work(s.store, func(_ context.Context, m Message) Attempt {
			w.try(m)
			switch {
			case m.URL == "http://repaired/" && repaired.Load():
				return Attempt{At: m.At, Status: 200}
			case m.URL != "http://repaired/" && hangs.Load():
				return w.hang(m)
			}
			return refusal(m)
		})
		for range failingAfter {
			for _, org := range orgs {
				storetest.AddPatient(t, org, "A")
			}
		}
		s.eventually("all fail", s.pending(failingAfter*dead))
		hangs.Store(true)
		s.clock.pass(schedule[1] * 6 / 5)
		worker.poke()
		s.eventually("the dead ones fill their lane", func() bool { return w.hung.Load() >= failingLane })
		for range failingAfter {
			s.event()
		}
		s.eventually("the other one fails too", s.pending(failingAfter*(dead+1)))
		repaired.Store(true)
		s.clock.pass(schedule[1] * 6 / 5)
		worker.poke()
		s.eventually("the repaired one has its events", s.pending(failingAfter*dead))
	})
}
