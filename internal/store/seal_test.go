package store_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// sealed makes an organisation with a sealed journal of 12 entries.
func sealed(t *testing.T, s *store.Store) (store.Org, store.SealedHead) {
	t.Helper()
	who := storetest.Client(t, s, "Ours")
	o := s.For(&who)
	for i := range 10 {
		storetest.AddPatient(t, o, name(i))
	}
	store.Settle(t, s)
	moved := must[[]store.SealedHead](t)(s.System().Seal(t.Context()))
	if len(moved) != 1 || moved[0].Pos != 12 || moved[0].Name != "Ours" {
		t.Fatalf("sealed %+v, want Ours up to 12", moved)
	}
	return o, moved[0]
}

func TestSealHolds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all := []*store.Store{open(), open()}
		s := all[0]
		o, first := sealed(t, s)
		storetest.Client(t, s, "Theirs")
		storetest.AddPatient(t, o, "more")
		saw(t, o, "read")
		ship(t, s)
		verify := func(when string, s *store.Store) {
			t.Helper()
			var last store.Pos
			problems, err := s.System().VerifySeals(t.Context(), map[string]store.SealedHead{"Ours": first}, func(org string, at, of store.Pos) {
				if org == "Ours" {
					last = at
				}
			})
			if len(problems) != 0 || err != nil || last != 14 {
				t.Errorf("%s, up to %d: %v, %v", when, last, problems, err)
			}
		}
		verify("partly sealed", s)
		if moved := must[[]store.SealedHead](t)(all[1].System().Seal(t.Context())); len(moved) != 2 {
			t.Errorf("the other node sealed %+v, want both organisations", moved)
		}
		if moved := must[[]store.SealedHead](t)(s.System().Seal(t.Context())); len(moved) != 0 {
			t.Errorf("again: %+v", moved)
		}
		verify("sealed", s)
		verify("sealed, on the other node", all[1])
	})
}

// Nodes that seal at once while others write make one chain.
func TestManySealers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := nodes(t, 3, open)
		together(t, 9, func(i int) error {
			for range 10 {
				if i < 3 {
					p := storetest.Patient("A")
					if _, err := all[i].For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), nil, store.Outcome{}); err != nil {
						return err
					}
					store.Settle(t, all[i])
				} else if _, err := all[i%3].System().Seal(t.Context()); err != nil {
					return err
				}
			}
			return nil
		})
		must[[]store.SealedHead](t)(all[0].System().Seal(t.Context()))
		if problems, err := all[0].System().VerifySeals(t.Context(), nil, nil); len(problems) != 0 || err != nil {
			t.Errorf("%v, %v", problems, err)
		}
		if n := store.Number(t, all[0], `SELECT pos FROM journal_seal`); n != 32 {
			t.Errorf("sealed up to %d, want 32", n)
		}
	})
}

// A check that is broken off is no verdict.
func TestVerifySealsBrokenOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		sealed(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		problems, err := s.System().VerifySeals(ctx, map[string]store.SealedHead{"Ours": {Pos: 3}}, func(string, store.Pos, store.Pos) { cancel() })
		if err == nil {
			t.Errorf("broken off, it found %v", problems)
		}
	})
}

// The worker seals what is there when it is stopped, reads included, and logs
// the head.
func TestKeepSealed(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		var log bytes.Buffer
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		s := storetest.Start(t, cfg)
		o, _ := sealed(t, s)
		saw(t, o, "read")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.System().KeepSealed(ctx); err != nil {
			t.Fatal(err)
		}
		if got := reads(t, o); !slices.Equal(got, []string{"read"}) {
			t.Errorf("shipped %v", got)
		}
		if n := store.Number(t, s, `SELECT pos FROM journal_seal`); n != 13 || !strings.Contains(log.String(), "head=") {
			t.Errorf("sealed up to %d, logged %s", n, log.String())
		}
	})
}
