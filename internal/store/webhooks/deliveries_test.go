package webhooks_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// hooked is a store with an organisation, a clock, and an endpoint claimed by a
// node.
type hooked struct {
	*testing.T
	s     *store.Store
	o     store.Org
	w     webhooks.Webhook
	now   *storetest.Clock
	claim *webhooks.Claim
}

func eachHooked(t *testing.T, test func(t *testing.T, h *hooked)) {
	t.Helper()
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		h := &hooked{T: t, now: storetest.NewClock()}
		cfg.Now = h.now.Now
		h.s = storetest.Start(t, cfg)
		who := storetest.Client(t, h.s, "O")
		h.o = h.s.For(&who)
		storetest.Settle(t, h.s)
		h.w = storetest.AddWebhook(t, h.o, someURL)
		storetest.Settle(t, h.s)
		h.claim = claimOne(t, h.s, 1)
		test(t, h)
	})
}

// events creates events now, and returns the resulting tasks.
func (h *hooked) events(n int) []webhooks.Task {
	h.Helper()
	for i := range n {
		p := storetest.Patient(storetest.PatientName(i))
		p.CreatedAt = h.now.Now()
		if _, err := h.o.CreatePatient(h.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
			h.Fatal(err)
		}
	}
	storetest.Settle(h, h.s)
	work, held, err := h.s.System().WebhookWork(h.Context(), h.claim, h.claim.Pos, 1, 1000)
	if err != nil || !held || len(work.Events) != n {
		h.Fatalf("%d events, held %v, %v", len(work.Events), held, err)
	}
	h.claim.Pos = work.Next
	return work.Events
}

// result writes the result of a task. A pending one is due in an hour.
func (h *hooked) result(task *webhooks.Task, status webhooks.DeliveryStatus) {
	h.Helper()
	r := webhooks.Result{Task: task, Attempt: ok(h.now.Now()), Status: status}
	if status != webhooks.Delivered {
		r.Attempt = bad(h.now.Now())
	}
	if status == webhooks.Pending {
		r.Next = h.now.Now().Add(time.Hour)
	}
	p := &webhooks.Progress{Claim: h.claim, Pos: h.claim.Pos, Results: []webhooks.Result{r}}
	write(h.T, h.s, p)
	if p.Lost {
		h.Fatal("the claim was lost")
	}
}

// due returns the deliveries that are to be sent again now.
func (h *hooked) due() []webhooks.Task {
	h.Helper()
	work, held, err := h.s.System().WebhookWork(h.Context(), h.claim, h.claim.Pos, 1000, 1)
	if err != nil || !held {
		h.Fatalf("held %v, %v", held, err)
	}
	return work.Retries
}

func (h *hooked) stats() webhooks.Stats {
	h.Helper()
	return storetest.Must[webhooks.Stats](h.T)(h.o.WebhookStats(h.Context(), h.w.ID, h.now.Now()))
}

func TestDeliveriesAreListed(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		var want []id.Delivery
		status := map[id.Delivery]webhooks.DeliveryStatus{}
		for i := range 25 {
			task := h.events(1)[0]
			h.result(&task, webhooks.DeliveryStatus(i%3))
			want = append(want, task.Delivery)
			status[task.Delivery] = webhooks.DeliveryStatus(i % 3)
			h.now.Pass(time.Second)
		}
		slices.Reverse(want)
		list := func(q webhooks.DeliveryQuery) (got []id.Delivery) {
			t.Helper()
			for {
				next, err := h.o.Deliveries(t.Context(), h.w.ID, q, func(d *webhooks.Delivery) {
					got = append(got, d.ID)
					if d.Status != status[d.ID] || d.EventType != event.PatientCreated || len(d.Attempts) != 1 || (d.Status == webhooks.Pending) == d.NextAttemptAt.IsZero() {
						t.Errorf("%+v should be %s", d, status[d.ID])
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if next.IsZero() {
					return got
				}
				q.Before = next
			}
		}
		for _, limit := range []int{1, 7, 25, 100} {
			if got := list(webhooks.DeliveryQuery{Limit: limit}); !slices.Equal(got, want) {
				t.Errorf("by %d: %v, want %v", limit, got, want)
			}
			for one := webhooks.Pending; one <= webhooks.Failed; one++ {
				kept := slices.DeleteFunc(slices.Clone(want), func(d id.Delivery) bool { return status[d] != one })
				if got := list(webhooks.DeliveryQuery{Limit: limit, Status: &one}); !slices.Equal(got, kept) {
					t.Errorf("%s by %d: %v, want %v", one, limit, got, kept)
				}
			}
			if got := list(webhooks.DeliveryQuery{Limit: limit, EventType: event.SystemAlert}); len(got) != 0 {
				t.Errorf("of another type: %v", got)
			}
		}
	})
}

func TestDeliveryIsKeptAsItWas(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		task := h.events(1)[0]
		h.result(&task, webhooks.Pending)
		h.now.Pass(time.Hour)
		again := h.due()
		if len(again) != 1 || !again[0].Again || again[0].Tries != 1 || !bytes.Equal(again[0].Body, task.Body) || again[0].Event.ID != task.Event.ID {
			t.Fatalf("due are %+v", again)
		}
		second := h.now.Now()
		h.result(&again[0], webhooks.Delivered)
		d := storetest.Must[webhooks.Delivery](t)(h.o.Delivery(t.Context(), h.w.ID, task.Delivery))
		if d.Status != webhooks.Delivered || !bytes.Equal(d.Payload, task.Body) || d.Event != task.Event.ID || !d.NextAttemptAt.IsZero() {
			t.Errorf("the delivery is %+v", d)
		}
		if want := []webhooks.Attempt{bad(second.Add(-time.Hour)), ok(second)}; !slices.Equal(d.Attempts, want) {
			t.Errorf("attempts %+v, want %+v", d.Attempts, want)
		}
		if len(h.due()) != 0 {
			t.Error("it is still due")
		}
		if _, err := h.o.Delivery(t.Context(), h.w.ID, id.New[id.DeliveryKind](second)); !fault.Is(err, fault.NotFound) {
			t.Errorf("an unknown delivery: %v", err)
		}
	})
}

