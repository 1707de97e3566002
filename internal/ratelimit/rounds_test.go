package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/ratelimit"
)

// result is what a Take in the background came to.
type result struct {
	ratelimit.Decision
	err error
}

// inBackground starts n requests and waits until all of them are blocked.
func inBackground(ctx context.Context, l *ratelimit.Limiter, n int, limit int64) <-chan result {
	results := make(chan result, n)
	for range n {
		go func() {
			d, err := l.Take(ctx, client, limit)
			results <- result{d, err}
		}()
	}
	synctest.Wait()
	return results
}

func TestWaitingRequestsShareACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, gate := newLedger(), make(chan struct{})
		store.gate = func() { <-gate }
		l := store.limiter(0, time.Now)
		first := inBackground(t.Context(), l, 1, 100)
		others := inBackground(t.Context(), l, 9, 100)
		close(gate)
		synctest.Wait()
		if want := []int64{1, 9}; !slices.Equal(store.asked, want) {
			t.Errorf("asked for %v, want %v", store.asked, want)
		}
		remaining := []int64{(<-first).Remaining}
		for range 9 {
			remaining = append(remaining, (<-others).Remaining)
		}
		slices.Sort(remaining)
		if want := []int64{90, 91, 92, 93, 94, 95, 96, 97, 98, 99}; !slices.Equal(remaining, want) {
			t.Errorf("Remaining %v, want %v", remaining, want)
		}
	})
}

func TestNextRoundIsServedFromSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, gate := newLedger(), make(chan struct{})
		store.gate = func() { <-gate }
		l := store.limiter(4, time.Now)
		inBackground(t.Context(), l, 1, 5)
		others := inBackground(t.Context(), l, 9, 5)
		close(gate)
		allowed := 0
		for range 9 {
			if (<-others).Allowed {
				allowed++
			}
		}
		if allowed != 4 || store.calls() != 1 {
			t.Errorf("%d passed with %d calls, want 4 with 1", allowed, store.calls())
		}
	})
}

func TestTierChangeReachesTheGatheringRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, gate := newLedger(), make(chan struct{})
		store.gate = func() { <-gate }
		l := store.limiter(0, time.Now)
		inBackground(t.Context(), l, 1, 1)
		before := inBackground(t.Context(), l, 1, 1)
		after := inBackground(t.Context(), l, 1, 10)
		close(gate)
		if a, b := <-before, <-after; !a.Allowed || !b.Allowed || b.Limit != 10 || store.limit != 10 {
			t.Errorf("%+v, %+v, store asked with limit %d; want both to pass under 10", a, b, store.limit)
		}
	})
}

func TestLeavingWhileGathering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, gate := newLedger(), make(chan struct{})
		store.gate = func() { <-gate }
		l := store.limiter(0, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		first := inBackground(t.Context(), l, 1, 100)
		gone := inBackground(ctx, l, 3, 100)
		cancel()
		for range 3 {
			if r := <-gone; !errors.Is(r.err, context.Canceled) || r.Allowed {
				t.Errorf("%+v, want context.Canceled", r)
			}
		}
		close(gate)
		if r := <-first; r.err != nil || r.Remaining != 99 {
			t.Errorf("%+v, want 99 remaining", r)
		}
		synctest.Wait()
		if want := []int64{1}; !slices.Equal(store.asked, want) {
			t.Errorf("asked for %v, want %v", store.asked, want)
		}
	})
}

func TestLeavingDuringTheCallLeavesSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, gate := newLedger(), make(chan struct{})
		store.gate = func() { <-gate }
		l := store.limiter(0, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		gone := inBackground(ctx, l, 1, 100) // leads the round
		cancel()
		if r := <-gone; !errors.Is(r.err, context.Canceled) {
			t.Errorf("%+v, want context.Canceled", r)
		}
		close(gate)
		synctest.Wait()
		if d := take(t, l, 100); d.Remaining != 99 || store.calls() != 1 {
			t.Errorf("%+v after %d calls, want 99 remaining after 1", d, store.calls())
		}
	})
}

func TestEndedContextTakesNothing(t *testing.T) {
	store := newLedger()
	l := store.limiter(0, newClock().now)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Take(ctx, client, 10); !errors.Is(err, context.Canceled) || store.calls() != 0 {
		t.Errorf("%v after %d calls, want context.Canceled after none", err, store.calls())
	}
}

func TestStoreFailureReachesAllWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, gate := newLedger(), make(chan struct{})
		store.gate = func() { <-gate }
		store.err = fault.Away("The database is away.", nil)
		l := store.limiter(3, time.Now)
		results := []<-chan result{inBackground(t.Context(), l, 1, 10), inBackground(t.Context(), l, 1, 10), inBackground(t.Context(), l, 1, 10)}
		close(gate)
		for _, c := range results {
			if r := <-c; !fault.Is(r.err, fault.Unavailable) || r.Allowed {
				t.Errorf("%+v, want SERVICE_UNAVAILABLE", r)
			}
		}
		synctest.Wait()
		store.err = nil
		if got := storm(t, 20, 10, l); got != 10 {
			t.Errorf("%d passed after the failure, want 10", got)
		}
	})
}

