package webhooks_test

import (
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// attend lets a node take its number and lock.
func attend(t *testing.T, s *store.Store) *webhooks.Attendance {
	t.Helper()
	a := storetest.Must[*webhooks.Attendance](t)(s.System().Attend(t.Context()))
	if !a.Locked() {
		t.Fatal("the node has no lock")
	}
	t.Cleanup(a.Leave)
	return a
}

// A node whose process has ended loses its claims at once, one that only has a
// lease when that ends, and a live one keeps them, whichever node asks.
func TestRoll(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		here, there := storetest.Start(t, cfg), storetest.Start(t, storetest.Node(t, cfg))
		who := storetest.Client(t, here, "O")
		storetest.AddWebhook(t, here.For(&who), someURL)
		mine, theirs := attend(t, here), attend(t, there)
		claimOne(t, there, theirs.Node)
		expect := func(what string, others ...int64) {
			t.Helper()
			for i, s := range []*store.Store{here, there} {
				roll, err := s.System().CallRoll(t.Context(), mine.Node)
				freed := len(others) == 0 && i == 0 // the second finds nothing left
				if err != nil || roll.Missed || roll.Freed != freed || !slices.Equal(roll.Others, others) {
					t.Errorf("%s: %+v, %v; want %v", what, roll, err, others)
				}
			}
			claims, err := claimAll(t, here, mine.Node)
			if free := len(others) == 0; (len(claims) == 1) != free || err != nil {
				t.Errorf("%s: %d claims, %v", what, len(claims), err)
			}
		}
		expect("the other one lives", theirs.Node)
		theirs.Leave()
		expect("it is gone")

		const older = 7 // of a version without locks
		if err := here.System().ReleaseWebhooks(t.Context(), mine.Node); err != nil {
			t.Fatal(err)
		}
		claimOne(t, there, older)
		expect("it holds no lock, but its lease", older)
		now.Pass(storetest.ClaimTime + time.Millisecond)
		expect("its lease has run out")
	})
}

// A node that lost its lock detects that, judges no other node, and takes the
// lock again.
func TestRollWithoutALock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		here, there := open(), open()
		mine, theirs := attend(t, here), attend(t, there)
		for s, a := range map[*store.Store]*webhooks.Attendance{here: mine, there: theirs} {
			if err := s.System().HoldWebhooks(t.Context(), a.Node, time.Now().Add(storetest.ClaimTime)); err != nil {
				t.Fatal(err)
			}
		}
		mine.Leave()
		theirs.Leave()
		for range 2 {
			if roll, err := here.System().CallRoll(t.Context(), mine.Node); err != nil || !roll.Missed || roll.Others != nil {
				t.Errorf("%+v, %v", roll, err)
			}
		}
		for _, a := range []*webhooks.Attendance{theirs, mine} {
			if err := a.Again(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if roll, err := here.System().CallRoll(t.Context(), mine.Node); err != nil || roll.Missed || !slices.Equal(roll.Others, []int64{theirs.Node}) {
			t.Errorf("%+v, %v; want %d", roll, err, theirs.Node)
		}
	})
}

// The lock of a session that PostgreSQL ended does not count as held.
func TestRollAfterALostSession(t *testing.T) {
	cfg := storetest.Database(t, storetest.Postgres)
	s := storetest.Start(t, cfg)
	a := attend(t, s)
	storetest.AskPostgres(t, cfg.Database, `SELECT bool_and(pg_terminate_backend(pid, 10000)) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	if roll, err := s.System().CallRoll(t.Context(), a.Node); err != nil || !roll.Missed {
		t.Errorf("%+v, %v", roll, err)
	}
	if err := a.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	if roll, err := s.System().CallRoll(t.Context(), a.Node); err != nil || roll.Missed {
		t.Errorf("%+v, %v", roll, err)
	}
}

// Due endpoints are found after any number of endpoints that have been due for
// longer, at a cost that depends only on what is new.
func TestDueInOrder(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "O")
		for range 5 {
			storetest.AddWebhook(t, s.For(&who), someURL)
		}
		at := func(n int64) time.Time { return now.Now().Add(time.Duration(n) * time.Minute) }
		for no, due := range map[int64]int64{1: -3, 2: -3, 3: -1, 4: 0, 5: 2} {
			storetest.Exec(t, s, `UPDATE webhook_cursor SET due_at = $2 WHERE org_no = 1 AND webhook_no = $1`, no, at(due).UnixMilli())
		}
		numbers := func(after webhooks.DuePlace, by time.Time) (got []int64) {
			t.Helper()
			for _, w := range storetest.Must[[]webhooks.WaitingWebhook](t)(s.System().DueWebhooks(t.Context(), after, by)) {
				got = append(got, w.No)
			}
			return got
		}
		first := storetest.Must[[]webhooks.WaitingWebhook](t)(s.System().DueWebhooks(t.Context(), webhooks.DuePlace{}, at(0)))
		for what, c := range map[string]struct{ got, want []int64 }{
			"all":                  {numbers(webhooks.DuePlace{}, at(0)), []int64{1, 2, 3, 4}},
			"behind the first":     {numbers(first[0].Place(), at(0)), []int64{2, 3, 4}},
			"since":                {numbers(webhooks.DueAfter(at(-3)), at(0)), []int64{3, 4}},
			"later, since then":    {numbers(webhooks.DueAfter(at(0)), at(2)), []int64{5}},
			"nothing new":          {numbers(webhooks.DueAfter(at(0)), at(1)), nil},
			"of a moment long ago": {numbers(webhooks.DuePlace{}, at(-5)), nil},
		} {
			if !slices.Equal(c.got, c.want) {
				t.Errorf("%s: %v, want %v", what, c.got, c.want)
			}
		}
		for after, want := range map[int64]int64{-5: -3, -2: -1, 0: 2} {
			if next, err := s.System().NextDue(t.Context(), at(after)); err != nil || next.UnixMilli() != at(want).UnixMilli() {
				t.Errorf("after %d: %v, %v", after, next, err)
			}
		}
		if next, err := s.System().NextDue(t.Context(), at(2)); err != nil || !next.IsZero() {
			t.Errorf("after all: %v, %v", next, err)
		}
	})
}
