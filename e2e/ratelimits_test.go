package e2e

import (
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// TestFaultRateLimitsOfManyClients: a thousand clients send more than they may,
// all at the same time and to all nodes. Each gets through with exactly its
// allowance; if a node is killed meanwhile, with at most that.
func TestFaultRateLimitsOfManyClients(t *testing.T) {
	t.Parallel()
	testneed.Long(t, "a thousand clients on three nodes")
	s := newService(t, storetest.Postgres)
	nodes := s.nodes(3)
	const more = 3
	clients := manyClients(t, s, nodes, 1000)
	leave(s, clients[1:]) // the first has its whole allowance
	send(t, clients, more, func(int) {})
	for i, c := range clients {
		if passed, refused := c.passed.Load(), c.refused.Load(); passed != c.allowance || refused != more {
			t.Errorf("client %d: %d passed and %d were refused, want %d and %d", i, passed, refused, c.allowance, more)
		}
	}

	clients = manyClients(t, s, nodes, 1000)
	leave(s, clients)
	var kill sync.Once
	send(t, clients, more, func(sent int) {
		if sent > len(clients) {
			kill.Do(nodes[0].kill)
		}
	})
	for _, c := range clients {
		c.nodes = c.nodes[1:]
	}
	send(t, clients, more, func(int) {})
	lost := int64(0)
	for i, c := range clients {
		passed := c.passed.Load()
		if passed > c.allowance || passed+c.lost.Load() < c.allowance {
			t.Errorf("client %d: %d passed and %d got no response, of an allowance of %d", i, passed, c.lost.Load(), c.allowance)
		}
		lost += c.lost.Load()
	}
	t.Logf("%d requests got no response from the node that was killed", lost)
}

// sender is a client of all nodes, with the rest of its allowance.
type sender struct {
	spent
	id        []byte
	nodes     []*client.Client
	allowance int64
}

// leave leaves clients that have sent nothing yet only the end of their allowance.
func leave(s *service, clients []*sender) {
	s.tb.Helper()
	const left = 5
	ids := make([][]byte, len(clients))
	for i, c := range clients {
		ids[i], c.allowance = c.id, left
	}
	s.postgres(func(conn *pgx.Conn) error {
		_, err := conn.Exec(s.tb.Context(), `UPDATE rate_window SET used = $1 WHERE client_no IN (SELECT client_no FROM client WHERE id = ANY($2))`, standardLimit-left, ids)
		return err
	})
}

// manyClients makes clients that differ from a registered one only by their names, and
// gets a token for each. Registering them one by one would take a minute.
func manyClients(t *testing.T, s *service, nodes []*node, count int) []*sender {
	t.Helper()
	app := s.register("standard")
	original, err := id.Parse[id.ClientKind](app.ID)
	if err != nil {
		t.Fatal(err)
	}
	ids, apps := [][]byte{original.Bytes()}, []application{app}
	for range count - 1 {
		name := id.New[id.ClientKind](time.Now())
		ids = append(ids, name.Bytes())
		apps = append(apps, application{ID: name.String(), Secret: app.Secret})
	}
	s.postgres(func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `WITH copies AS (
			INSERT INTO client (org_no, id, name, tier, scopes, created_at)
			SELECT org_no, copy, name, tier, scopes, created_at FROM client, unnest($2::bytea[]) AS copy WHERE id = $1 RETURNING client_no)
			INSERT INTO client_secret (client_no, hash, created_at)
			SELECT copies.client_no, s.hash, s.created_at FROM copies, client_secret s JOIN client c USING (client_no) WHERE c.id = $1`, ids[0], ids[1:])
		return err
	})
	clients := make([]*sender, count)
	inParallel(count, func(i int) {
		token, err := nodes[i%len(nodes)].as(apps[i]).Token(t.Context())
		if err != nil {
			t.Errorf("client %d: %v", i, err)
			return
		}
		clients[i] = &sender{id: ids[i], nodes: each(nodes, client.WithToken(token.AccessToken)), allowance: standardLimit - 1}
	})
	if t.Failed() {
		t.FailNow()
	}
	return clients
}

// send sends requests of all clients in turn, each to all of its nodes: as many
// as its allowance, and a few more. Before each it calls a function with the
// number of requests sent.
func send(t *testing.T, clients []*sender, more int64, before func(sent int)) {
	t.Helper()
	var todo []func()
	for round := int64(0); ; round++ {
		in := len(todo)
		for i, c := range clients {
			if round < c.allowance+more {
				todo = append(todo, func() { c.sendOne(t, c.nodes[(i+int(round))%len(c.nodes)]) })
			}
		}
		if len(todo) == in {
			break
		}
	}
	inParallel(len(todo), func(i int) {
		before(i)
		todo[i]()
	})
}

// inParallel calls a function with the numbers below n, many at a time and in
// their order.
func inParallel(n int, do func(int)) {
	const workers = 300
	next := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}
