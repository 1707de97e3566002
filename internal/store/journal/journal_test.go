package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func TestEveryWriteHasOneEntry(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		o := all[0].For(&who)
		var mu sync.Mutex
		var want []string
		storetest.Together(t, 12, func(i int) error {
			o := all[i%3].For(&who)
			p := storetest.Patient(storetest.PatientName(i))
			if _, err := o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
				return err
			}
			_, err := o.UpdatePatient(t.Context(), p.ID, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
				old.Version++
				c := storetest.Updated(old)
				return old, &c, nil
			})
			mu.Lock()
			defer mu.Unlock()
			want = append(want, "patient.created "+p.ID.String(), "patient.updated "+p.ID.String())
			return err
		})
		storetest.Settle(t, all[2])

		events, _, err := o.Events(t.Context(), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			var data struct {
				PatientID string `json:"patient_id"`
			}
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			got = append(got, string(e.Type)+" "+data.PatientID)
		}
		created := func(i int) int { return slices.Index(got, want[i]) }
		for i := 0; i < len(want); i += 2 {
			if created(i) > created(i+1) {
				t.Errorf("%s comes after %s", want[i], want[i+1])
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("events\n%q, want\n%q", got, want)
		}

		for action, n := range map[audit.Action]int{audit.OrgCreate: 1, audit.ClientCreate: 1, audit.PatientCreate: 12, audit.PatientUpdate: 12} {
			if lines := storetest.AuditLines(t, o, journal.AuditFilter{Action: action}); len(lines) != n {
				t.Errorf("%d lines of %s, want %d", len(lines), action, n)
			}
		}
		if lines := storetest.AuditLines(t, o, journal.AuditFilter{}); len(lines) != 26 {
			t.Errorf("%d lines in all, want 26", len(lines))
		}
	})
}

func TestEventIsKeptAsItWas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p := storetest.Patient("A")
		c := storetest.Created(p)
		if _, err := o.CreatePatient(t.Context(), &p, c, nil, idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		storetest.Settle(t, all[0])
		events, next, err := o.Events(t.Context(), 0, 10)
		if err != nil || len(events) != 1 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		if got, want := events[0].Append(nil), c.Event.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
		if again, later, err := o.Events(t.Context(), next, 10); len(again) != 0 || later != next || err != nil {
			t.Errorf("after the last: %v at %d, %v", again, later, err)
		}
		if far, later, err := o.Events(t.Context(), 1000, 10); len(far) != 0 || later != 1000 || err != nil {
			t.Errorf("past the end: %v at %d, %v", far, later, err)
		}
	})
}

// Followers on every node see each event once, in the same order, while writers
// on all nodes commit.
func TestEventsMissAndRepeatNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		storetest.Run(t, all...)
		const writers, each = 8, 15
		ctx, cancel := context.WithTimeout(t.Context(), testwait.Bound)
		defer cancel()

		followed := make([][]id.Event, 4)
		var followers sync.WaitGroup
		for f := range followed {
			followers.Go(func() {
				o := all[f%3].For(&who)
				var at journal.Pos
				for len(followed[f]) < writers*each && ctx.Err() == nil {
					events, next, err := o.WaitEvents(ctx, at, 1+f*5)
					if err != nil || len(events) > 0 && next <= at {
						t.Errorf("follower %d: from %d to %d: %v", f, at, next, err)
						return
					}
					for _, e := range events {
						followed[f] = append(followed[f], e.ID)
					}
					at = next
				}
			})
		}
		var mu sync.Mutex
		want := map[id.Event]bool{}
		storetest.Together(t, writers, func(w int) error {
			for range each {
				p := storetest.Patient("A")
				c := storetest.Created(p)
				if _, err := all[w%3].For(&who).CreatePatient(ctx, &p, c, nil, idempotency.Outcome{}); err != nil {
					return err
				}
				mu.Lock()
				want[c.Event.ID] = true
				mu.Unlock()
			}
			return nil
		})
		followers.Wait()
		for f := range followed {
			if !slices.Equal(followed[f], followed[0]) {
				t.Errorf("follower %d has another order than follower 0", f)
			}
		}
		for _, e := range followed[0] {
			if !want[e] {
				t.Error("an event came twice, or was never written")
			}
			delete(want, e)
		}
		if len(want) > 0 {
			t.Errorf("%d events were missed", len(want))
		}
	})
}

// waitContext reports when a caller starts to wait for its end.
type waitContext struct {
	context.Context
	once    sync.Once
	waiting chan struct{}
}

func (c *waitContext) Done() <-chan struct{} {
	c.once.Do(func() { close(c.waiting) })
	return c.Context.Done()
}

