package webhooks_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

var lastToken atomic.Int64

func newToken() int64 { return lastToken.Add(1) }

// claimOne lets a node claim the only endpoint that waits or can be claimed.
func claimOne(t *testing.T, s *store.Store, node int64) *webhooks.Claim {
	t.Helper()
	claims := storetest.Must[[]*webhooks.Claim](t)(claimAll(t, s, node))
	if len(claims) != 1 {
		t.Fatalf("node %d got %d claims, want one", node, len(claims))
	}
	return claims[0]
}

// claimAll lets a node claim the first endpoints of the first organisation.
func claimAll(t *testing.T, s *store.Store, node int64) ([]*webhooks.Claim, error) {
	keys := []webhooks.Key{{Org: 1, No: 1}, {Org: 1, No: 2}, {Org: 1, No: 3}}
	until := s.Database().Now().Add(storetest.ClaimTime)
	return s.System().ClaimWebhooks(t.Context(), node, until, newToken, keys)
}

// dueEndpoints returns the first endpoints that are due.
func dueEndpoints(t *testing.T, s *store.Store) []webhooks.WaitingWebhook {
	t.Helper()
	return storetest.Must[[]webhooks.WaitingWebhook](t)(s.System().DueWebhooks(t.Context(), webhooks.DuePlace{}, s.Database().Now()))
}

// tasks reads all events after a claim's position.
func tasks(t *testing.T, s *store.Store, c *webhooks.Claim) []webhooks.Task {
	t.Helper()
	work, held, err := s.System().WebhookWork(t.Context(), c, c.Pos, 10, 1000)
	if err != nil || !held {
		t.Fatalf("held %v, %v", held, err)
	}
	return work.Events
}

// ok and bad return a successful and a failed attempt.
func ok(at time.Time) webhooks.Attempt {
	return webhooks.Attempt{At: at.UTC().Truncate(time.Millisecond), Latency: 20 * time.Millisecond, Status: http.StatusOK, Answer: "thanks"}
}

func bad(at time.Time) webhooks.Attempt {
	return webhooks.Attempt{At: at.UTC().Truncate(time.Millisecond), Latency: 15 * time.Second, Error: "no answer within 15 s"}
}

func write(t *testing.T, s *store.Store, p *webhooks.Progress) {
	t.Helper()
	if err := s.System().WriteProgress(t.Context(), []*webhooks.Progress{p}); err != nil {
		t.Fatal(err)
	}
}

func TestOneNodeGetsAnEndpoint(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		for range 3 {
			storetest.AddWebhook(t, all[0].For(&who), someURL)
		}
		// The nodes are new each time, so that none has seen their leases.
		for round := range 20 {
			storetest.Exec(t, all[0], `DELETE FROM webhook_node`)
			var got atomic.Int32
			storetest.Together(t, 9, func(i int) error {
				claims, err := claimAll(t, all[i%3], int64(9*round+i+1))
				got.Add(int32(len(claims)))
				return err
			})
			if n := got.Load(); n != 3 {
				t.Fatalf("%d claims of three endpoints", n)
			}
		}
		held := map[int64]bool{}
		for _, w := range storetest.Must[[]webhooks.WaitingWebhook](t)(all[0].System().WebhooksOf(t.Context(), 1)) {
			if !w.Held || w.Node == 0 || w.Token == 0 {
				t.Errorf("not held: %+v", w)
			}
			held[w.Token] = true
		}
		if len(held) != 3 {
			t.Errorf("%d tokens", len(held))
		}
		// After that, no other node can claim them.
		if claims, err := claimAll(t, all[1], 999); len(claims) != 0 || err != nil {
			t.Errorf("%d claims were taken over, %v", len(claims), err)
		}
	})
}

