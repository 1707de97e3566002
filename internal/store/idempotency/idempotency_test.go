package idempotency_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

func TestOneKeyMakesOnePatient(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, open func() *store.Store) {
				all, who := storetest.Nodes(t, n, open)
				const callers = 64
				var replayed atomic.Int64
				var outcomes [callers]idempotency.Outcome
				storetest.Together(t, callers, func(i int) error {
					p := storetest.Patient(storetest.PatientName(i))
					key := &idempotency.Once{Key: []byte("key"), Body: []byte("body")}
					own := idempotency.Outcome{Status: 201, Location: "/" + p.ID.String(), ETag: `"1"`, Body: []byte(p.ID.String())}
					out, err := all[i%n].For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), key, own)
					if out.Replayed {
						replayed.Add(1)
						out.Replayed = false
					}
					outcomes[i] = out
					return err
				})
				if replayed.Load() != callers-1 {
					t.Errorf("%d of %d were replayed", replayed.Load(), callers)
				}
				for i, out := range outcomes {
					if out.Status != 201 || fmt.Sprintf("%+v", out) != fmt.Sprintf("%+v", outcomes[0]) {
						t.Fatalf("caller %d got %+v, caller 0 %+v", i, out, outcomes[0])
					}
				}
				storetest.Settle(t, all[0])
				o := all[0].For(&who)
				total, err := o.PatientPage(t.Context(), 1, 1, func(p patients.PatientItem) {
					if string(outcomes[0].Body) != p.ID.String() {
						t.Error("the outcome is not that of the patient")
					}
				})
				events, _, eventsErr := o.Events(t.Context(), 0, 100)
				if total != 1 || len(events) != 1 || err != nil || eventsErr != nil {
					t.Errorf("%d patients, %d events, %v, %v", total, len(events), err, eventsErr)
				}
			})
		})
	}
}

func TestKeyBelongsToItsBodyAndClient(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		colleague := storetest.Client(t, all[0], "General Hospital")
		stranger := storetest.Client(t, all[0], "Other Clinic")
		post := func(o store.Org, key, body string) (idempotency.Outcome, error) {
			p := storetest.Patient("A")
			return o.CreatePatient(t.Context(), &p, storetest.Created(p), &idempotency.Once{Key: []byte(key), Body: []byte(body)},
				idempotency.Outcome{Status: 201, Body: []byte("{}")})
		}
		o := all[0].For(&who)
		if out, err := post(o, "k", "one"); out.Replayed || err != nil {
			t.Fatalf("the first: %+v, %v", out, err)
		}
		if out, err := post(all[1].For(&who), "k", "one"); !out.Replayed || err != nil {
			t.Errorf("the same again: %+v, %v", out, err)
		}
		if _, err := post(o, "k", "two"); !fault.Is(err, fault.IdempotencyKeyReused) {
			t.Errorf("another body: %v", err)
		}
		for name, other := range map[string]store.Org{"colleague": all[0].For(&colleague), "stranger": all[0].For(&stranger)} {
			if out, err := post(other, "k", "two"); out.Replayed || err != nil {
				t.Errorf("a %s's same key: %+v, %v", name, out, err)
			}
		}
		if out, err := post(o, "other", "one"); out.Replayed || err != nil {
			t.Errorf("another key: %+v, %v", out, err)
		}
	})
}

func TestFailedWriteKeepsNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		key := &idempotency.Once{Key: []byte("k"), Body: []byte("b")}
		out := idempotency.Outcome{Status: 201, Body: []byte("{}")}
		// The identifier already exists, so the very last statement fails.
		if _, err := o.CreatePatient(t.Context(), &p, storetest.Created(p), key, out); err == nil {
			t.Fatal("a patient was created twice")
		}
		if n := storetest.Number(t, all[0], `SELECT count(*) FROM idempotency`); n != 0 {
			t.Errorf("%d outcomes are kept", n)
		}
		q := storetest.Patient("B")
		if got, err := o.CreatePatient(t.Context(), &q, storetest.Created(q), key, out); got.Replayed || err != nil {
			t.Errorf("the key is taken: %+v, %v", got, err)
		}
		if total, err := o.PatientPage(t.Context(), 1, 1, func(patients.PatientItem) {}); total != 2 || err != nil {
			t.Errorf("%d patients, %v", total, err)
		}
		storetest.Settle(t, all[0])
		if events, _, err := o.Events(t.Context(), 0, 10); len(events) != 2 || err != nil {
			t.Errorf("%d events, %v", len(events), err)
		}
	})
}

// A request that waits too long for the first one with its key gets an error
// that says that one is still running.
func TestKeyInProgress(t *testing.T) {
	cfg := storetest.Database(t, storetest.Postgres)
	first := storetest.Start(t, cfg)
	cfg.Database += "&lock_timeout=50"
	second := storetest.Start(t, storetest.Node(t, cfg))
	who := storetest.Client(t, first, "General Hospital")
	key := &idempotency.Once{Key: []byte("k"), Body: []byte("b")}
	isRunning := func() {
		t.Helper()
		p := storetest.Patient("A")
		_, err := second.For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), key, idempotency.Outcome{Body: []byte("{}")})
		if !fault.Is(err, fault.IdempotencyRunning) {
			t.Errorf("got %v", err)
		}
	}
	o := first.For(&who)
	from, into := storetest.AddPatient(t, o, "B"), storetest.AddPatient(t, o, "C")
	called := false
	if _, err := o.MergePatient(t.Context(), from.ID, into.ID, audit.Entry{At: time.Now(), Actor: "test"}, key, func(*pain.Patient) idempotency.Outcome {
		called = true
		isRunning()
		return idempotency.Outcome{}
	}); err != nil || !called {
		t.Fatalf("%v, called: %t", err, called)
	}
	if pgcluster.Distributed() {
		return // no older version supports Citus
	}

	// A node of an older version does not take the lock of the key.
	key.Key = []byte("older")
	undone := errors.New("undone")
	err := first.Database().Write(t.Context(), func(tx engine.Tx) error {
		if _, err := tx.Exec(`INSERT INTO idempotency (org_no, client_no, key_hash, body_hash, status, location, etag, body, created_at)
			VALUES ($1, $2, $3, $4, 201, '', '', '', 0)`, int64(who.Org), int64(who.Client), key.Key, key.Body); err != nil {
			return err
		}
		isRunning()
		return undone
	})
	if !errors.Is(err, undone) {
		t.Error(err)
	}
}
