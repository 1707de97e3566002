package e2e

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

// writers is how many send at the same time.
const writers = 64

// load is 64 writers, each with its own patients.
type load struct {
	*ledger
	writers [writers]*writer
	// first is the first of the clients that is in use.
	first int
}

type writer struct {
	number int
	random *rand.Rand
	own    []*record
	names  int

	reports []*asked
	hook    *hooked // the last one, as is issued
	issued  *issued
}

func newLoad(l *ledger, seed uint64) *load {
	all := &load{ledger: l}
	for i := range all.writers {
		all.writers[i] = &writer{number: i, random: rand.New(rand.NewPCG(seed, uint64(i)))}
	}
	return all
}

// A load is as fast as the service for its first requests. After these, and
// after a refusal, each writer pauses between two requests: what a long fault
// proves does not depend on how much is written or refused meanwhile, and all
// of it is checked afterwards.
const (
	fullSpeed = 2000
	pause     = 100 * time.Millisecond
)

// run lets all writers work with the clients until stop returns true or,
// unless the service may be unavailable, a response is lost. It returns when
// all have ended.
func (all *load) run(clients []*client.Client, stop func() bool) {
	var group sync.WaitGroup
	enough := all.answers.Load() + fullSpeed
	for _, w := range all.writers {
		group.Go(func() {
			by := all.first + w.number%(len(clients)-all.first)
			for !stop() {
				answered := w.once(all.ledger, clients[by], by)
				if !answered && !all.away {
					return
				}
				if !answered || all.answers.Load() > enough {
					<-time.After(pause)
				}
			}
		})
	}
	if all.limited != nil {
		group.Go(func() { all.ask(standardLimit / 5) })
	}
	group.Wait()
}

// background runs the load beside the test, until end is called, which
// returns when all writers have ended.
func (all *load) background(clients []*client.Client) (end func()) {
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		all.run(clients, stop.Load)
	}()
	return func() {
		stop.Store(true)
		<-ended
	}
}

// answered waits for so many more answers.
func (all *load) answered(tb testing.TB, within time.Duration, more int64) {
	tb.Helper()
	target := all.answers.Load() + more
	eventually(tb, within, fmt.Sprintf("%d more answers", more), func() bool { return tb.Failed() || all.answers.Load() >= target })
}

// once does one thing and says whether it was answered.
func (w *writer) once(l *ledger, c *client.Client, by int) bool {
	choice := w.random.IntN(100)
	if choice >= 30 && len(w.own) > 0 {
		if r := w.own[w.random.IntN(len(w.own))]; r.known != nil && r.by == by {
			if answered, did := w.change(l, c, r, choice); did {
				return answered
			}
		}
	}
	return l.create(c, w.patient(l, by))
}

// change does something with a patient that is there. Did is false when what
// was chosen cannot be done with this one.
func (w *writer) change(l *ledger, c *client.Client, r *record, choice int) (answered, did bool) {
	switch {
	case choice < 45:
		return l.read(c, r), true
	case choice < 60:
		if r.changed == nil {
			return l.update(c, r, fmt.Sprintf("+46 8 %d", w.random.IntN(1e9))), true
		}
	case choice < 80:
		return l.addBatch(c, r, w.batch(r)), true
	case choice < 88:
		if k := w.correction(r); k != nil {
			return l.correct(c, r, k), true
		}
	case choice < 94:
		return w.again(l, c, r)
	case choice < 98:
		return w.serve(l, c, r.by, r), true
	default:
		return l.measure(c), true
	}
	return false, false
}

// again repeats a request that was answered before: the answer is the same,
// and verify finds no second effect.
func (w *writer) again(l *ledger, c *client.Client, r *record) (answered, did bool) {
	for _, k := range r.corrections {
		if k.done && k.key != noKey && w.random.IntN(2) == 0 {
			return l.correct(c, r, k), true
		}
	}
	for _, b := range r.batches {
		if b.known != nil && b.key != noKey && w.random.IntN(2) == 0 {
			return l.addBatch(c, r, b), true
		}
	}
	if r.first != nil && r.key != noKey {
		return l.create(c, r), true
	}
	return false, false
}

// patient generates a unique patient, to be sent with or without a key.
func (w *writer) patient(l *ledger, by int) *record {
	w.names++
	r := &record{by: by, key: noKey, sent: client.NewPatient{
		Name:        fmt.Sprintf("Åsa %d von Test %d", w.number, w.names),
		DateOfBirth: time.Date(1940+w.random.IntN(60), time.Month(1+w.random.IntN(12)), 1+w.random.IntN(28), 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
		Gender:      "female",
		Contact:     client.Contact{Email: fmt.Sprintf("w%d.%d@example.org", w.number, w.names)},
	}}
	if w.random.IntN(2) == 0 {
		r.key = fmt.Sprintf("key %d/%d", w.number, w.names)
	}
	for range w.random.IntN(3) {
		r.sent.MedicalHistory = append(r.sent.MedicalHistory, client.HistoryEntry{Condition: "Fibromyalgia", ICD10Code: "M79.7"})
	}
	r.asked = r.sent
	w.own = append(w.own, r)
	l.add(r)
	return r
}
