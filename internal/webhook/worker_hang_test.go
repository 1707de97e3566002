package webhook

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// Sixty events to an endpoint that hangs the first time for each of them are all
// tried again when they are due, also while others still hang.
func TestEventsThatHangOnce(t *testing.T) {
	const events, timeout = 60, 15 * time.Second
	eachService(t, func(t *testing.T, s *service) {
		w := newWard()
		var mu sync.Mutex
		hanging := map[string]chan struct{}{}
		ended := false
		giveUp := func() (n int) { // the time of those that hang is over
			mu.Lock()
			defer mu.Unlock()
			for id, end := range hanging {
				close(end)
				delete(hanging, id)
				n++
			}
			return n
		}
		defer func() {
			mu.Lock()
			ended = true
			mu.Unlock()
			giveUp()
		}()
		hung := func(n int) func() bool {
			return func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(hanging) == n
			}
		}
		hook := storetest.AddWebhook(t, s.org, "http://hangs/", event.PatientCreated)
		delivery := NewWorker(Delivery{Store: s.store, Grace: time.Minute, Now: s.clock.now, Log: slog.New(slog.DiscardHandler),
			Send: func(_ context.Context, m Message) Attempt {
				if w.try(m) > 1 {
					return Attempt{At: m.At, Status: 200}
				}
				end := make(chan struct{})
				mu.Lock()
				if !ended {
					hanging[m.ID] = end
				} else {
					close(end)
				}
				mu.Unlock()
				<-end
				return Attempt{At: m.At, Latency: timeout, Error: "no answer within 15 s"}
			}})
		delivery.slowAfter = 10 * time.Millisecond
		worker := s.start(delivery)
		s.fill(events)
		s.eventually("as many hang as may be under way", hung(inFlight))
		s.clock.pass(timeout)
		giveUp()
		s.eventually("the others are tried at once, and hang", hung(events-inFlight))
		s.eventually("the first ones wait for their retry", func() bool { return s.statuses(hook)[webhooks.Pending] == inFlight })
		s.clock.pass(schedule[1] * 6 / 5)
		worker.poke()
		s.eventually("which comes while the others hang", func() bool { return s.statuses(hook)[webhooks.Delivered] == inFlight })
		s.clock.pass(timeout - schedule[1]*6/5)
		if n := giveUp(); n != events-inFlight {
			t.Errorf("%d still hung, want %d", n, events-inFlight)
		}
		s.eventually("the others wait", func() bool { return s.statuses(hook)[webhooks.Pending] == events-inFlight })
		s.clock.pass(schedule[1] * 6 / 5)
		worker.poke()
		s.eventually("all are delivered", func() bool { return s.statuses(hook)[webhooks.Delivered] == events })
		for _, d := range storetest.Deliveries(t, s.org, hook.ID) {
			if len(d.Attempts) != 2 {
				t.Fatalf("%d attempts", len(d.Attempts))
			}
			if wait := d.Attempts[1].At.Sub(d.Attempts[0].At.Add(timeout)); wait < schedule[1]*4/5 || wait > schedule[1]*6/5 {
				t.Errorf("tried again after %v, want about %v", wait, schedule[1])
			}
		}
	})
}