// Redelivery sends the same event with the same identifier, whatever its
// status, and with a new schedule.
func TestRedeliver(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		for i, task := range h.events(3) {
			h.result(&task, webhooks.DeliveryStatus(i))
			key := &idempotency.Once{Key: fmt.Append(nil, i), Body: []byte("{}")}
			for n := range 2 {
				out, err := h.o.Redeliver(t.Context(), h.w.ID, task.Delivery, storetest.HookLine(audit.WebhookRedeliver, h.w), key, h.now.Now(), func(d *webhooks.Delivery) idempotency.Outcome {
					if d.ID != task.Delivery || d.Status != webhooks.Pending || !d.NextAttemptAt.Equal(h.now.Now()) || len(d.Attempts) != 1 {
						t.Errorf("answered with %+v", d)
					}
					return idempotency.Outcome{Status: 202}
				})
				if err != nil || out.Status != 202 || out.Replayed != (n == 1) {
					t.Errorf("%+v, %v", out, err)
				}
			}
			due := h.due()
			if len(due) != 1 || due[0].Event.ID != task.Event.ID || due[0].Tries != 0 || len(due[0].Attempts) != 1 {
				t.Fatalf("due are %+v", due)
			}
			if stats := h.stats(); stats.Backlog != 1 {
				t.Errorf("the backlog is %d", stats.Backlog)
			}
			h.result(&due[0], webhooks.Delivered)
		}
		if stats := h.stats(); stats.Backlog != 0 || stats.Succeeded != 4 || stats.Failed != 2 {
			t.Errorf("at the end: %+v", stats)
		}
		if _, err := h.o.Redeliver(t.Context(), h.w.ID, id.New[id.DeliveryKind](h.now.Now()), storetest.HookLine(audit.WebhookRedeliver, h.w), nil, h.now.Now(), nil); !fault.Is(err, fault.NotFound) {
			t.Errorf("an unknown delivery: %v", err)
		}
	})
}

// The log lists deliveries in the order of their events, even within one
// millisecond and whichever result came first, and tests where they were
// requested.
func TestDeliveriesOfOneMillisecond(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		var want []id.Event
		events := func() {
			tasks := h.events(20)
			for i := range tasks {
				want = append(want, tasks[i].Event.ID)
			}
			for _, i := range rand.Perm(len(tasks)) {
				h.result(&tasks[i], webhooks.DeliveryStatus(i%3))
			}
		}
		events()
		for range 5 {
			test := &event.Event{ID: id.New[id.EventKind](h.now.Now()), Type: event.Test, At: h.now.Now(), Data: []byte(`{}`)}
			want = append(want, test.ID)
			if _, err := h.o.TestWebhook(t.Context(), h.w.ID, test, storetest.HookLine(audit.WebhookTest, h.w), nil,
				func(*webhooks.Delivery) idempotency.Outcome { return idempotency.Outcome{} }); err != nil {
				t.Fatal(err)
			}
		}
		storetest.Settle(t, h.s)
		events()
		slices.Reverse(want)
		for _, limit := range []int{7, 100} {
			var got []id.Event
			for q := (webhooks.DeliveryQuery{Limit: limit}); ; {
				next, err := h.o.Deliveries(t.Context(), h.w.ID, q, func(d *webhooks.Delivery) { got = append(got, d.Event) })
				if err != nil {
					t.Fatal(err)
				}
				if q.Before = next; next.IsZero() {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("by %d: the log is not in the order of the events", limit)
			}
		}
	})
}

