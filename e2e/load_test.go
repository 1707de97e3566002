package e2e

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"anodyne/client"
)

// writers is how many send at the same time.
const writers = 64

// load is 64 writers, each with its own patients.
type load struct {
	*ledger
	writers [writers]*writer
}

type writer struct {
	number int
	random *rand.Rand
	own    []*record
	names  int
}

func newLoad(l *ledger, seed uint64) *load {
	all := &load{ledger: l}
	for i := range all.writers {
		all.writers[i] = &writer{number: i, random: rand.New(rand.NewPCG(seed, uint64(i)))}
	}
	return all
}

// run lets all writers work on the clients until stop says so or, unless the
// service may be away, an answer is lost. It returns when all have ended.
func (all *load) run(clients []*client.Client, stop func() bool) {
	var group sync.WaitGroup
	for _, w := range all.writers {
		group.Go(func() {
			by := w.number % len(clients)
			for !stop() {
				if !w.once(all.ledger, clients[by], by) && !all.away {
					return
				}
			}
		})
	}
	group.Wait()
}

// once does one thing and says whether it was answered.
func (w *writer) once(l *ledger, c *client.Client, by int) bool {
	choice := w.random.IntN(100)
	if choice >= 50 && len(w.own) > 0 {
		r := w.own[w.random.IntN(len(w.own))]
		switch {
		case r.known == nil:
		case choice < 75:
			return l.read(c, r)
		case r.changed == nil:
			return l.update(c, r, fmt.Sprintf("+46 8 %d", w.random.IntN(1e9)))
		}
	}
	return l.create(c, w.patient(l, by))
}

// patient makes a patient up that nobody else has, to be sent with or without
// a key.
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
	w.own = append(w.own, r)
	l.add(r)
	return r
}
