package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// candidate is a node that takes part in elections.
type candidate struct {
	*store.Store
	storetest.Barrier
	stop func()
}

func (c *candidate) duty() engine.Duty { return c.Database().Duty() }

// candidates starts nodes on one PostgreSQL database.
func candidates(t *testing.T, count int) (list []*candidate) {
	t.Helper()
	first := storetest.Database(t, "postgres")
	for range count {
		c := newCandidate(t, first)
		c.run(t)
		list = append(list, c)
	}
	return list
}

func newCandidate(t *testing.T, first store.Config) *candidate {
	t.Helper()
	c := &candidate{}
	cfg := storetest.Node(t, first)
	c.Watch(&cfg)
	c.Store = storetest.Start(t, cfg)
	return c
}

// run takes part in elections until stop is called.
func (c *candidate) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, work := range []func(context.Context) error{c.System().Listen, c.System().Elect} {
		running.Go(func() {
			if err := work(ctx); err != nil {
				t.Errorf("a worker ended: %v", err)
			}
		})
	}
	c.stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(c.stop)
}

// elected waits until one of the nodes leads and the others follow.
func elected(t *testing.T, list ...*candidate) (leader *candidate, others []*candidate) {
	t.Helper()
	testwait.Until(t, "a node is elected", func() bool {
		leader, others = nil, nil
		for _, c := range list {
			switch c.duty() {
			case engine.Leading:
				leader = c
			case engine.Following:
				others = append(others, c)
			}
		}
		return leader != nil && len(others) == len(list)-1
	})
	return leader, others
}

func term(t *testing.T, s *store.Store) int64 {
	return storetest.Number(t, s, `SELECT term FROM leader`)
}

func TestElection(t *testing.T) {
	t.Parallel()
	all := candidates(t, 3)
	leader, others := elected(t, all...)
	was := term(t, leader.Store)
	leader.stop()
	next, others := elected(t, others...)
	if now := term(t, next.Store); now != was+1 {
		t.Errorf("the term is %d after %d", now, was)
	}
	if leader.duty() == engine.Leading {
		t.Error("a node that has resigned leads")
	}
	// Its session ends, as if its process had been killed.
	storetest.Number(t, next.Store, `SELECT count(pg_terminate_backend(pid)) FROM pg_locks
		WHERE locktype = 'advisory' AND objsubid = 2 AND CAST(objid AS BIGINT) = (SELECT node FROM leader)
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	testwait.Until(t, "the term ends", func() bool { return term(t, next.Store) > was+1 })
	elected(t, next, others[0])
}

// A node that is suspended beyond its lease does not lead when it wakes up.
func TestSuspendedLeader(t *testing.T) {
	t.Parallel()
	leader, others := elected(t, candidates(t, 2)...)
	was := term(t, leader.Store)
	suspended, wake := leader.Hold("INTO leader", 1)
	<-suspended
	storetest.Exec(t, others[0].Store, `UPDATE leader SET until = 0`) // the lease ends
	elected := func() bool { return others[0].duty() == engine.Leading }
	testwait.Until(t, "another node is elected", elected)
	wake()
	testwait.Until(t, "the former one follows", func() bool { return leader.duty() == engine.Following })
	testwait.Until(t, "the other node still leads", elected)
	if now := term(t, leader.Store); now <= was {
		t.Errorf("the term is %d after %d", now, was)
	}
}

// A node that hears nothing from others does all work itself.
func TestNodeWithoutNotifications(t *testing.T) {
	t.Parallel()
	leader, others := elected(t, candidates(t, 2)...)
	poll := others[0].System().NewPoll(0)
	poll.Due()
	if poll.Due() {
		t.Error("a node polls although another is elected")
	}
	storetest.Number(t, leader.Store, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE query LIKE 'LISTEN %' AND datname = current_database()`)
	testwait.Until(t, "it polls after its connection was lost", poll.Due)
	elected(t, leader, others[0])
}

