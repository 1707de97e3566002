package e2e

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
)

// trial is a service that is ended under load and started again, again and again,
// and those who use it.
type trial struct {
	*load
	tb     testing.TB
	s      *service
	n      *node
	random *rand.Rand
	rounds int
	// gently is by SIGTERM, and otherwise by kill -9.
	gently bool
	// key are the flags of commands on a file that is encrypted.
	key []string
	// head is that of the audit log which a process that has ended logged last.
	head string
	// apps are all that there were.
	apps []application
	// follows reads the log of events through all kills.
	follows *reader
	// told has received all events from the first; heard, which is new in each
	// round, those since its creation.
	told  *receiver
	heard []hearing
}

// hearing is a receiver, and how many events there were before it.
type hearing struct {
	*receiver
	from int
}

func newTrial(t *testing.T, engine string, rounds int, gently bool) *trial {
	s := newService(t, engine)
	random := rand.New(rand.NewPCG(faulttest.Seed(t), 0))
	tr := &trial{tb: t, s: s, random: random, rounds: rounds, gently: gently, load: newLoad(newLedger(t), random.Uint64())}
	if engine == storetest.SQLite && random.IntN(2) == 0 {
		tr.encrypt()
	}
	tr.n = tr.start()
	tr.employ()
	tr.told = newReceiver(t)
	tr.told.registerFor(tr.clients()[0], client.EventAll)
	tr.receivers++
	tr.follows = follow(t, tr.n, tr.apps[0])
	tr.limit(tr.register("standard"), tr.n)
	return tr
}

// encrypt has the file encrypted from its first page on.
func (tr *trial) encrypt() {
	tr.tb.Helper()
	path := filepath.Join(tr.s.dir, "database.key")
	if err := os.WriteFile(path, []byte(strings.Repeat("0123456789abcdef", 4)), 0o600); err != nil {
		tr.tb.Fatal(err)
	}
	tr.key = []string{"--database-key-file", path}
	tr.tb.Log("the file is encrypted")
}

func (tr *trial) flags() []string { return append([]string{"--dev"}, tr.key...) }

func (tr *trial) start() *node {
	tr.tb.Helper()
	return tr.s.node(0, tr.flags()...)
}

func (tr *trial) register(tier string) application {
	tr.tb.Helper()
	return tr.s.register(tier, tr.key...)
}

func (tr *trial) run() {
	tr.tb.Helper()
	for round := range tr.rounds {
		tr.round(round)
	}
	tr.finish()
}

// employ registers applications. A kill costs one what was reserved ahead for
// it; fresh ones never come near their allowance.
func (tr *trial) employ() {
	tr.first = len(tr.apps)
	for range 3 {
		tr.apps = append(tr.apps, tr.register("enterprise"))
	}
}

// clients are those of all applications that there were.
func (tr *trial) clients() []*client.Client { return tr.at(tr.n, tr.apps) }

func (tr *trial) round(round int) {
	tr.tb.Helper()
	if round > 0 && round%10 == 0 {
		tr.employ()
		tr.follows.app.Store(&tr.apps[len(tr.apps)-1])
	}
	tr.hear()
	clients, target := tr.clients(), tr.answers.Load()+100+tr.random.Int64N(500)
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		tr.load.run(clients, func() bool { return false })
	}()
	eventually(tr.tb, patience, "answers", func() bool { return tr.answers.Load() >= target })
	if round == tr.rounds/2 {
		tr.check() // beside the server, under load
	}
	<-time.After(time.Duration(tr.random.Int64N(int64(15 * time.Millisecond)))) // the moment of the end
	if tr.gently {
		tr.terminate()
	} else {
		if tr.random.IntN(4) == 0 { // in the middle of a stop
			tr.n.signal()
			<-time.After(time.Duration(tr.random.Int64N(int64(100 * time.Millisecond))))
		}
		tr.n.kill()
	}
	<-loaded
	tr.head = cmp.Or(tr.n.lastHead(), tr.head)
	if !tr.gently && tr.random.IntN(3) == 0 {
		// Whoever starts after a crash may crash as well, at any step of it.
		again := tr.s.launch(0, tr.flags()...)
		<-time.After(time.Duration(tr.random.Int64N(int64(200 * time.Millisecond))))
		again.kill()
	}
	tr.n = tr.start()
	tr.follows.node.Store(tr.n)
	if tr.gently {
		tr.verifyStopped(tr.clients())
	}
	tr.verify(tr.clients())
	tr.check()
	tr.tb.Logf("%s: round %d of %d, %d answers, %d events", tr.s.engine, round+1, tr.rounds, tr.answers.Load(), tr.follows.seen())
}

// check also looks for the head that was logged last.
func (tr *trial) check() {
	tr.tb.Helper()
	args := slices.Clone(tr.key)
	if tr.head != "" {
		args = append(args, "--expect-head", tr.head)
	}
	tr.s.check(args...)
}

func (tr *trial) terminate() {
	tr.tb.Helper()
	if code := tr.n.terminate(); code != 0 {
		tr.tb.Errorf("exit code %d after SIGTERM", code)
	}
}

// hear registers a receiver. Endpoints of a process that was killed wait for
// its lease to end, so one of them is seldom being served at the next kill; a
// new one is at once. The one before the last is removed.
func (tr *trial) hear() {
	c := newest(tr.clients())
	to := newReceiver(tr.tb)
	to.registerFor(c, client.EventAll)
	tr.receivers++
	seen := 0 // what was there before may or may not come
	for _, err := range c.AllEvents(tr.tb.Context(), "") {
		if err != nil {
			tr.tb.Fatal(err)
		}
		seen++
	}
	tr.heard = append(tr.heard, hearing{to, seen})
	if len(tr.heard) > 2 {
		if err := c.DeleteWebhook(tr.tb.Context(), tr.heard[0].webhook); err != nil {
			tr.tb.Fatal(err)
		}
		tr.receivers--
		tr.heard = tr.heard[1:]
	}
}

// finish looks at everything, waits for all that the service owes, and stops it.
func (tr *trial) finish() {
	tr.tb.Helper()
	tr.useUp(tr.gently)
	tr.verifyAll(tr.clients())
	log := tr.follows.whole()
	all := map[string]string{}
	for _, event := range log {
		all[event] = ""
	}
	arrived := func() bool {
		missing := tr.told.missing(log)
		for _, h := range tr.heard {
			missing += h.missing(log[h.from:])
		}
		return missing == 0
	}
	eventually(tr.tb, takeover, "every event arrives at every receiver", arrived)
	repeats := tr.told.holds(all)
	tr.terminate()
	tr.head = cmp.Or(tr.n.lastHead(), tr.head)
	tr.check()
	tr.tb.Logf("ended %d times, %d answers, %d requests without one, of which %d without a key had been done; %d patients, %d reports, %d tokens, %d events of which %d were sent again; %v of the limited passed, %d were refused",
		tr.rounds, tr.answers.Load(), tr.lost.Load(), tr.found.Load(), len(tr.records), len(tr.reports), len(tr.tokens), len(log), repeats, tr.limited.passed, tr.limited.refused)
}

// dial returns the clients of applications on a node.
func dial(n *node, apps []application) (clients []*client.Client) {
	for _, a := range apps {
		clients = append(clients, n.as(a))
	}
	return clients
}