// Readers that do not poll are woken by every write.
func TestWaitEventsIsWoken(t *testing.T) {
	journal.LookSeldom(t)
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		storetest.Run(t, all...)
		if all[0].Shared() { // either may assign positions to what the other has written, and then notifies it
			testwait.Until(t, "both nodes listen", func() bool {
				return storetest.Number(t, all[0], `SELECT count(*) FROM pg_stat_activity
					WHERE datname = current_database() AND state = 'idle' AND query LIKE 'LISTEN %'`) == int64(len(all))
			})
		}
		writer := all[0].For(&who)
		for n, reader := range all {
			if n > 0 && reader.Engine() == storetest.SQLite {
				continue // another process is not notified; see the next test
			}
			o := reader.For(&who)
			_, at, err := o.Events(t.Context(), 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for round := 0; round < 5; {
				ctx := &waitContext{Context: t.Context(), waiting: make(chan struct{})}
				woken := make(chan struct{}, 1)
				go func() {
					var events []event.Event
					if events, at, err = o.WaitEvents(ctx, at, 10); len(events) == 0 {
						t.Errorf("no events, %v", err)
					}
					woken <- struct{}{}
				}()
				select {
				case <-ctx.waiting:
				case <-woken: // by a write of the previous round
					continue
				}
				storetest.AddPatient(t, writer, "A")
				select {
				case <-woken:
				case <-time.After(testwait.Bound):
					t.Fatalf("node %d is not woken", n)
				}
				round++
			}
		}
	})
}

func TestWaitEventsFindsWhatNobodyTold(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		waiting := make(chan struct{})
		go func() {
			defer close(waiting)
			if events, _, err := all[1].For(&who).WaitEvents(t.Context(), 0, 10); len(events) != 1 || err != nil {
				t.Errorf("%d events, %v", len(events), err)
			}
		}()
		storetest.AddPatient(t, all[0].For(&who), "A")
		storetest.Settle(t, all[0]) // without notifying the other node
		<-waiting
	})
}

func TestWaitEventsEndsWithItsContext(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		storetest.Settle(t, all[0])
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		events, at, err := all[0].For(&who).WaitEvents(ctx, 0, 10)
		if len(events) != 0 || err != nil || at != 2 {
			t.Errorf("%v at %d, %v; want none, past the entries of the client", events, at, err)
		}
	})
}

// Everything acknowledged is visible at once, on every node, whether or not it
// has a position yet.
func TestChangedSeesEveryAcknowledgedWrite(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		storetest.Together(t, 6, func(i int) error {
			reader := all[(i+1)%3].For(&who)
			var at journal.Pos
			for n := range 12 {
				p := storetest.Patient(storetest.PatientName(i))
				if _, err := all[i%3].For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
					return err
				}
				changed, head, err := storetest.ChangedIDs(t, reader, at)
				if err != nil {
					return err
				}
				if !slices.Contains(changed, p.ID) {
					t.Errorf("writer %d: write %d is not seen from %d", i, n, at)
				}
				if head < at {
					t.Errorf("the head went from %d to %d", at, head)
				}
				at = head
				if i == 0 && n%4 == 3 {
					storetest.Settle(t, all[0])
				}
			}
			return nil
		})
		storetest.Settle(t, all[0])
		o := all[0].For(&who)
		_, head, err := storetest.ChangedIDs(t, o, 0)
		if err != nil {
			t.Fatal(err)
		}
		if changed, again, err := storetest.ChangedIDs(t, o, head); len(changed) != 0 || again != head || err != nil {
			t.Errorf("after the head: %d changed, %d, %v", len(changed), again, err)
		}
	})
}

func TestChangedPatients(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		want := map[id.Patient]string{}
		for i := range 4 {
			want[storetest.AddPatient(t, o, storetest.PatientName(i)).ID] = storetest.PatientName(i)
			if i == 1 {
				storetest.Settle(t, all[0])
			}
		}
		got := map[id.Patient]string{}
		note := func(p patients.PatientItem) { got[p.ID] = string(p.Name) }
		if _, complete, err := o.ChangedPatients(t.Context(), 0, 100, note, func(int64) {}); !complete || err != nil || !maps.Equal(got, want) {
			t.Errorf("got %v, %v, %v, want %v", got, complete, err, want)
		}
		if _, complete, err := o.ChangedPatients(t.Context(), 0, 3, note, func(int64) {}); complete || err != nil {
			t.Errorf("of four, three are said to be all: %v", err)
		}
		storetest.Settle(t, all[0])
		head, complete, err := o.ChangedPatients(t.Context(), 0, 100, note, func(int64) {})
		if head != 6 || !complete || err != nil {
			t.Errorf("head %d, %v, %v", head, complete, err)
		}
		clear(got)
		if again, complete, err := o.ChangedPatients(t.Context(), head, 100, note, func(int64) {}); again != head || !complete || err != nil || len(got) != 0 {
			t.Errorf("after the head: %v at %d, %v, %v", got, again, complete, err)
		}
	})
}
