package webhook

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

func TestEveryEventIsDeliveredOnce(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		s.event() // before the endpoint is there: not for it
		in, none := newInbox(t, nil), newInbox(t, nil)
		w := storetest.AddWebhook(t, s.org, in.url)
		storetest.AddWebhook(t, s.org, none.url, event.ReportCompleted)
		s.deliver()
		const events = 300
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range events / 3 {
					s.event()
				}
			})
		}
		wg.Wait()
		s.eventually("all are received", func() bool { _, n := in.counts(); return n >= events })
		s.eventually("all are written", func() bool { return len(storetest.Deliveries(t, s.org, w.ID)) >= events })
		if all, different := in.counts(); all > events+1 || different > events+1 {
			// On PostgreSQL the event before may get its position late.
			t.Errorf("%d messages, %d different, want %d", all, different, events)
		}
		for _, d := range storetest.Deliveries(t, s.org, w.ID) {
			if in.times(d.Event) != 1 || d.Status.String() != "delivered" || len(d.Attempts) != 1 || d.Attempts[0].Status != http.StatusOK {
				t.Fatalf("%+v came %d times", d, in.times(d.Event))
			}
		}
		if all, _ := none.counts(); all != 0 {
			t.Errorf("an endpoint that wants none of them got %d", all)
		}
	})
}

// An unresponsive endpoint delays no other.
func TestDeadEndpointDelaysNoOther(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		hang := make(chan struct{})
		in := newInbox(t, nil)
		storetest.AddWebhook(t, s.org, "http://127.0.0.1:1/dead")
		storetest.AddWebhook(t, s.org, in.url)
		real := newSender(t, Config{})
		s.work(s.store, func(ctx context.Context, m Message) Attempt {
			if m.URL != in.url {
				<-hang
				return Attempt{At: m.At, Error: "dead"}
			}
			return real.Send(ctx, m)
		})
		defer close(hang)
		for range 3 * inFlight {
			s.event()
		}
		s.eventually("the other one got all", in.has(3*inFlight))
	})
}

// The schedule of the contract, on the injected clock: ten tries, then failed.
func TestScheduleToTheEnd(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		in := newInbox(t, func(string, int) int { return http.StatusInternalServerError })
		w := storetest.AddWebhook(t, s.org, in.url, event.PatientCreated)
		worker := s.deliver()
		s.event()
		for try := 1; try <= len(schedule); try++ {
			s.eventually("the try is made and written", func() bool {
				list := storetest.Deliveries(t, s.org, w.ID)
				return len(list) == 1 && len(list[0].Attempts) == try
			})
			d := storetest.Deliveries(t, s.org, w.ID)[0]
			if try == len(schedule) {
				if d.Status != webhooks.Failed || !d.NextAttemptAt.IsZero() {
					t.Errorf("after the last try: %s, next at %v", d.Status, d.NextAttemptAt)
				}
				break
			}
			wait := d.NextAttemptAt.Sub(d.Attempts[try-1].At)
			if low, high := schedule[try]*8/10, schedule[try]*12/10+time.Minute; d.Status != webhooks.Pending || wait < low || wait > high {
				t.Errorf("after try %d: %s, the next after %v, want about %v", try, d.Status, wait, schedule[try])
			}
			s.clock.pass(wait)
			worker.poke()
		}
		if all, different := in.counts(); all != len(schedule) || different != 1 {
			t.Errorf("%d messages with %d ids", all, different)
		}
		if hook, err := s.org.Webhook(t.Context(), w.ID); err != nil || !hook.Enabled {
			t.Errorf("less than five days of failure: %+v, %v", hook, err)
		}
	})
}

// poke has the worker look at what is due on the test's clock.
func (w *worker) poke() { w.wake() }

// A retry scheduled while the clock was days ahead does not wait for days when
// the clock is corrected.
func TestRetryOfAClockPutBack(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		var open atomic.Bool
		in := newInbox(t, func(string, int) int {
			if open.Load() {
				return http.StatusOK
			}
			return http.StatusServiceUnavailable
		})
		w := storetest.AddWebhook(t, s.org, in.url, event.PatientCreated)
		s.clock.pass(48 * time.Hour)
		s.deliver()
		s.event()
		s.eventually("it waits for a retry", func() bool { return s.statuses(w)[webhooks.Pending] == 1 })
		open.Store(true)
		s.clock.pass(-48 * time.Hour)
		s.eventually("it is delivered", func() bool { return s.statuses(w)[webhooks.Delivered] == 1 })
	})
}
