package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

// crowd creates patients, from many goroutines and on several nodes, and
// records which were acknowledged.
type crowd struct {
	tb    testing.TB
	app   application
	names atomic.Int64
	mu    sync.Mutex
	made  map[string]bool
}

func newCrowd(tb testing.TB, app application) *crowd {
	return &crowd{tb: tb, app: app, made: map[string]bool{}}
}

// grow creates patients until this many are acknowledged. A writer ends if a
// response is lost because its node was killed.
func (c *crowd) grow(until int, nodes ...*node) {
	var group sync.WaitGroup
	for i := range writers {
		api := nodes[i%len(nodes)].as(c.app)
		group.Go(func() {
			for c.count() < until {
				p, err := api.CreatePatient(c.tb.Context(), client.NewPatient{Name: fmt.Sprint("Crowd ", c.names.Add(1)), DateOfBirth: "1980-02-29"})
				if err != nil {
					if isAnswer(err) {
						c.tb.Errorf("create: %v", err)
					}
					return
				}
				c.mu.Lock()
				c.made[p.ID] = true
				c.mu.Unlock()
			}
		})
	}
	group.Wait()
}

func (c *crowd) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.made)
}

// reader follows the event log by its cursor, whatever happens to its node.
type reader struct {
	tb     testing.TB
	node   atomic.Pointer[node]
	app    atomic.Pointer[application]
	cancel context.CancelFunc
	done   chan struct{}
	mu     sync.Mutex
	order  []string          // all events, as they came
	events map[string]string // the patients of those about new ones
}

// follow starts a reader at the beginning of the log.
func follow(tb testing.TB, n *node, app application) *reader {
	ctx, cancel := context.WithCancel(tb.Context())
	r := &reader{tb: tb, cancel: cancel, done: make(chan struct{}), events: map[string]string{}}
	r.node.Store(n)
	r.app.Store(&app)
	go func() {
		defer close(r.done)
		for after := ""; ctx.Err() == nil; {
			page, err := r.node.Load().as(*r.app.Load()).Events(ctx, after, 100, time.Second)
			if err != nil {
				if isAnswer(err) {
					tb.Errorf("read events: %v", err)
				}
				<-time.After(20 * time.Millisecond) // the node is killed, or starting again
				continue
			}
			r.note(page.Data)
			after = page.NextCursor
		}
	}()
	tb.Cleanup(r.stop)
	return r
}

func (r *reader) note(events []client.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range events {
		r.order = append(r.order, e.ID)
		if e.Type != client.EventPatientCreated {
			continue
		}
		var data struct {
			Patient string `json:"patient_id"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			r.tb.Error(err)
		}
		r.events[e.ID] = data.Patient
	}
}

// seen is how many events came.
func (r *reader) seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.order)
}

func (r *reader) stop() {
	r.cancel()
	<-r.done
}

// whole ends the reader once it has come to the log's end, and checks that it
// saw what one sees who reads the log now: each event once, in the same order.
func (r *reader) whole() []string {
	r.tb.Helper()
	var whole []string
	for e, err := range r.node.Load().as(*r.app.Load()).AllEvents(r.tb.Context(), "") {
		if err != nil {
			r.tb.Fatal(err)
		}
		whole = append(whole, e.ID)
	}
	eventually(r.tb, takeover, "the reader is at the end of the log", func() bool { return r.seen() >= len(whole) })
	r.stop()
	if !slices.Equal(whole, r.order[:len(whole)]) {
		r.tb.Errorf("the reader saw %d events, which are not the %d of the log in their order", len(r.order), len(whole))
	}
	once := map[string]bool{}
	for _, event := range r.order {
		if once[event] {
			r.tb.Errorf("event %s is in the log twice", event)
		}
		once[event] = true
	}
	return r.order
}

// log does so for a crowd: every acknowledged patient is among the events.
func (r *reader) log(c *crowd) map[string]string {
	r.tb.Helper()
	r.whole()
	patients := map[string]bool{}
	for _, patient := range r.events {
		patients[patient] = true
	}
	for patient := range c.made {
		if !patients[patient] {
			r.tb.Errorf("there is no event of patient %s", patient)
		}
	}
	return r.events
}
