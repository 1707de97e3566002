package webhook

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

func TestHealth(t *testing.T) {
	start := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	good, bad, gone := Attempt{Status: 200}, Attempt{Status: 503, Error: "503"}, Attempt{Status: http.StatusGone, Error: "410"}
	silent := Attempt{Error: "no answer"}
	const day = 24 * time.Hour
	type step struct {
		after time.Duration // since the start
		Attempt
		disable string
	}
	for name, steps := range map[string][]step{
		"five days of nothing but failure": {{0, bad, ""}, {day, silent, ""}, {5*day - 1, bad, ""}, {5 * day, silent, webhooks.DisabledFailing}},
		"one success in between":           {{0, bad, ""}, {4 * day, good, ""}, {5 * day, bad, ""}, {10*day - 1, bad, ""}, {10 * day, bad, webhooks.DisabledFailing}},
		"a success at the end":             {{0, bad, ""}, {5*day - 1, bad, ""}, {6 * day, good, ""}, {6*day + 1, bad, ""}},
		"alternating":                      {{0, bad, ""}, {3 * day, good, ""}, {6 * day, bad, ""}, {9 * day, good, ""}, {12 * day, bad, ""}},
		"gone":                             {{0, good, ""}, {1, gone, webhooks.DisabledGone}},
	} {
		var h health
		for i, s := range steps {
			s.At = start.Add(s.after)
			var disable string
			if h, disable = h.after(s.Attempt); disable != s.disable {
				t.Errorf("%s: step %d: %q, want %q", name, i, disable, s.disable)
			}
		}
	}
}

// 410 disables at once; what else there is waits, and comes when somebody
// enables the endpoint again and has it recovered.
func TestGoneDisables(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		var open atomic.Bool
		in := newInbox(t, func(string, int) int {
			if open.Load() {
				return http.StatusNoContent
			}
			return http.StatusGone
		})
		others := newInbox(t, nil)
		w := storetest.AddWebhook(t, s.org, in.url, event.PatientCreated)
		storetest.AddWebhook(t, s.org, others.url, event.SystemAlert)
		since := s.clock.now().Add(-time.Minute)
		s.deliver()
		s.event()
		s.eventually("it is disabled", func() bool {
			hook, err := s.org.Webhook(t.Context(), w.ID)
			return err == nil && !hook.Enabled && hook.DisabledReason == webhooks.DisabledGone
		})
		s.eventually("the other one is told", others.has(1))
		for range 5 {
			s.event()
		}
		if counts := s.statuses(w); counts[webhooks.Failed] != 1 || len(counts) != 1 {
			t.Errorf("deliveries by status: %v", counts)
		}
		open.Store(true)
		storetest.SwitchWebhook(t, s.org, w.ID, true)
		s.recover(w, since)
		s.eventually("all six are delivered", func() bool {
			_, different := in.counts()
			return different == 6 && s.statuses(w)[webhooks.Delivered] == 6
		})
		if all, _ := in.counts(); all != 7 {
			t.Errorf("%d messages, want six and the one that was refused", all)
		}
	})
}

func (s *service) recover(w webhooks.Webhook, since time.Time) {
	s.Helper()
	if _, err := s.org.RecoverWebhook(context.Background(), w.ID, since, storetest.WebhookLine(audit.WebhookRecover, w.ID), nil, s.clock.now(), idempotency.Outcome{}); err != nil {
		s.Fatal(err)
	}
}

// Five days of failures disable an endpoint, and the others are notified; an
// endpoint that occasionally succeeds is never disabled.
func TestFiveDaysOfFailure(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		var flips atomic.Bool
		dead := newInbox(t, func(string, int) int { return http.StatusServiceUnavailable })
		moody := newInbox(t, func(string, int) int {
			if flips.Load() {
				return http.StatusOK
			}
			return http.StatusServiceUnavailable
		})
		others := newInbox(t, nil)
		a := storetest.AddWebhook(t, s.org, dead.url, event.PatientCreated)
		b := storetest.AddWebhook(t, s.org, moody.url, event.PatientCreated)
		storetest.AddWebhook(t, s.org, others.url, event.SystemAlert)
		worker := s.deliver()
		enabled := func(w webhooks.Webhook) bool {
			hook, err := s.org.Webhook(t.Context(), w.ID)
			if err != nil {
				t.Fatal(err)
			}
			return hook.Enabled
		}
		attempts := func(w webhooks.Webhook) (n int) {
			for _, d := range storetest.Deliveries(t, s.org, w.ID) {
				n += len(d.Attempts)
			}
			return n
		}
		for day := range 7 {
			if !enabled(a) {
				break
			}
			flips.Store(day%2 == 1)
			before, beforeB := attempts(a), attempts(b)
			s.event()
			worker.poke()
			s.eventually("both are tried", func() bool { return attempts(a) > before && attempts(b) > beforeB })
			if day < 5 && !enabled(a) {
				t.Fatalf("disabled after %d days", day)
			}
			s.clock.pass(24 * time.Hour)
		}
		s.eventually("it is disabled", func() bool { return !enabled(a) })
		s.eventually("the other one is told", others.has(1))
		if !enabled(b) {
			t.Error("one that answers every other day is disabled")
		}
	})
}

