package journal_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func TestSealHolds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all := []*store.Store{open(), open()}
		s := all[0]
		o, first := storetest.SealedOrg(t, s)
		storetest.Client(t, s, "Theirs")
		storetest.AddPatient(t, o, "more")
		storetest.Saw(t, o, "read")
		storetest.Ship(t, s)
		verify := func(when string, s *store.Store) {
			t.Helper()
			var last journal.Pos
			problems, err := s.System().VerifySeals(t.Context(), map[string]journal.SealedHead{"Ours": first}, func(org string, at, of journal.Pos) {
				if org == "Ours" {
					last = at
				}
			})
			if len(problems) != 0 || err != nil || last != 14 {
				t.Errorf("%s, up to %d: %v, %v", when, last, problems, err)
			}
		}
		verify("partly sealed", s)
		if moved := storetest.Must[[]journal.SealedHead](t)(all[1].System().Seal(t.Context())); len(moved) != 2 {
			t.Errorf("the other node sealed %+v, want both organisations", moved)
		}
		if moved := storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context())); len(moved) != 0 {
			t.Errorf("again: %+v", moved)
		}
		verify("sealed", s)
		verify("sealed, on the other node", all[1])
	})
}

// Nodes that seal concurrently while others write create one chain.
func TestManySealers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		storetest.Together(t, 9, func(i int) error {
			for range 10 {
				if i < 3 {
					p := storetest.Patient("A")
					if _, err := all[i].For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
						return err
					}
					storetest.Settle(t, all[i])
				} else if _, err := all[i%3].System().Seal(t.Context()); err != nil {
					return err
				}
			}
			return nil
		})
		storetest.Must[[]journal.SealedHead](t)(all[0].System().Seal(t.Context()))
		if problems, err := all[0].System().VerifySeals(t.Context(), nil, nil); len(problems) != 0 || err != nil {
			t.Errorf("%v, %v", problems, err)
		}
		if n := storetest.Number(t, all[0], `SELECT pos FROM journal_seal`); n != 32 {
			t.Errorf("sealed up to %d, want 32", n)
		}
	})
}

// An interrupted check reports an error rather than a result.
func TestVerifySealsBrokenOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		storetest.SealedOrg(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		problems, err := s.System().VerifySeals(ctx, map[string]journal.SealedHead{"Ours": {Pos: 3}}, func(string, journal.Pos, journal.Pos) { cancel() })
		if err == nil {
			t.Errorf("broken off, it found %v", problems)
		}
	})
}

// When stopped, the worker seals what is left, including reads, and logs the
// head.
func TestKeepSealed(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		var log bytes.Buffer
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		s := storetest.Start(t, cfg)
		o, _ := storetest.SealedOrg(t, s)
		storetest.Saw(t, o, "read")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.System().KeepSealed(ctx); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Reads(t, o); !slices.Equal(got, []string{"read"}) {
			t.Errorf("shipped %v", got)
		}
		if n := storetest.Number(t, s, `SELECT pos FROM journal_seal`); n != 13 || !strings.Contains(log.String(), "head=") {
			t.Errorf("sealed up to %d, logged %s", n, log.String())
		}
	})
}

// A head that was not logged, because another had been logged a short
// time before, is logged when the worker stops.
func TestLastHeadIsLogged(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		log := newLineLog()
		cfg.Log = slog.New(slog.NewTextHandler(log, nil))
		s := storetest.Start(t, cfg)
		o, _ := storetest.SealedOrg(t, s)
		add := func() {
			storetest.AddPatient(t, o, "later")
			storetest.Settle(t, s)
		}
		add()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.System().KeepSealed(ctx) }()
		log.await(t, "msg=\"audit seal\" organization=Ours pos=13")
		add()
		testwait.Until(t, "the next seal", func() bool { return storetest.Number(t, s, `SELECT pos FROM journal_seal`) == 14 })
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		log.await(t, "msg=\"audit seal\" organization=Ours pos=14")
	})
}