// A node that was suspended past its lease writes nothing: neither a row, nor
// the cursor, nor the statistics.
func TestLateNodeIsRefused(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "O")
		o := s.For(&who)
		w := storetest.AddWebhook(t, o, someURL)
		for i := range 4 {
			storetest.AddPatient(t, o, storetest.PatientName(i))
		}
		storetest.Settle(t, s)
		slow := claimOne(t, s, 1)
		sent := tasks(t, s, slow)
		now.Pass(storetest.ClaimTime + time.Millisecond)
		quick := claimOne(t, s, 2)
		if quick.Pos != slow.Pos || len(tasks(t, s, quick)) != 4 {
			t.Fatalf("the second node goes on at %d", quick.Pos)
		}
		if _, held, err := s.System().WebhookWork(t.Context(), slow, slow.Pos, 1, 1); held || err != nil {
			t.Errorf("the first node still gets work: %v, %v", held, err)
		}
		write(t, s, &webhooks.Progress{Claim: quick, Pos: sent[1].Pos, Results: []webhooks.Result{
			{Task: &sent[0], Attempt: ok(now.Now()), Status: webhooks.Delivered}, {Task: &sent[1], Attempt: ok(now.Now()), Status: webhooks.Delivered},
		}})
		late := &webhooks.Progress{Claim: slow, Pos: sent[3].Pos, Disable: webhooks.DisabledFailing, Results: []webhooks.Result{
			{Task: &sent[0], Attempt: bad(now.Now()), Status: webhooks.Failed}, {Task: &sent[3], Attempt: ok(now.Now()), Status: webhooks.Delivered},
		}}
		write(t, s, late)
		if !late.Lost {
			t.Error("the late node is not told")
		}
		if hook, err := o.Webhook(t.Context(), w.ID); !hook.Enabled || err != nil {
			t.Errorf("the late node disabled it: %+v, %v", hook, err)
		}
		list := storetest.Deliveries(t, o, w.ID)
		if len(list) != 2 || list[0].Status != webhooks.Delivered || list[1].Status != webhooks.Delivered {
			t.Errorf("deliveries %+v", list)
		}
		stats := storetest.Must[webhooks.Stats](t)(o.WebhookStats(t.Context(), w.ID, now.Now()))
		if stats.Succeeded != 2 || stats.Failed != 0 || stats.Backlog != 2 {
			t.Errorf("statistics %+v", stats)
		}
		// Once released, it can be claimed at once.
		if err := s.System().ReleaseWebhooks(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		if next := claimOne(t, s, 3); next.Pos != sent[1].Pos || len(next.Open) != 0 {
			t.Errorf("the third node goes on at %d with %v", next.Pos, next.Open)
		}
	})
}

// Attempts in progress when a node died are found by the next one, and nothing
// else is sent again.
func TestOpenPositionsOutliveANode(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "O")
		o := s.For(&who)
		storetest.AddWebhook(t, o, someURL, event.PatientCreated)
		for i := range 5 {
			storetest.AddPatient(t, o, storetest.PatientName(i))
		}
		storetest.Settle(t, s)
		first := claimOne(t, s, 1)
		sent := tasks(t, s, first)
		// The second and fourth are done; the first and third are in progress.
		write(t, s, &webhooks.Progress{Claim: first, Pos: sent[3].Pos, Open: []journal.Pos{sent[0].Pos, sent[2].Pos}, Results: []webhooks.Result{
			{Task: &sent[1], Attempt: ok(now.Now()), Status: webhooks.Delivered}, {Task: &sent[3], Attempt: ok(now.Now()), Status: webhooks.Delivered},
		}})
		now.Pass(storetest.ClaimTime + time.Millisecond)
		waiting := storetest.Must[[]webhooks.WaitingWebhook](t)(s.System().WaitingWebhooks(t.Context(), 0))
		if len(waiting) != 1 || waiting[0].Held {
			t.Errorf("waiting: %+v", waiting)
		}
		second := claimOne(t, s, 2)
		hook, _, err := o.WebhookPage(t.Context(), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		open := storetest.Must[[]webhooks.Task](t)(s.System().OpenTasks(t.Context(), second, hook[0].ID))
		again := append(open, tasks(t, s, second)...)
		var positions []journal.Pos
		for _, task := range again {
			positions = append(positions, task.Pos)
		}
		if want := []journal.Pos{sent[0].Pos, sent[2].Pos, sent[4].Pos}; !slices.Equal(positions, want) {
			t.Errorf("sent again are %v, want %v", positions, want)
		}
		for i, j := range []int{0, 2, 4} {
			if again[i].Event.ID != sent[j].Event.ID || again[i].Delivery != sent[j].Delivery || string(again[i].Body) != string(sent[j].Body) {
				t.Errorf("task %d is %+v, was %+v", i, again[i], sent[j])
			}
		}
	})
}