// Whatever fails how often, and in any order: everything is delivered in the
// end, and the cursor leaves nothing open behind it.
func TestCursorUnderFailures(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		const events = 200
		in := newInbox(t, nil)
		in.answer = func(event string, times int) int {
			if times <= int(event[len(event)-1])%4 { // none, or up to three times
				return http.StatusInternalServerError
			}
			return http.StatusOK
		}
		w := storetest.AddWebhook(t, s.org, in.url)
		real := newSender(t, Config{})
		worker := s.work(s.store, func(ctx context.Context, m Message) Attempt {
			if rand.IntN(8) == 0 { // some take longer than those behind them
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			}
			return real.Send(ctx, m)
		})
		s.fill(events)
		s.eventually("all are delivered", func() bool {
			s.clock.pass(time.Minute)
			worker.poke()
			return s.statuses(w)[webhooks.Delivered] == events
		})
		worker.stop()
		for _, d := range storetest.Deliveries(t, s.org, w.ID) {
			if tries := in.times(d.Event); tries != len(d.Attempts) {
				t.Errorf("%d attempts are kept, %d came", len(d.Attempts), tries)
			}
		}
		stats, err := s.org.WebhookStats(t.Context(), w.ID, s.clock.now())
		if err != nil || stats.Backlog != 0 {
			t.Errorf("the backlog is %d, %v", stats.Backlog, err)
		}
		claims, err := s.store.System().ClaimWebhooks(t.Context(), 1, s.clock.now().Add(lease), newToken, []webhooks.Key{{Org: s.org.No(), No: 1}})
		if err != nil || len(claims) != 1 || len(claims[0].Open) != 0 {
			t.Errorf("the next one finds %+v, %v", claims, err)
		}
	})
}

func TestRedeliverAndTest(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		in := newInbox(t, nil)
		w := storetest.AddWebhook(t, s.org, in.url, event.PatientCreated)
		s.deliver()
		s.event()
		s.eventually("it is delivered", func() bool { return s.statuses(w)[webhooks.Delivered] == 1 })
		first := storetest.Deliveries(t, s.org, w.ID)[0]
		nothing := func(*webhooks.Delivery) idempotency.Outcome { return idempotency.Outcome{} }
		if _, err := s.org.Redeliver(t.Context(), w.ID, first.ID, storetest.WebhookLine(audit.WebhookRedeliver, w.ID), nil, s.clock.now(), nothing); err != nil {
			t.Fatal(err)
		}
		s.eventually("it comes again", func() bool { return in.times(first.Event) == 2 })
		// As time does: what is due at the moment of the redelivery was looked at.
		s.clock.pass(time.Millisecond)
		now := s.clock.now()
		test := &event.Event{ID: id.New[id.EventKind](now), Type: event.Test, At: now, Data: []byte(`{}`)}
		if _, err := s.org.TestWebhook(t.Context(), w.ID, test, storetest.WebhookLine(audit.WebhookTest, w.ID), nil, nothing); err != nil {
			t.Fatal(err)
		}
		s.eventually("the test comes", func() bool { return in.times(test.ID) == 1 && s.statuses(w)[webhooks.Delivered] == 2 })
	})
}

// Several workers on one database share the endpoints: each event goes to each
// endpoint once.
func TestWorkersShare(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		const hooks, events = 8, 40
		inboxes := make([]*inbox, hooks)
		for i := range inboxes {
			inboxes[i] = newInbox(t, nil)
			storetest.AddWebhook(t, s.org, inboxes[i].url, event.PatientCreated)
		}
		send := newSender(t, Config{}).Send
		for _, on := range []*store.Store{s.store, s.node(), s.node()} {
			s.work(on, send)
		}
		s.fill(events)
		for _, in := range inboxes {
			s.eventually("all have come", func() bool { _, n := in.counts(); return n == events })
		}
		for i, in := range inboxes {
			if all, _ := in.counts(); all != events {
				t.Errorf("endpoint %d got %d messages, want %d", i, all, events)
			}
		}
	})
}

