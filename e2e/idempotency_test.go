package e2e

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
)

var keyed = client.NewPatient{Name: "Only Once", DateOfBirth: "1955-05-05", Contact: client.Contact{Email: "once@example.org"}}

// post sends one request with one key as often as requested, in parallel over
// all clients, and returns the identifiers in the responses.
func post(t *testing.T, clients []*client.Client, times int, mayBeLost bool) map[string]int {
	var mu sync.Mutex
	ids := map[string]int{}
	var group sync.WaitGroup
	for i := range times {
		group.Go(func() {
			p, err := clients[i%len(clients)].CreatePatient(t.Context(), keyed, client.WithIdempotencyKey("the one key"))
			if err != nil {
				if isAnswer(err) || !mayBeLost {
					t.Error(err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			ids[p.ID]++
		})
	}
	group.Wait()
	return ids
}

// onlyOne finds the only patient that must exist.
func onlyOne(t *testing.T, c *client.Client, ids map[string]int) {
	t.Helper()
	page, err := c.Patients(t.Context(), client.PatientQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if page.Pagination.Total != 1 || len(page.Data) != 1 {
		t.Fatalf("%d patients were made, want 1", page.Pagination.Total)
	}
	delete(ids, page.Data[0].ID)
	if len(ids) != 0 {
		t.Errorf("answers named other patients: %v", ids)
	}
}

// TestOneKeyOneRecord sends 64 requests with one key over all nodes.
func TestOneKeyOneRecord(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *service, nodes []*node) {
		app := s.register("standard")
		clients := make([]*client.Client, len(nodes))
		for i, n := range nodes {
			clients[i] = n.as(app)
		}
		ids := post(t, clients, writers, false)
		if len(ids) != 1 {
			t.Errorf("64 requests with one key named %d patients", len(ids))
		}
		onlyOne(t, clients[0], ids)
	})
}

// TestFaultOneKeyOneRecordOverKill kills a node in the middle; the key works at
// once on the others, and on that node when it is back.
func TestFaultOneKeyOneRecordOverKill(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *service, nodes []*node) {
		random := rand.New(rand.NewPCG(faulttest.Seed(t), 0))
		app := s.register("standard")
		clients := make([]*client.Client, len(nodes))
		for i, n := range nodes {
			clients[i] = n.as(app)
			if _, err := clients[i].Token(t.Context()); err != nil { // so that the posts come at once
				t.Fatal(err)
			}
		}
		posted := make(chan map[string]int)
		go func() { posted <- post(t, clients, writers, true) }()
		<-time.After(time.Duration(random.Int64N(int64(20 * time.Millisecond)))) // the moment of the kill
		nodes[0].kill()
		ids := <-posted

		for i, n := range nodes[1:] {
			add := post(t, []*client.Client{n.as(app)}, 1, false)
			if len(add) != 1 {
				t.Errorf("the key does not work on node %d right after another was killed", i+1)
			}
			merge(ids, add)
		}
		nodes[0] = s.node(0)
		c := nodes[0].as(app)
		merge(ids, post(t, []*client.Client{c}, 1, false))
		if len(ids) != 1 {
			t.Errorf("one key named %d patients", len(ids))
		}
		onlyOne(t, c, ids)
	})
}

func merge(into, from map[string]int) {
	for id, n := range from {
		into[id] += n
	}
}
