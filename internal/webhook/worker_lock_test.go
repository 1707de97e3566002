package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// newImpatient is newService on PostgreSQL, with a short timeout for waiting for
// a lock.
func newImpatient(t *testing.T) *service {
	t.Helper()
	cfg := storetest.Database(t, storetest.Postgres)
	cfg.Database += "&lock_timeout=1000"
	return newService(t, cfg)
}

// lock runs a statement in a transaction that stays open until release is called.
func (s *service) lock(sql string, args ...any) (release func()) {
	s.Helper()
	conn, err := pgx.Connect(context.Background(), s.cfg.Database)
	if err != nil {
		s.Fatal(err)
	}
	release = func() { _ = conn.Close(context.Background()) }
	s.Cleanup(release)
	tx, err := conn.Begin(context.Background())
	if err == nil {
		_, err = tx.Exec(context.Background(), sql, args...)
	}
	if err != nil {
		s.Fatal(err)
	}
	return release
}

// An organisation whose endpoints are locked, and have a retry that is due, does
// not keep the worker from finding the work of others.
func TestLockedOrganisationHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := newImpatient(t)
	refuses, in := newInbox(t, func(string, int) int { return http.StatusBadGateway }), newInbox(t, nil)
	locked := storetest.AddWebhook(t, s.org, refuses.url, event.PatientCreated)
	first := s.deliver()
	s.event()
	s.eventually("a retry waits", func() bool { return s.statuses(locked)[webhooks.Pending] == 1 })
	first.stop()
	s.clock.pass(24 * time.Hour)
	other := storetest.Client(t, s.store, "Another Hospital")
	storetest.AddWebhook(t, s.store.For(&other), in.url, event.PatientCreated)
	storetest.AddPatient(t, s.store.For(&other), "A")
	s.eventually("all events have their positions", func() bool { return storetest.Number(t, s.store, `SELECT count(*) FROM journal_pending`) == 0 })
	release := s.lock(`SELECT 1 FROM webhook_cursor WHERE org_no = $1 FOR UPDATE`, int64(s.who.Org))
	s.deliver()
	s.eventually("the other organisation has its event", in.has(1))
	if all, _ := refuses.counts(); all != 1 {
		t.Errorf("%d messages were sent for a locked endpoint", all-1)
	}
	release()
	s.eventually("the locked one goes on", func() bool { all, _ := refuses.counts(); return all > 1 })
}

// Results of an organisation that cannot be stored do not keep those of others
// from being stored. They are stored later.
func TestLockedResultsHoldUpNoOther(t *testing.T) {
	t.Parallel()
	s := newImpatient(t)
	who := storetest.Client(t, s.store, "Another Hospital")
	orgs := []store.Org{s.org, s.store.For(&who)}
	var inboxes []*inbox
	var hooks []webhooks.Webhook
	for _, o := range orgs {
		inboxes = append(inboxes, newInbox(t, nil))
		hooks = append(hooks, storetest.AddWebhook(t, o, inboxes[len(hooks)].url, event.PatientCreated))
	}
	s.deliver()
	send := func(i, messages int) {
		t.Helper()
		storetest.AddPatient(t, orgs[i], "A")
		s.eventually("the message has arrived", inboxes[i].has(messages))
	}
	stored := func(i, results int) {
		t.Helper()
		s.eventually("the result is stored", func() bool {
			got := 0
			for _, d := range storetest.Deliveries(t, orgs[i], hooks[i].ID) {
				got += map[webhooks.DeliveryStatus]int{webhooks.Delivered: 1}[d.Status]
			}
			return got == results
		})
	}
	for i := range orgs {
		send(i, 1)
		stored(i, 1)
	}
	release := s.lock(`SELECT 1 FROM webhook_cursor WHERE org_no = $1 FOR UPDATE`, int64(s.who.Org))
	send(0, 2)
	send(1, 2)
	stored(1, 2)
	release()
	stored(0, 2)
}

// News of a journal is not lost if its endpoints cannot be read at that moment:
// while a node is elected, no node polls for a minute or more.
func TestNewsIsNotLost(t *testing.T) {
	t.Parallel()
	s := newImpatient(t)
	storetest.AddWebhook(t, s.org, "http://receiver/", event.PatientCreated)
	w := NewWorker(Delivery{Store: s.store, Now: s.clock.now, Log: slog.New(slog.DiscardHandler)})
	l := &looker{Worker: w, rest: w.sys.NewPoll(followerPoll), heads: map[access.OrgNo]journal.Pos{}, polled: true}
	news, stop := w.sys.Follow()
	defer stop()
	s.event()
	<-news.Woken()
	release := s.lock(`LOCK TABLE webhook_cursor IN ACCESS EXCLUSIVE MODE`)
	if err := l.round(t.Context(), news); err == nil {
		t.Fatal("the endpoints were read")
	}
	release()
	if !l.isMissed() {
		t.Error("the worker does not look again")
	}
}