func TestBadAnswersAreErrors(t *testing.T) {
	now := newClock().now
	end := now().Add(time.Hour)
	for name, reserve := range map[string]ratelimit.Reserve{
		"negative":     answer(ratelimit.Grant{Granted: -1, WindowEnd: end}),
		"too much":     answer(ratelimit.Grant{Granted: 2, Used: 2, WindowEnd: end}),
		"not counted":  answer(ratelimit.Grant{Granted: 1, Used: 0, WindowEnd: end}),
		"window ended": answer(ratelimit.Grant{Granted: 1, Used: 1, WindowEnd: now()}),
		"store panics": func(context.Context, access.ClientNo, int64, int64, time.Time) (ratelimit.Grant, error) {
			panic("broken")
		},
		"no window yet": answer(ratelimit.Grant{}),
	} {
		l := ratelimit.New(reserve, nil, func(int64) int64 { return 0 }, now)
		if d, err := l.Take(t.Context(), client, 10); err == nil || d.Allowed {
			t.Errorf("%s: %+v, %v; want an error", name, d, err)
		}
	}
}

// A grant of less than requested means exhausted, whatever the count says.
func TestShortGrantIsExhaustion(t *testing.T) {
	calls, now := 0, newClock().now
	stingy := func(_ context.Context, _ access.ClientNo, _, _ int64, now time.Time) (ratelimit.Grant, error) {
		calls++
		return ratelimit.Grant{Granted: 1, Used: 1, WindowEnd: now.Add(ratelimit.Window)}, nil
	}
	l := ratelimit.New(stingy, nil, func(int64) int64 { return 1 }, now)
	for i, want := range []bool{true, false, false} {
		if d := take(t, l, 10); d.Allowed != want || d.Limit != 10 || calls != 1 {
			t.Errorf("request %d: %+v after %d calls, want allowed %v after 1", i, d, calls, want)
		}
	}
}

func answer(g ratelimit.Grant) ratelimit.Reserve {
	return func(context.Context, access.ClientNo, int64, int64, time.Time) (ratelimit.Grant, error) {
		return g, nil
	}
}

func TestStoreThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ access.ClientNo, _, _ int64, _ time.Time) (ratelimit.Grant, error) {
			<-ctx.Done()
			return ratelimit.Grant{}, ctx.Err()
		}
		l := ratelimit.New(hang, nil, func(int64) int64 { return 0 }, time.Now)
		if _, err := l.Take(t.Context(), client, 10); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want context.DeadlineExceeded", err)
		}
	})
}

func TestGrantHoldsWhenTheWindowEndsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLedger()
		l := store.limiter(0, time.Now)
		take(t, l, 5)
		time.Sleep(ratelimit.Window - time.Second)
		store.gate = func() { time.Sleep(2 * time.Second) }
		old, opened := take(t, l, 5), take(t, l, 5)
		if !old.Allowed || old.Remaining != 3 || opened.Remaining != 4 || opened.Reset <= old.Reset {
			t.Errorf("%+v, then %+v", old, opened)
		}
	})
}

func TestCloseGivesBack(t *testing.T) {
	const limit = 100
	store, c := newLedger(), newClock()
	var total int64
	for range 6 {
		l := store.limiter(7, c.now)
		total += storm(t, 13, limit, l)
		for range 2 { // the second changes nothing
			if err := l.Close(t.Context()); err != nil {
				t.Fatalf("Close: %v", err)
			}
		}
		if got := store.used(client); got != total {
			t.Errorf("the store counts %d after %d passed", got, total)
		}
		if d := l.Peek(client, limit); d.Remaining != limit-total {
			t.Errorf("closed limiter shows %d remaining, want %d", d.Remaining, limit-total)
		}
		if _, err := l.Take(t.Context(), client, limit); !fault.Is(err, fault.Unavailable) {
			t.Errorf("Take after Close: %v, want SERVICE_UNAVAILABLE", err)
		}
	}
	if total += storm(t, 2*limit, limit, store.limiter(7, c.now)); total != limit {
		t.Errorf("%d passed over six clean stops, want %d", total, limit)
	}
}

func TestCloseReturnsForEveryOpenWindow(t *testing.T) {
	const clients = 500
	store, c := newLedger(), newClock()
	var mu sync.Mutex
	returned := map[access.ClientNo]int64{}
	failed := errors.New("disk full")
	l := ratelimit.New(store.reserve, func(_ context.Context, client access.ClientNo, end time.Time, n int64) error {
		mu.Lock()
		defer mu.Unlock()
		if !end.Equal(c.now().Add(ratelimit.Window)) {
			t.Errorf("returned for a window that ends at %v", end)
		}
		returned[client] += n
		if client == clients {
			return failed
		}
		return nil
	}, func(int64) int64 { return 3 }, c.now)
	if _, err := l.Take(t.Context(), 0, 10); err != nil { // its window ends before Close
		t.Fatal(err)
	}
	c.advance(ratelimit.Window)
	for i := range access.ClientNo(clients) {
		if _, err := l.Take(t.Context(), i+1, 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(t.Context()); !errors.Is(err, failed) {
		t.Errorf("Close: %v, want %v", err, failed)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Errorf("second Close: %v", err)
	}
	for client, n := range returned {
		if n != 3 {
			t.Errorf("client %d was returned %d, want 3", client, n)
		}
	}
	if len(returned) != clients {
		t.Errorf("returned for %d clients, want %d", len(returned), clients)
	}
}

func TestCloseWaitsForCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, gate := newLedger(), make(chan struct{})
		store.gate = func() { <-gate }
		l := store.limiter(5, time.Now)
		pending := inBackground(t.Context(), l, 1, 100)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close in time: %v, want context.DeadlineExceeded", err)
		}
		closed := make(chan error, 1)
		go func() { closed <- l.Close(t.Context()) }()
		synctest.Wait()
		close(gate)
		if r := <-pending; !r.Allowed {
			t.Errorf("%+v, want allowed", r)
		}
		if err := <-closed; err != nil || store.used(client) != 1 {
			t.Errorf("Close: %v, the store counts %d; want 1", err, store.used(client))
		}
	})
}
