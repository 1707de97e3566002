package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func TestMain(m *testing.M) { testwait.Main(m) }

// together runs fn n times at once and fails the test with what went wrong.
func together(t testing.TB, n int, fn func(i int) error) {
	t.Helper()
	var (
		wg    sync.WaitGroup
		start = make(chan struct{})
	)
	for i := range n {
		wg.Go(func() {
			<-start
			if err := fn(i); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	close(start)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// nodes opens n nodes on one database and makes an organisation.
func nodes(t *testing.T, n int, open func() *store.Store) ([]*store.Store, access.Principal) {
	t.Helper()
	list := make([]*store.Store, n)
	for i := range list {
		list[i] = open()
	}
	return list, storetest.Client(t, list[0], "General Hospital")
}

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func name(i int) string { return fmt.Sprintf("Patient %d", i) }
