package clients_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
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

// Nodes take from windows in the order of their clients, so that they do not wait
// for each other in a circle: if one is locked, only those before it are taken.
// The rows are stored in another order, and the table is small enough to be read
// as a whole.
func TestReserveInOrder(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s, observer := storetest.Start(t, cfg), storetest.Start(t, storetest.Node(t, cfg))
		if !s.Shared() {
			return // there is one writer
		}
		cfg = storetest.Node(t, cfg)
		cfg.Patience = testwait.Bound // it holds a lock
		other := storetest.Start(t, cfg)
		now := time.Now()
		const clients, held = 30, 20
		for client := clients; client > 0; client-- {
			storetest.Must[ratelimit.Grant](t)(s.System().Reserve(t.Context(), access.ClientNo(client), 1000, 1, now))
		}
		untaken := func() (list []int64) {
			if err := observer.Database().Write(t.Context(), func(tx engine.Tx) error {
				list = nil
				return tx.Query(`SELECT client_no FROM rate_window ORDER BY client_no /*FOR UPDATE SKIP LOCKED*/`, func(r engine.Row) error {
					list = append(list, r.Int(0))
					return nil
				})
			}); err != nil {
				t.Error(err)
			}
			return list
		}
		var ended chan struct{}
		var after []int64
		for client := int64(held + 1); client <= clients; client++ {
			after = append(after, client)
		}
		if err := other.Database().Write(t.Context(), func(tx engine.Tx) error {
			if err := tx.Query(`SELECT 1 FROM rate_window WHERE client_no = $1 /*FOR UPDATE*/`, nil, int64(held)); err != nil {
				return err
			}
			// The statement gives up after a second, which may pass unnoticed.
			testwait.Until(t, "those before the locked one are taken, and no others", func() bool {
				for i := range clients {
					s.System().Claim(t.Context(), access.ClientNo(i*7%clients+1), 1000, 1, now, func(ratelimit.Grant, error) {})
				}
				ended = make(chan struct{})
				go func() {
					defer close(ended)
					s.System().StartClaims()
				}()
				for !slices.Equal(untaken(), after) {
					select {
					case <-ended:
						return false
					default:
					}
				}
				return true
			})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		<-ended
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