// A delivery with an identifier of an older version is recognised.
func TestRecoverKnowsOldDeliveries(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		since := h.now.Now()
		tasks := h.events(3)
		for i := range 2 {
			tasks[i].Delivery = webhooks.OldDelivery(h.w.ID, tasks[i].Event.ID)
		}
		h.result(&tasks[0], webhooks.Delivered)
		h.result(&tasks[1], webhooks.Failed)
		if _, err := h.o.RecoverWebhook(t.Context(), h.w.ID, since, storetest.HookLine(audit.WebhookRecover, h.w), nil, h.now.Now(), idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		if looked, err := h.s.System().RecoverSlice(t.Context(), h.claim, func(journal.Pos) bool { return false }); !looked || err != nil {
			t.Fatalf("looked %v, %v", looked, err)
		}
		got := map[id.Delivery]bool{}
		for _, task := range h.due() {
			got[task.Delivery] = true
		}
		if len(got) != 2 || !got[tasks[1].Delivery] || !got[tasks[2].Delivery] {
			t.Errorf("due are %v", got)
		}
	})
}

// A test event is sent to its endpoint only, and is not in the journal.
func TestTestWebhook(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		other := storetest.AddWebhook(t, h.o, someURL)
		test := testEvent()
		test.At = h.now.Now()
		var answered id.Delivery
		if _, err := h.o.TestWebhook(t.Context(), h.w.ID, test, storetest.HookLine(audit.WebhookTest, h.w), nil, func(d *webhooks.Delivery) idempotency.Outcome {
			if answered = d.ID; d.Status != webhooks.Pending {
				t.Errorf("answered with %+v", d)
			}
			return idempotency.Outcome{}
		}); err != nil {
			t.Fatal(err)
		}
		due := h.due()
		if len(due) != 1 || due[0].Delivery != answered || due[0].Event.Type != event.Test || !bytes.Equal(due[0].Body, test.Append(nil)) {
			t.Fatalf("due are %+v", due)
		}
		h.result(&due[0], webhooks.Delivered)
		d := storetest.Must[webhooks.Delivery](t)(h.o.Delivery(t.Context(), h.w.ID, due[0].Delivery))
		if d.Status != webhooks.Delivered || !bytes.Equal(d.Payload, test.Append(nil)) {
			t.Errorf("the delivery is %+v", d)
		}
		storetest.Settle(t, h.s)
		if events, _, err := h.o.Events(t.Context(), 0, 10); len(events) != 0 || err != nil {
			t.Errorf("the log has %d events, %v", len(events), err)
		}
		if got := storetest.Deliveries(t, h.o, other.ID); len(got) != 0 {
			t.Errorf("the other endpoint has %+v", got)
		}
	})
}

// Recovery sends, in slices, what was not delivered since a time, including
// what was missed while the endpoint was disabled.
func TestRecoverWebhook(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		before := h.events(2) // one before that time failed, and stays so
		h.result(&before[0], webhooks.Failed)
		h.result(&before[1], webhooks.Delivered)
		h.now.Pass(time.Hour)
		since := h.now.Now()
		seen := h.events(3)
		for i := range seen {
			h.result(&seen[i], []webhooks.DeliveryStatus{webhooks.Delivered, webhooks.Failed, webhooks.Pending}[i])
		}
		storetest.SwitchWebhook(t, h.o, h.w.ID, false)
		missed := webhooks.RecoverScan + 20
		for i := range missed {
			p := storetest.Patient(storetest.PatientName(i))
			p.CreatedAt = h.now.Now()
			if _, err := h.o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
				t.Fatal(err)
			}
		}
		storetest.Settle(t, h.s)
		storetest.SwitchWebhook(t, h.o, h.w.ID, true)
		storetest.Settle(t, h.s)
		h.claim = claimOne(t, h.s, 2)
		if work, _, err := h.s.System().WebhookWork(t.Context(), h.claim, h.claim.Pos, 10, 10); len(work.Events) != 0 || len(work.Retries) != 0 || err != nil {
			t.Errorf("it did not begin at the head: %+v, %v", work, err)
		}
		for range 2 { // a second one changes nothing
			if _, err := h.o.RecoverWebhook(t.Context(), h.w.ID, since, storetest.HookLine(audit.WebhookRecover, h.w), nil, h.now.Now(), idempotency.Outcome{}); err != nil {
				t.Fatal(err)
			}
		}
		got, slices := map[id.Event]int{}, 0
		for looked := true; looked; {
			var err error
			if looked, err = h.s.System().RecoverSlice(t.Context(), h.claim, func(journal.Pos) bool { return false }); err != nil {
				t.Fatal(err)
			}
			if looked {
				slices++
			}
			for _, task := range h.due() {
				got[task.Event.ID]++
				h.result(&task, webhooks.Delivered)
			}
		}
		if slices < 2 {
			t.Errorf("it was done in %d slices", slices)
		}
		if len(got) != missed+1 || got[seen[1].Event.ID] != 1 || got[before[0].Event.ID] != 0 || got[seen[0].Event.ID] != 0 {
			t.Errorf("%d events were sent again, want %d that were missed and one that failed", len(got), missed)
		}
		if stats := h.stats(); stats.Backlog != 1 { // the pending one, which is not due yet
			t.Errorf("the backlog is %d", stats.Backlog)
		}
		h.now.Pass(2 * time.Hour)
		if due := h.due(); len(due) != 1 || due[0].Event.ID != seen[2].Event.ID {
			t.Errorf("due later are %+v", due)
		}
	})
}

