package e2e

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/testneed"
)

// TestPagesWhileOthersWrite reads 119 patients in pages of 50 while four
// writers add more on all nodes: no patient is missed or repeated, and the
// order does not change.
func TestPagesWhileOthersWrite(t *testing.T) {
	testneed.Long(t, "a write load")
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *service, nodes []*node) {
		app := s.register("enterprise")
		clients := make([]*client.Client, len(nodes))
		for i, n := range nodes {
			clients[i] = n.as(app)
		}
		var known []string
		for i := range 119 {
			known = append(known, add(t, clients[i%len(clients)], fmt.Sprintf("First %d", i)))
		}

		var stop atomic.Bool
		var added sync.Map
		var count atomic.Int64
		var group sync.WaitGroup
		for w := range 4 {
			group.Go(func() {
				for i := 0; !stop.Load(); i++ {
					added.Store(add(t, clients[(w+i)%len(clients)], fmt.Sprintf("Writer %d patient %d", w, i)), true)
					count.Add(1)
				}
			})
		}
		for walked := 0; walked < 12 || count.Load() < 200; walked++ {
			known = walkOn(t, clients[walked%len(clients)], known)
			if t.Failed() {
				break
			}
		}
		stop.Store(true)
		group.Wait()

		last := walkOn(t, clients[0], known)
		there := map[string]bool{}
		for _, id := range last {
			there[id] = true
		}
		added.Range(func(id, _ any) bool {
			if !there[id.(string)] {
				t.Errorf("patient %s was acknowledged and is on no page", id)
			}
			return true
		})
		if want := 119 + int(count.Load()); len(last) != want {
			t.Errorf("%d patients on the pages, want %d", len(last), want)
		}
	})
}

func add(t *testing.T, c *client.Client, name string) string {
	p, err := c.CreatePatient(t.Context(), client.NewPatient{Name: name, DateOfBirth: "1970-01-01"})
	if err != nil {
		t.Error(err)
		return ""
	}
	return p.ID
}

// walkOn walks all pages. What an earlier walk found must come first and in
// the same order.
func walkOn(t *testing.T, c *client.Client, before []string) (found []string) {
	t.Helper()
	seen := map[string]bool{}
	for p, err := range c.AllPatients(t.Context(), client.PatientQuery{Limit: 50}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[p.ID] {
			t.Errorf("patient %s comes twice", p.ID)
		}
		seen[p.ID] = true
		found = append(found, p.ID)
	}
	if len(found) < len(before) {
		t.Fatalf("a walk finds %d patients, an earlier one found %d", len(found), len(before))
	}
	for i, id := range before {
		if found[i] != id {
			t.Fatalf("number %d is %s, and was %s before", i+1, found[i], id)
		}
	}
	return found
}
