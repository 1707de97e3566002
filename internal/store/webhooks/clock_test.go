package webhooks_test

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// A clock that was an hour ahead is corrected, and the nodes that held leases
// by it have ended: their work is taken over at once, not in an hour.
func TestLeasesOfAClockPutBack(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		storetest.AddWebhook(t, all[0].For(&who), someURL)
		rep := storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		claimOne(t, all[0], 1)
		storetest.ClaimReport(t, all[0])
		if claims, err := claimAll(t, all[1], 2); len(claims) != 0 || err != nil {
			t.Fatalf("%d claims of another were taken over, %v", len(claims), err)
		}

		now.Pass(-time.Hour)
		for _, w := range storetest.Must[[]webhooks.WaitingWebhook](t)(all[1].System().WebhooksOf(t.Context(), 1)) {
			if w.Held {
				t.Errorf("held by a node that nobody has heard of for an hour: %+v", w)
			}
		}
		claimOne(t, all[1], 2)
		if c := storetest.ClaimReport(t, all[1]); c.ID != rep.ID {
			t.Errorf("%+v", c)
		}
	})
}

// A clock that is slightly off, or nodes whose clocks differ slightly, do not
// take anything from a live node.
func TestLeasesOfAClockALittleOff(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		storetest.AddWebhook(t, all[0].For(&who), someURL)
		storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		claimOne(t, all[0], 1)
		storetest.ClaimReport(t, all[0])
		now.Pass(-time.Minute)
		if claims, err := claimAll(t, all[1], 2); len(claims) != 0 || err != nil {
			t.Errorf("%d claims of another were taken over, %v", len(claims), err)
		}
		if c := storetest.Must[*reports.ReportClaim](t)(all[1].System().ClaimReport(t.Context(), "node", storetest.ClaimTime)); c != nil {
			t.Error("a report of another was taken over")
		}
	})
}

// Retries that would wait for longer than possible are due at once; after a
// clock was set back slightly, they come that much later.
func TestRetriesOfAClockPutBack(t *testing.T) {
	const longest = 24 * time.Hour
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		storetest.AddWebhook(t, o, someURL)
		storetest.AddPatient(t, o, "A")
		storetest.AddPatient(t, o, "B")
		storetest.Settle(t, s)
		c := claimOne(t, s, 1)
		sent := tasks(t, s, c)
		write(t, s, &webhooks.Progress{Claim: c, Pos: sent[1].Pos, Results: []webhooks.Result{
			{Task: &sent[0], Attempt: bad(now.Now()), Status: webhooks.Pending, Next: now.Now().Add(time.Minute)},
			{Task: &sent[1], Attempt: bad(now.Now()), Status: webhooks.Pending, Next: now.Now().Add(longest)},
		}})
		for _, step := range []struct {
			back time.Duration
			due  int
		}{{0, 0}, {time.Minute, 0}, {23 * time.Hour, 1}} {
			now.Pass(-step.back)
			pulled, err := s.System().PullRetries(t.Context(), longest)
			if err != nil || len(pulled) != step.due {
				t.Fatalf("back by %v: the retries of %d endpoints were pulled, %v", step.back, len(pulled), err)
			}
			work, held, err := s.System().WebhookWork(t.Context(), c, sent[1].Pos, 10, 10)
			if err != nil || !held || len(work.Retries) != step.due {
				t.Errorf("back by %v: %d are due, want %d; held %v, %v", step.back, len(work.Retries), step.due, held, err)
			}
			if due := dueEndpoints(t, s); (len(due) == 1) != (step.due > 0) {
				t.Errorf("back by %v: %d endpoints are due", step.back, len(due))
			}
		}
	})
}
