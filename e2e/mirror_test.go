package e2e

import (
	"context"
	"maps"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/testneed"
)

// TestFaultMirrors: 16 writers add and correct records, on one node with SQLite
// and on three with PostgreSQL, while mirrors follow the feed. A node is killed
// and comes back. Every mirror sees each change once and ends equal to what is
// returned patient by patient.
func TestFaultMirrors(t *testing.T) {
	testneed.Long(t, "killing a node under a write load")
	t.Parallel()
	seed := faulttest.Seed(t)
	eachEngine(t, func(t *testing.T, s *service, nodes []*node) {
		const scribes, more = 16, 250
		app := s.register("enterprise")
		h := &mirrored{t: t, app: app, nodes: make([]atomic.Pointer[node], len(nodes))}
		for i, n := range nodes {
			h.nodes[i].Store(n)
		}
		for range 5 {
			h.patients = append(h.patients, add(t, nodes[0].as(app), "Mirrored"))
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var writing, following sync.WaitGroup
		for i := range scribes {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			writing.Go(func() { h.write(ctx, i, random) })
		}
		end, ended := context.WithCancel(t.Context())
		defer ended()
		mirrors := []*copied{newCopied(7), newCopied(1000), newCopied(1000, "notes")}
		for i, m := range mirrors {
			following.Go(func() {
				for end.Err() == nil && !t.Failed() {
					if err := m.follow(t.Context(), h.node(i).as(app)); err != nil {
						h.failed(err)
					}
				}
			})
		}
		for round := range faulttest.Rounds(t, 2) {
			victim := round % len(nodes)
			until := h.changes.Load() + more
			eventually(t, takeover, "changes before a kill", func() bool { return h.changes.Load() >= until || t.Failed() })
			h.nodes[victim].Load().kill()
			back := s.launch(victim)
			back.ready()
			h.nodes[victim].Store(back)
		}
		until := h.changes.Load() + more
		eventually(t, takeover, "changes after a kill", func() bool { return h.changes.Load() >= until || t.Failed() })
		stop()
		writing.Wait()
		ended()
		following.Wait()
		for i, m := range mirrors {
			want, changes, items := h.records(m.types)
			eventually(t, takeover, "the mirror has everything", func() bool {
				if err := m.follow(t.Context(), h.node(i).as(app)); err != nil {
					t.Fatal(err)
				}
				return m.total >= items
			})
			if !reflect.DeepEqual(m.records, want) {
				t.Errorf("mirror %d has %d records, which are not the %d of the patients", i, len(m.records), len(want))
			}
			if !maps.Equal(m.seen, changes) {
				t.Errorf("mirror %d saw changes of %d records, want each change of %d once", i, len(m.seen), len(changes))
			}
			t.Logf("mirror %d: %d records, %d items", i, len(m.records), m.total)
		}
		s.check()
	})
}

// mirrored is a service whose records are copied.
type mirrored struct {
	t        *testing.T
	app      application
	nodes    []atomic.Pointer[node]
	patients []string
	changes  atomic.Int64 // acknowledged
}

func (h *mirrored) node(i int) *node { return h.nodes[i%len(h.nodes)].Load() }

// failed fails the test if the error is a response. Otherwise the node was
// killed: it will be back.
func (h *mirrored) failed(err error) {
	if isAnswer(err) {
		h.t.Error(err)
	}
	<-time.After(10 * time.Millisecond)
}

// write adds records of two types and corrects some of them.
func (h *mirrored) write(ctx context.Context, i int, random *rand.Rand) {
	for ctx.Err() == nil && !h.t.Failed() {
		c, patient := h.node(i).as(h.app), h.patients[random.IntN(len(h.patients))]
		batch := []client.NewRecord{{DataType: "pain_scores", Value: random.IntN(11)}, {DataType: "notes", Value: map[string]string{"text": "x"}}, {DataType: "pain_scores", Value: 1}}
		added, err := c.AddRecords(h.t.Context(), patient, batch[:1+random.IntN(3)])
		if err != nil {
			h.failed(err)
			continue
		}
		h.changes.Add(1)
		corrections := []client.Correction{{Value: 3, Reason: "misread"}, {EnteredInError: true, Reason: "another patient"}}
		if n := random.IntN(4); n < len(corrections) {
			if _, err := c.CorrectRecord(h.t.Context(), patient, added[0].ID, corrections[n]); err != nil {
				h.failed(err)
				continue
			}
			h.changes.Add(1)
		}
	}
}

// records reads the records of the types patient by patient, how often each
// changed (once when it was added, and once if it was corrected), and how often
// all of them did.
func (h *mirrored) records(types []string) (records map[string]client.Record, changes map[string]int, items int) {
	h.t.Helper()
	records, changes = map[string]client.Record{}, map[string]int{}
	for _, patient := range h.patients {
		for r, err := range h.node(0).as(h.app).AllRecords(h.t.Context(), patient, client.RecordQuery{IncludeInactive: true, DataTypes: types}) {
			if err != nil {
				h.t.Fatal(err)
			}
			records[r.ID] = r
			if changes[r.ID] = 1; r.Status == "superseded" || r.Status == "entered-in-error" {
				changes[r.ID] = 2
			}
			items += changes[r.ID]
		}
	}
	return records, changes, items
}

// copied is a mirror.
type copied struct {
	limit   int
	types   []string
	cursor  string
	records map[string]client.Record
	seen    map[string]int
	total   int
}

func newCopied(limit int, types ...string) *copied {
	return &copied{limit: limit, types: types, records: map[string]client.Record{}, seen: map[string]int{}}
}

// follow reads the feed to its end.
func (m *copied) follow(ctx context.Context, c *client.Client) error {
	for page, err := range c.AllRecordChanges(ctx, client.FeedQuery{After: m.cursor, Limit: m.limit, DataTypes: m.types}) {
		if err != nil {
			return err
		}
		for _, r := range page.Data {
			m.records[r.ID] = r
			m.seen[r.ID]++
			m.total++
		}
		m.cursor = page.NextCursor
	}
	return nil
}