// An organisation whose journal cannot be written holds up no other.
func TestOrganisationThatCannotBeSequenced(t *testing.T) {
	t.Parallel()
	cfg := storetest.Database(t, storetest.Postgres)
	s := storetest.Start(t, cfg)
	cfg.Patience = testwait.Bound
	holder := storetest.Start(t, storetest.Node(t, cfg)) // whose transaction may take as long as the test
	bad, good := storetest.Client(t, s, "Bad"), storetest.Client(t, s, "Good")
	storetest.Settle(t, s)
	storetest.Run(t, s)
	held, release := make(chan struct{}), make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() {
		if err := holder.Database().Write(context.Background(), func(tx engine.Tx) error {
			_, err := tx.Exec(`UPDATE journal_head SET pos = pos WHERE org_no = $1`, int64(bad.Org))
			close(held)
			<-release
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	<-held
	storetest.AddPatient(t, s.For(&bad), "Anna")
	storetest.AddPatient(t, s.For(&good), "Berta")
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Bound)
	defer cancel()
	if events, _, err := s.For(&good).WaitEvents(ctx, 0, 10); err != nil || len(events) != 1 {
		t.Errorf("%d events of the other organisation, %v", len(events), err)
	}
	if events, _, err := s.For(&bad).Events(ctx, 0, 10); err != nil || len(events) != 0 {
		t.Errorf("%d events of an organisation whose journal is locked, %v", len(events), err)
	}
	close(release)
	holding.Wait()
	if events, _, err := s.For(&bad).WaitEvents(ctx, 0, 10); err != nil || len(events) != 1 {
		t.Errorf("%d events after the lock was released, %v", len(events), err)
	}
}

// What a node announces reaches the others, and goes when the node does.
func TestMembers(t *testing.T) {
	first := storetest.Database(t, "postgres")
	var all []*candidate
	for i := range 4 {
		c := newCandidate(t, first)
		if i < 3 { // the last announces nothing
			c.System().Announce(fmt.Sprint("node ", i))
		}
		c.run(t)
		all = append(all, c)
	}
	know := func(what string, want []string, list ...*candidate) {
		t.Helper()
		for _, c := range list {
			testwait.Until(t, what, func() bool {
				var texts []string
				_, members := c.System().Members()
				for _, m := range members {
					texts = append(texts, m.Text)
				}
				slices.Sort(texts)
				return slices.Equal(texts, want)
			})
		}
	}
	know("the nodes are known", []string{"node 0", "node 1", "node 2"}, all...)
	all[0].stop()
	if self, _ := all[0].System().Members(); self != 0 {
		t.Error("a node that ended has a number")
	}
	all[3].stop()
	know("the node is gone", []string{"node 1", "node 2"}, all[1:3]...)

	// The connection that holds the lock of a node is lost: the node gets another
	// number, and its row is replaced.
	lose := func(c *candidate) {
		t.Helper()
		before, _ := c.System().Members()
		if lost := storetest.Number(t, all[1].Store, fmt.Sprintf(`SELECT count(pg_terminate_backend(pid)) FROM pg_locks
			WHERE locktype = 'advisory' AND objsubid = 2 AND CAST(objid AS BIGINT) = %d`, before)); lost != 1 {
			t.Fatalf("%d connections hold the lock of a node", lost)
		}
		testwait.Until(t, "the node is back", func() bool {
			now, members := c.System().Members()
			return now != 0 && now != before && slices.ContainsFunc(members, func(m engine.Member) bool { return m.Node == now }) &&
				storetest.Number(t, all[1].Store, `SELECT count(*) FROM node`) == 2
		})
		know("both are known", []string{"node 1", "node 2"}, all[1:3]...)
	}
	_, others := elected(t, all[1:3]...)
	lose(others[0])
	leader, _ := elected(t, all[1:3]...)
	lose(leader)
}
