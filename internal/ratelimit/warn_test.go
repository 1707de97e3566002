package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/ratelimit"
)

// warnings is what a limiter told.
type warnings struct {
	mu   sync.Mutex
	list []string
	err  error
}

func (w *warnings) warn(_ context.Context, c access.ClientNo, end time.Time, percent int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c != client {
		return fmt.Errorf("client %d", c)
	}
	w.list = append(w.list, fmt.Sprint(end.Sub(start).Hours(), "h ", percent))
	return w.err
}

// told is what was told since the last time.
func (w *warnings) told() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

// usedUp takes n and says what was told.
func usedUp(t *testing.T, w *warnings, l *ratelimit.Limiter, n int, limit int64) []string {
	t.Helper()
	for range n {
		take(t, l, limit)
	}
	return w.told()
}

func TestWarnsOfUse(t *testing.T) {
	for _, ahead := range []int64{0, 1, 7, 50} {
		t.Run(fmt.Sprint("ahead ", ahead), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, c, w := newLedger(), newClock(), &warnings{}
				l := store.limiter(ahead, c.now)
				l.OnUse(w.warn)
				for _, step := range []struct {
					n     int
					limit int64
					want  []string
				}{
					{79, 100, nil}, {1, 100, []string{"1h 80"}}, {19, 100, nil}, {1, 100, []string{"1h 100"}}, {3, 100, nil},
					{50, 1000, nil},     // a higher tier is not warned of the same again
					{1, 10, []string{}}, // nor a lower one
				} {
					if got := usedUp(t, w, l, step.n, step.limit); !slices.Equal(got, step.want) {
						t.Errorf("after %d more of %d: told %q, want %q", step.n, step.limit, got, step.want)
					}
				}
				c.advance(ratelimit.Window)
				if got := usedUp(t, w, l, 4, 5); !slices.Equal(got, []string{"2h 80"}) {
					t.Errorf("in the next window: told %q", got)
				}
			})
		})
	}
}

// A process that finds a window as another left it warns of its current state,
// and only of the higher threshold if both were crossed.
func TestWarnsOfWhatItFinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c, w := newLedger(), newClock(), &warnings{}
		before := store.limiter(0, c.now)
		for _, step := range []struct {
			n    int
			want []string
		}{{80, []string{"1h 80"}}, {30, []string{"1h 100"}}} {
			for range step.n {
				take(t, before, 100)
			}
			l := store.limiter(0, c.now)
			l.OnUse(w.warn)
			if got := usedUp(t, w, l, 3, 100); !slices.Equal(got, step.want) {
				t.Errorf("after %d: told %q, want %q", step.n, got, step.want)
			}
		}
	})
}

// A failed warning is retried with the next request, and delays no response.
func TestWarningIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c, w := newLedger(), newClock(), &warnings{err: errors.New("the database is away")}
		l := store.limiter(0, c.now)
		l.OnUse(w.warn)
		for i, want := range [][]string{nil, nil, nil, {"1h 80"}, {"1h 100"}, {"1h 100"}} {
			if got := usedUp(t, w, l, 1, 5); !slices.Equal(got, want) {
				t.Errorf("request %d: told %q, want %q", i+1, got, want)
			}
		}
		w.err = nil
		if got := usedUp(t, w, l, 3, 5); !slices.Equal(got, []string{"1h 100"}) {
			t.Errorf("then: told %q", got)
		}
	})
}

// A warning that hangs or panics costs its client nothing, and Close waits for
// it.
func TestCloseWaitsForWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, gate := newLedger(), make(chan struct{})
		l := store.limiter(0, time.Now)
		l.OnUse(func(context.Context, access.ClientNo, time.Time, int) error {
			<-gate
			panic("broken")
		})
		for range 5 {
			take(t, l, 5)
		}
		closed := make(chan error, 1)
		go func() { closed <- l.Close(t.Context()) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed before the warning was over")
		default:
		}
		close(gate)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if d, err := l.Take(t.Context(), client, 5); err != nil || d.Allowed { // tells nobody any more
			t.Errorf("%+v, %v", d, err)
		}
	})
}