// A recovery does not fill the queue faster than it is emptied, and ignores
// attempts in progress.
func TestRecoverySlicesWait(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		tasks := h.events(webhooks.RecoverScan + 50)
		write(t, h.s, &webhooks.Progress{Claim: h.claim, Pos: h.claim.Pos, Open: []journal.Pos{tasks[0].Pos}})
		if _, err := h.o.RecoverWebhook(t.Context(), h.w.ID, h.now.Now(), storetest.HookLine(audit.WebhookRecover, h.w), nil, h.now.Now(), idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		underWay := func(p journal.Pos) bool { return p == tasks[0].Pos }
		slice := func(want bool) {
			t.Helper()
			if looked, err := h.s.System().RecoverSlice(t.Context(), h.claim, underWay); looked != want || err != nil {
				t.Errorf("looked %v, %v, want %v", looked, err, want)
			}
		}
		slice(true)
		due := h.due()
		if len(due) == 0 || due[0].Event.ID == tasks[0].Event.ID {
			t.Fatalf("%d are due", len(due))
		}
		slice(true)
		if due = h.due(); len(due) != len(tasks)-1 {
			t.Errorf("%d are due, want %d", len(due), len(tasks)-1)
		}
		slice(false) // it is done
		// With a full queue, or after the claim is lost, nothing is done.
		if _, err := h.o.RecoverWebhook(t.Context(), h.w.ID, h.now.Now(), storetest.HookLine(audit.WebhookRecover, h.w), nil, h.now.Now(), idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		slice(false)
		h.claim.Token = newToken()
		slice(false)
	})
}

func TestStatistics(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		if stats := h.stats(); stats != (webhooks.Stats{}) {
			t.Errorf("of nothing: %+v", stats)
		}
		tasks := h.events(120)
		var results []webhooks.Result
		for i := range tasks[:100] {
			a, status := ok(h.now.Now()), webhooks.Delivered
			a.Latency = time.Duration(i+1) * 10 * time.Millisecond
			if i%4 == 0 {
				a.Error, a.Status, status = "503", 503, webhooks.Failed
			}
			results = append(results, webhooks.Result{Task: &tasks[i], Attempt: a, Status: status})
		}
		write(t, h.s, &webhooks.Progress{Claim: h.claim, Pos: tasks[99].Pos, Open: []journal.Pos{tasks[3].Pos}, Results: results})
		stats := h.stats()
		near := func(got, want time.Duration) bool { return got > want*85/100 && got < want*115/100 }
		if stats.Succeeded != 75 || stats.Failed != 25 || !near(stats.P50, 500*time.Millisecond) || !near(stats.P95, 950*time.Millisecond) {
			t.Errorf("statistics %+v", stats)
		}
		if stats.Backlog != 21 || stats.LastFailure != "503" || !stats.LastFailureAt.Equal(h.now.Now()) {
			t.Errorf("statistics %+v", stats)
		}
		h.now.Pass(webhooks.StatsWindow + time.Hour)
		if stats := h.stats(); stats.Succeeded != 0 || stats.Failed != 0 || stats.P50 != 0 || stats.LastFailure != "503" {
			t.Errorf("a day later: %+v", stats)
		}
		storetest.SwitchWebhook(t, h.o, h.w.ID, false)
		if stats := h.stats(); stats.Backlog != 0 {
			t.Errorf("disabled it has a backlog of %d", stats.Backlog)
		}
	})
}
