package store_test

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A clock that was an hour ahead is put right, and the nodes that held leases
// by it are gone: what they left is taken up at once, not in an hour.
func TestLeasesOfAClockPutBack(t *testing.T) {
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		all, who := nodes(t, 2, open)
		storetest.AddWebhook(t, all[0].For(&who), someURL)
		rep := addReport(t, all[0], &who, reporttype.Outcomes, now.now())
		claimOne(t, all[0], 1)
		claim(t, all[0])
		if claims, err := claimAll(t, all[1], 2); len(claims) != 0 || err != nil {
			t.Fatalf("%d claims of another were taken over, %v", len(claims), err)
		}

		now.pass(-time.Hour)
		for _, w := range must[[]store.WaitingWebhook](t)(all[1].System().WebhooksOf(t.Context(), 1)) {
			if w.Held {
				t.Errorf("held by a node that nobody has heard of for an hour: %+v", w)
			}
		}
		claimOne(t, all[1], 2)
		if c := claim(t, all[1]); c.ID != rep.ID {
			t.Errorf("%+v", c)
		}
	})
}

// A clock that is a little off, or nodes whose clocks differ a little, take
// nothing away from a node that lives.
func TestLeasesOfAClockALittleOff(t *testing.T) {
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		all, who := nodes(t, 2, open)
		storetest.AddWebhook(t, all[0].For(&who), someURL)
		addReport(t, all[0], &who, reporttype.Outcomes, now.now())
		claimOne(t, all[0], 1)
		claim(t, all[0])
		now.pass(-time.Minute)
		if claims, err := claimAll(t, all[1], 2); len(claims) != 0 || err != nil {
			t.Errorf("%d claims of another were taken over, %v", len(claims), err)
		}
		if c := must[*store.ReportClaim](t)(all[1].System().ClaimReport(t.Context(), "node", lease)); c != nil {
			t.Error("a report of another was taken over")
		}
	})
}

// Events stand in the order of their commits, whatever the clock says.
func TestJournalWithAClockPutBack(t *testing.T) {
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		all, who := nodes(t, 1, open)
		o := all[0].For(&who)
		var names []string
		for _, jump := range []time.Duration{0, -time.Hour, 2 * time.Hour, -24 * time.Hour} {
			now.pass(jump)
			p, err := create(t, o)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, p.ID.String())
		}
		store.Settle(t, all[0])
		events, _, err := o.Events(t.Context(), 0, 100)
		if err != nil || len(events) != len(names) {
			t.Fatalf("%d events, %v", len(events), err)
		}
		var listed []string
		if total, err := o.PatientPage(t.Context(), 1, 100, func(p store.PatientItem) { listed = append(listed, p.ID.String()) }); int(total) != len(names) || err != nil {
			t.Fatalf("%d patients, %v", total, err)
		}
		for i, name := range names {
			if listed[i] != name {
				t.Errorf("patient %d is %s, want %s", i, listed[i], name)
			}
		}
	})
}

// A session is not kept by a clock that is put back: one that was seen in what
// is the future now is over, and one from before goes on as if nothing had been.
func TestSessionsOfAClockPutBack(t *testing.T) {
	const idle, lifetime = 30 * time.Minute, 12 * time.Hour
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		sys := open().System()
		a := must[store.Account](t)(sys.CreateAccount(t.Context(), "default", member(1, access.Viewer)))
		signIn := func(cookie string) {
			t.Helper()
			if err := sys.SignIn(t.Context(), &a, tryOf("email"), []byte(cookie), lifetime, at(now.now())); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(cookie string, want bool, why string) {
			t.Helper()
			if found, _, err := sys.Session(t.Context(), []byte(cookie), idle); err != nil || found != want {
				t.Errorf("%s: found %v, %v", why, found, err)
			}
		}
		signIn("before")
		now.pass(time.Hour)
		signIn("ahead")
		expect("before", false, "idle by a clock that is ahead")
		now.pass(-time.Hour)
		expect("before", true, "idle no more")
		expect("ahead", false, "seen in an hour")
		now.pass(-4 * time.Minute)
		expect("before", true, "a clock a little off")

		now.pass(4*time.Minute + 20*time.Minute)
		expect("before", true, "in use")
		now.pass(-15 * time.Minute)
		expect("before", false, "seen in a quarter of an hour")
		now.pass(15*time.Minute + idle)
		expect("before", false, "idle")
	})
}

// Retries that wait for longer than any does are due at once; those that a clock
// put back a little has moved come that much later.
func TestRetriesOfAClockPutBack(t *testing.T) {
	const longest = 24 * time.Hour
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		all, who := nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		storetest.AddWebhook(t, o, someURL)
		storetest.AddPatient(t, o, "A")
		storetest.AddPatient(t, o, "B")
		store.Settle(t, s)
		c := claimOne(t, s, 1)
		sent := tasks(t, s, c)
		write(t, s, &store.WebhookProgress{Claim: c, Pos: sent[1].Pos, Results: []store.WebhookResult{
			{Task: &sent[0], Attempt: bad(now.now()), Status: store.Pending, Next: now.now().Add(time.Minute)},
			{Task: &sent[1], Attempt: bad(now.now()), Status: store.Pending, Next: now.now().Add(longest)},
		}})
		for _, step := range []struct {
			back time.Duration
			due  int
		}{{0, 0}, {time.Minute, 0}, {23 * time.Hour, 1}} {
			now.pass(-step.back)
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
