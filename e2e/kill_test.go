package e2e

import (
	"math/rand/v2"
	"testing"
	"time"

	"anodyne/client"
	"anodyne/internal/store/storetest"
)

// TestFaultKill kills the service under a mixed load, again and again, and
// looks after each restart whether everything holds that it has promised; the
// ledger knows what that is. docs/faults.md lists it.
func TestFaultKill(t *testing.T) {
	t.Parallel() // at its end it waits for the claims of the killed to end, as other tests do
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			k := newKills(t, engine, faultRounds(t, 3))
			for round := range k.rounds {
				k.round(round)
			}
			k.end()
		})
	}
}

// kills is a service that is killed again and again, and those who use it.
type kills struct {
	*load
	tb     testing.TB
	s      *service
	n      *node
	random *rand.Rand
	rounds int
	// apps are all that there were; the load uses the last three.
	apps []application
	// follows reads the log of events through all kills.
	follows *reader
	// told has had all events from the first on; heard, one made in each round,
	// those from an event on.
	told  *receiver
	heard []hearing
}

// hearing is a receiver, and how many events there were before it.
type hearing struct {
	*receiver
	from int
}

func newKills(t *testing.T, engine string, rounds int) *kills {
	s := newService(t, engine)
	random := rand.New(rand.NewPCG(seed(t), 0))
	k := &kills{tb: t, s: s, n: s.node(0, "--dev"), random: random, rounds: rounds, load: newLoad(newLedger(t), random.Uint64())}
	k.employ()
	k.told = newReceiver(t)
	k.told.registerFor(k.clients()[0], client.EventAll)
	k.receivers++
	k.follows = follow(t, k.n, k.apps[0])
	k.limit(s.register("standard"), k.n)
	return k
}

// employ registers applications. A kill costs one what was reserved ahead for
// it; fresh ones never come near their allowance.
func (k *kills) employ() {
	for range 3 {
		k.apps = append(k.apps, k.s.register("enterprise"))
	}
}

// clients are those of all applications that there were.
func (k *kills) clients() []*client.Client { return k.at(k.n, k.apps) }

// inUse are the clients of those that the load uses.
func (k *kills) inUse() *client.Client { return k.clients()[len(k.apps)-1] }

func (k *kills) round(round int) {
	k.tb.Helper()
	if round > 0 && round%10 == 0 {
		k.employ()
		k.follows.app.Store(&k.apps[len(k.apps)-1])
	}
	k.hear()
	clients, target := k.clients(), k.answers.Load()+100+k.random.Int64N(500)
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		k.run(clients, func() bool { return false })
	}()
	eventually(k.tb, patience, "answers", func() bool { return k.answers.Load() >= target })
	if round == k.rounds/2 {
		k.s.check() // beside the server, under load
	}
	<-time.After(time.Duration(k.random.Int64N(int64(15 * time.Millisecond)))) // the moment of the kill
	k.n.kill()
	<-loaded
	k.n = k.s.node(0, "--dev")
	k.follows.node.Store(k.n)
	k.verify(k.clients())
	k.s.check()
	k.tb.Logf("%s: round %d of %d, %d answers, %d events", k.s.engine, round+1, k.rounds, k.answers.Load(), k.follows.seen())
}

// hear registers a receiver. Endpoints of a process that was killed wait for
// its lease to end, so one from before the kill is seldom being served at the
// next; a new one is at once. The one before the last is removed.
func (k *kills) hear() {
	c := k.inUse()
	to := newReceiver(k.tb)
	to.registerFor(c, client.EventAll)
	k.receivers++
	seen := 0 // what was there before may or may not come
	for _, err := range c.AllEvents(k.tb.Context(), "") {
		if err != nil {
			k.tb.Fatal(err)
		}
		seen++
	}
	k.heard = append(k.heard, hearing{to, seen})
	if len(k.heard) > 2 {
		if err := c.DeleteWebhook(k.tb.Context(), k.heard[0].webhook); err != nil {
			k.tb.Fatal(err)
		}
		k.receivers--
		k.heard = k.heard[1:]
	}
}

// end looks at everything, waits for all that the service owes, and stops it.
func (k *kills) end() {
	k.tb.Helper()
	k.useUp()
	k.verifyAll(k.clients())
	log := k.follows.whole()
	all := map[string]string{}
	for _, event := range log {
		all[event] = ""
	}
	arrived := func() bool {
		missing := k.told.missing(log)
		for _, h := range k.heard {
			missing += h.missing(log[h.from:])
		}
		return missing == 0
	}
	eventually(k.tb, takeover, "every event arrives at every receiver", arrived)
	repeats := k.told.holds(all)
	if code := k.n.terminate(); code != 0 {
		k.tb.Errorf("exit code %d after SIGTERM", code)
	}
	k.s.check()
	k.tb.Logf("%d kills, %d answers, %d patients, %d reports, %d tokens, %d events of which %d were sent again; %v of the limited passed, %d were refused",
		k.rounds, k.answers.Load(), len(k.records), len(k.reports), len(k.tokens), len(log), repeats, k.limited.passed, k.limited.refused)
}

// dial gives the clients of applications on a node.
func dial(n *node, apps []application) (clients []*client.Client) {
	for _, a := range apps {
		clients = append(clients, n.as(a))
	}
	return clients
}