// Disabling an endpoint for its failures notifies the others, in the same
// transaction.
func TestDisabledByTheService(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		w := storetest.AddWebhook(t, o, someURL)
		storetest.AddPatient(t, o, "A")
		storetest.Settle(t, s)
		claim := claimOne(t, s, 1)
		sent := tasks(t, s, claim)
		for range 2 { // the second time it is already disabled
			write(t, s, &webhooks.Progress{Claim: claim, Pos: sent[0].Pos, Disable: webhooks.DisabledFailing, FailingSince: time.Now().Add(-webhooks.FailingFor),
				Results: []webhooks.Result{{Task: &sent[0], Attempt: bad(time.Now()), Status: webhooks.Pending, Next: time.Now()}}})
		}
		storetest.Settle(t, s)
		hook := storetest.Must[webhooks.Webhook](t)(o.Webhook(t.Context(), w.ID))
		if hook.Enabled || hook.DisabledReason != webhooks.DisabledFailing || hook.Version != w.Version+1 {
			t.Errorf("it is %+v", hook)
		}
		events, _, err := o.Events(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var alerts []string
		for _, e := range events {
			if e.Type == event.SystemAlert {
				alerts = append(alerts, string(e.Data))
			}
		}
		want := `{"kind":"webhook_disabled","severity":"warning","webhook_id":"` + w.ID.String() + `","reason":"failing"}`
		if len(alerts) != 1 || alerts[0] != want {
			t.Errorf("alerts %q, want %s", alerts, want)
		}
		if lines := storetest.AuditLines(t, o, journal.AuditFilter{Action: audit.WebhookUpdate}); len(lines) != 1 {
			t.Errorf("%d audit lines: %s", len(lines), lines)
		}
		// Waiting deliveries are due once it is enabled again, not before.
		if due := dueEndpoints(t, s); len(due) != 0 {
			t.Errorf("due while disabled: %+v", due)
		}
		storetest.SwitchWebhook(t, o, w.ID, true)
		if due := dueEndpoints(t, s); len(due) != 1 {
			t.Errorf("due when enabled again: %+v", due)
		}
		if again := claimOne(t, s, 1); again.Pos <= claim.Pos || !again.FailingSince.IsZero() || len(again.Open) != 0 {
			t.Errorf("enabled again it is at %+v", again)
		}
	})
}

// In a batch, only the endpoint whose claim is lost is skipped.
func TestProgressOfManyEndpoints(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		hooks := []webhooks.Webhook{storetest.AddWebhook(t, o, someURL), storetest.AddWebhook(t, o, someURL), storetest.AddWebhook(t, o, someURL)}
		storetest.AddPatient(t, o, "A")
		storetest.Settle(t, s)
		claims := storetest.Must[[]*webhooks.Claim](t)(claimAll(t, s, 1))
		if len(claims) != 3 {
			t.Fatalf("%d claims, want three", len(claims))
		}
		sent := tasks(t, s, claims[0])[0]
		storetest.SwitchWebhook(t, o, hooks[1].ID, false)
		storetest.SwitchWebhook(t, o, hooks[1].ID, true) // ends its claim
		storetest.Settle(t, s)
		var list []*webhooks.Progress
		for i, c := range claims {
			task := sent
			task.Delivery = webhooks.DeliveryID(hooks[i].ID, sent.Event.ID, sent.Pos)
			list = append(list, &webhooks.Progress{Claim: c, Pos: task.Pos,
				Results: []webhooks.Result{{Task: &task, Attempt: ok(time.Now()), Status: webhooks.Delivered}}})
		}
		if err := s.System().WriteProgress(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for i, w := range hooks {
			lost := i == 1
			if got := len(storetest.Deliveries(t, o, w.ID)); list[i].Lost != lost || (got == 0) != lost {
				t.Errorf("endpoint %d: lost %v, %d deliveries", i, list[i].Lost, got)
			}
		}
	})
}