// Stopped, a worker finishes what is under way and begins nothing; what takes
// longer than it may is sent again by the next one.
func TestStop(t *testing.T) {
	for name, patient := range map[string]bool{"finished": true, "given up": false} {
		t.Run(name, func(t *testing.T) {
			eachService(t, func(t *testing.T, s *service) {
				started, finish := make(chan struct{}, 10*inFlight), make(chan struct{})
				var mu sync.Mutex
				sent := map[string]int{}
				send := func(ctx context.Context, m Message) Attempt {
					mu.Lock()
					sent[m.ID]++
					mu.Unlock()
					started <- struct{}{}
					select {
					case <-finish:
						return Attempt{At: m.At, Status: 200}
					case <-ctx.Done():
						return Attempt{At: m.At, Error: "broken off"}
					}
				}
				w := storetest.AddWebhook(t, s.org, "http://127.0.0.1:1/x")
				worker := s.work(s.store, send)
				if !patient {
					worker.grace = 0
				}
				s.fill(3 * inFlight)
				for range inFlight {
					<-started
				}
				stopped := make(chan struct{})
				go func() {
					defer close(stopped)
					worker.stop()
				}()
				if patient {
					close(finish)
				}
				<-stopped
				begun := len(sent)
				if got := s.statuses(w); patient && got[webhooks.Delivered] != begun || !patient && len(got) != 0 {
					t.Errorf("%d were begun; deliveries by status: %v", begun, got)
				}
				if !patient {
					close(finish)
				}
				s.work(s.store, send)
				s.eventually("all are delivered", func() bool { return s.statuses(w)[webhooks.Delivered] == 3*inFlight })
				mu.Lock()
				defer mu.Unlock()
				for id, n := range sent {
					if patient && n != 1 || n > 2 {
						t.Errorf("%s was sent %d times", id, n)
					}
				}
			})
		})
	}
}

// An endpoint that changes its address while attempts are under way gets at
// the new one what the old one has not taken.
func TestNewAddress(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		in := newInbox(t, nil)
		w := storetest.AddWebhook(t, s.org, "http://127.0.0.1:1/old")
		real := newSender(t, Config{})
		old, held := make(chan struct{}, 100), make(chan struct{})
		release := sync.OnceFunc(func() { close(held) })
		defer release()
		s.work(s.store, func(ctx context.Context, m Message) Attempt {
			if m.URL != in.url {
				old <- struct{}{}
				<-held
				return Attempt{At: m.At, Error: "gone away"}
			}
			return real.Send(ctx, m)
		})
		for range 3 {
			s.event()
			<-old
		}
		if _, err := s.org.UpdateWebhook(t.Context(), w.ID, func(w webhooks.Webhook) (webhooks.Webhook, *journal.Change, error) {
			w.URL = in.url
			c := storetest.WebhookLine(audit.WebhookUpdate, w.ID)
			return w, &c, nil
		}); err != nil {
			t.Fatal(err)
		}
		s.eventually("the new address gets them", in.has(3))
		release()
		s.event()
		s.eventually("and goes on", func() bool { return in.has(4)() && s.statuses(w)[webhooks.Delivered] == 4 })
	})
}

// An endpoint is served although its organisation has more unresponsive
// endpoints than any lane can hold.
func TestManyDeadEndpoints(t *testing.T) {
	s := newService(t, storetest.Database(t, storetest.SQLite))
	in := newInbox(t, nil)
	const dead = 90
	for i := range dead {
		storetest.AddWebhook(t, s.org, fmt.Sprintf("http://127.0.0.1:1/%d", i))
	}
	storetest.AddWebhook(t, s.org, in.url)
	real := newSender(t, Config{})
	hang := make(chan struct{})
	s.work(s.store, func(ctx context.Context, m Message) Attempt {
		if m.URL != in.url {
			<-hang
			return Attempt{At: m.At, Error: "dead"}
		}
		return real.Send(ctx, m)
	})
	defer close(hang)
	s.fill(inFlight) // 90 x 32 attempts hang
	s.eventually("the living one got all", in.has(inFlight))
	s.fill(10)
	s.eventually("and goes on", in.has(inFlight+10))
}
