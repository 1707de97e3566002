package e2e

import (
	"math/rand/v2"
	"testing"
	"time"

	"anodyne/client"
	"anodyne/internal/store/storetest"
)

// TestFaultKill kills the service under 64 writers, again and again, and looks
// after each restart whether everything acknowledged is there, once, with its
// event and its audit line.
func TestFaultKill(t *testing.T) {
	rounds := map[string]int{storetest.SQLite: 20, storetest.Postgres: 5}
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) { killRounds(t, newService(t, engine), faultRounds(t, rounds[engine])) })
	}
}

func killRounds(t *testing.T, s *service, rounds int) {
	random := rand.New(rand.NewPCG(seed(t), 0))
	all := newLoad(newLedger(t), random.Uint64())
	n := s.node(0)
	var apps []application
	for round := range rounds {
		// A kill costs a client what was reserved ahead for it; fresh ones
		// never come near their allowance.
		if round%10 == 0 {
			apps = []application{s.register("enterprise"), s.register("enterprise"), s.register("enterprise")}
		}
		target := all.answers.Load() + 50 + random.Int64N(400)
		loaded := make(chan struct{})
		go func() {
			defer close(loaded)
			all.run(dial(n, apps), func() bool { return false })
		}()
		eventually(t, patience, "answers", func() bool { return all.answers.Load() >= target })
		if round == rounds/2 {
			s.check() // beside the server, under load
		}
		<-time.After(time.Duration(random.Int64N(int64(15 * time.Millisecond)))) // the moment of the kill
		n.kill()
		<-loaded
		n = s.node(0)
		all.verify(dial(n, apps))
	}
	all.verifyAll(dial(n, apps))
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
	s.check()
	t.Logf("%d rounds, %d answers, %d patients", rounds, all.answers.Load(), len(all.records))
}

// dial gives the clients of applications on a node.
func dial(n *node, apps []application) (clients []*client.Client) {
	for _, a := range apps {
		clients = append(clients, n.as(a))
	}
	return clients
}
