package clients_test

import (
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
)

func TestReserveIsExact(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all := []*store.Store{open(), open(), open()}
		now := time.Now()
		const limit = 100
		var granted, highest atomic.Int64
		storetest.Together(t, 30, func(i int) error {
			for range 5 {
				g, err := all[i%3].System().Reserve(t.Context(), 7, limit, 1+int64(i%3), now)
				if err != nil {
					return err
				}
				if g.Used > limit {
					t.Errorf("%d are used", g.Used)
				}
				granted.Add(g.Granted)
				for old := highest.Load(); g.Used > old && !highest.CompareAndSwap(old, g.Used); old = highest.Load() {
				}
			}
			return nil
		})
		if granted.Load() != limit || highest.Load() != limit {
			t.Errorf("%d granted, %d used, want %d", granted.Load(), highest.Load(), limit)
		}
	})
}

// A statement takes for many clients at once, on every node, and each client
// gets exactly its own allowance.
func TestReserveForManyClients(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all := []*store.Store{open(), open(), open()}
		now := time.Now()
		const clients, limit = 100, 5
		var granted [clients]atomic.Int64
		storetest.Together(t, 3*clients, func(i int) error {
			client := (7 * i) % clients
			for range 3 {
				g, err := all[i%3].System().Reserve(t.Context(), access.ClientNo(client+1), limit, 1, now)
				if err != nil {
					return err
				}
				granted[client].Add(g.Granted)
			}
			return nil
		})
		for client := range granted {
			if got := granted[client].Load(); got != limit {
				t.Errorf("client %d was granted %d, want %d", client, got, limit)
			}
		}
	})
}

// A client whose window is locked for long, by a transaction of another
// program, does not make the others of its round fail.
func TestReserveBesideALockedWindow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s, other := open(), open()
		if !s.Shared() {
			return // there is one writer
		}
		now := time.Now()
		reserve := func(i int) error {
			_, err := s.System().Reserve(t.Context(), access.ClientNo(i+1), 10, 1, now)
			return err
		}
		storetest.Together(t, 20, reserve)
		locked := make(chan error, 1)
		if err := other.Database().Write(t.Context(), func(tx engine.Tx) error {
			if err := tx.Query(`SELECT 1 FROM rate_window WHERE client_no = 7 /*FOR UPDATE*/`, nil); err != nil {
				return err
			}
			storetest.Together(t, 20, func(i int) error {
				if i == 6 {
					go func() { locked <- reserve(i) }()
					return nil
				}
				return reserve(i)
			})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := <-locked; err != nil && !engine.IsLockTimeout(err) {
			t.Errorf("the client whose window was locked: %v", err)
		}
	})
}

func TestRateWindow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		start := time.Date(2026, 1, 15, 10, 30, 0, 250e6, time.UTC)
		end := start.Add(time.Hour)
		returned := func(windowEnd time.Time, n int64) func() error {
			return func() error { return s.System().Return(t.Context(), 1, windowEnd, n) }
		}
		for _, step := range []struct {
			name     string
			before   func() error
			at       time.Time
			limit, n int64
			want     ratelimit.Grant
		}{
			{"opens a window", nil, start, 10, 4, ratelimit.Grant{Granted: 4, Used: 4, WindowEnd: end}},
			{"goes on", nil, start.Add(time.Minute), 10, 4, ratelimit.Grant{Granted: 4, Used: 8, WindowEnd: end}},
			{"gives what is left", nil, start.Add(time.Minute), 10, 4, ratelimit.Grant{Granted: 2, Used: 10, WindowEnd: end}},
			{"is exhausted", nil, end.Add(-time.Millisecond), 10, 4, ratelimit.Grant{Granted: 0, Used: 10, WindowEnd: end}},
			{"has some returned", returned(end, 3), start, 10, 4, ratelimit.Grant{Granted: 3, Used: 10, WindowEnd: end}},
			{"has another window's returned", returned(end.Add(time.Second), 3), start, 10, 4, ratelimit.Grant{Granted: 0, Used: 10, WindowEnd: end}},
			{"has more returned than used", returned(end, 11), start, 10, 4, ratelimit.Grant{Granted: 0, Used: 10, WindowEnd: end}},
			{"has a clock a little behind", nil, start.Add(-4 * time.Minute), 10, 4, ratelimit.Grant{Granted: 0, Used: 10, WindowEnd: end}},
			{"is lowered", nil, start, 5, 1, ratelimit.Grant{Granted: 0, Used: 10, WindowEnd: end}},
			{"is raised", nil, start, 12, 4, ratelimit.Grant{Granted: 2, Used: 12, WindowEnd: end}},
			{"has its clock put back", nil, start.Add(-48 * time.Hour), 13, 4, ratelimit.Grant{Granted: 1, Used: 13, WindowEnd: end.Add(-48 * time.Hour)}},
			{"opens again at its end", nil, end, 12, 5, ratelimit.Grant{Granted: 5, Used: 5, WindowEnd: end.Add(time.Hour)}},
			{"asks for more than the limit", nil, end.Add(2 * time.Hour), 3, 9, ratelimit.Grant{Granted: 3, Used: 3, WindowEnd: end.Add(3 * time.Hour)}},
		} {
			if step.before != nil {
				if err := step.before(); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
			}
			got := storetest.Must[ratelimit.Grant](t)(s.System().Reserve(t.Context(), 1, step.limit, step.n, step.at))
			if got != step.want {
				t.Errorf("%s: got %+v, want %+v", step.name, got, step.want)
			}
		}
		other := storetest.Must[ratelimit.Grant](t)(s.System().Reserve(t.Context(), 2, 10, 1, start))
		if other.Used != 1 {
			t.Errorf("another client's window has %d used", other.Used)
		}
	})
}
