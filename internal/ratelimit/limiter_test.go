package ratelimit_test

import (
	"context"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/ratelimit"
)

func TestExactlyTheLimitPasses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		limiters int
		ahead    int64
	}{
		{"one node", 1, 0},
		{"one node, ahead", 1, 20},
		{"one node, ahead beyond the limit", 1, 5000},
		{"two nodes", 2, 0},
		{"three nodes", 3, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const limit = 1000
			store, c := newLedger(), newClock()
			var limiters []*ratelimit.Limiter
			for range tt.limiters {
				limiters = append(limiters, store.limiter(tt.ahead, c.now))
			}
			if got := storm(t, limit+50, limit, limiters...); got != limit {
				t.Errorf("%d requests passed, want %d", got, limit)
			}
		})
	}
}

func TestSequenceOfDecisions(t *testing.T) {
	for _, ahead := range []int64{0, 2, 100} {
		store, c := newLedger(), newClock()
		l := store.limiter(ahead, c.now)
		reset := start.Add(time.Hour).Unix()
		for i := range int64(8) {
			want := ratelimit.Decision{Allowed: i < 5, Limit: 5, Remaining: max(4-i, 0), Reset: reset, ResetIn: 3600 - i}
			if got := take(t, l, 5); got != want {
				t.Errorf("ahead %d, request %d: %+v, want %+v", ahead, i, got, want)
			}
			c.advance(time.Second)
		}
	}
}

func TestResetIsRoundedUp(t *testing.T) {
	c := newClock()
	c.advance(300 * time.Millisecond)
	d := take(t, newLedger().limiter(0, c.now), 5)
	if want := start.Add(time.Hour).Unix() + 1; d.Reset != want || d.ResetIn != 3600 {
		t.Errorf("Reset %d in %d, want %d in 3600", d.Reset, d.ResetIn, want)
	}
}

func TestWindowEnds(t *testing.T) {
	for _, ahead := range []int64{0, 3} {
		store, c := newLedger(), newClock()
		l := store.limiter(ahead, c.now)
		take(t, l, 5)
		c.advance(ratelimit.Window - 1)
		if got := storm(t, 10, 5, l); got != 4 {
			t.Errorf("ahead %d: %d passed in the rest of the window, want 4", ahead, got)
		}
		c.advance(1)
		if got := storm(t, 10, 5, l); got != 5 {
			t.Errorf("ahead %d: %d passed in the new window, want 5", ahead, got)
		}
		if d, want := take(t, l, 5), start.Add(2*time.Hour).Unix(); d.Reset != want {
			t.Errorf("ahead %d: Reset %d, want %d", ahead, d.Reset, want)
		}
	}
}

func TestClockGoingBackReopensNothing(t *testing.T) {
	store, c := newLedger(), newClock()
	l := store.limiter(2, c.now)
	take(t, l, 5) // leaves spare that must not outlive the window
	c.advance(ratelimit.Window)
	reset := take(t, l, 5).Reset
	for _, d := range []time.Duration{-time.Second, -time.Minute, -4*time.Minute + time.Second} {
		c.advance(d)
		if got := take(t, l, 5).Reset; got != reset {
			t.Errorf("clock back by %v: Reset %d, want %d", d, got, reset)
		}
	}
	if got := storm(t, 10, 5, l); got != 1 {
		t.Errorf("%d more passed, want 1", got)
	}
}

// A clock that was days ahead when an allowance was used up is corrected: the
// client waits for an hour, not for days, and gets nothing before that.
func TestClockGoingFarBackRefusesForAnHour(t *testing.T) {
	const limit = 5
	for _, ahead := range []int64{0, 2} {
		store, c := newLedger(), newClock()
		nodes := []*ratelimit.Limiter{store.limiter(ahead, c.now), store.limiter(ahead, c.now)}
		c.advance(48 * time.Hour)
		if got := storm(t, 2*limit, limit, nodes...); got != limit {
			t.Fatalf("ahead %d: %d passed", ahead, got)
		}
		c.advance(-48 * time.Hour)
		for _, l := range nodes {
			d := take(t, l, limit)
			if want := start.Add(ratelimit.Window).Unix(); d.Allowed || d.Reset != want || l.Peek(client, limit).Reset != want {
				t.Errorf("ahead %d: %+v, want a refusal until %d", ahead, d, want)
			}
		}
		c.advance(ratelimit.Window)
		if got := storm(t, 2*limit, limit, nodes...); got != limit {
			t.Errorf("ahead %d: %d passed in the next window", ahead, got)
		}
	}
}

func TestRefusalNeedsNoStore(t *testing.T) {
	for _, ahead := range []int64{0, 4} {
		store, c := newLedger(), newClock()
		l := store.limiter(ahead, c.now)
		storm(t, 20, 10, l)
		before := store.calls()
		if got := storm(t, 200, 10, l); got != 0 || store.calls() != before {
			t.Errorf("ahead %d: %d passed, %d calls; want none", ahead, got, store.calls()-before)
		}
	}
}

func TestSpareNeedsNoStore(t *testing.T) {
	store, c := newLedger(), newClock()
	l := store.limiter(20, c.now)
	for range 21 {
		take(t, l, 1000)
	}
	if store.calls() != 1 {
		t.Errorf("%d calls for 21 requests with 20 ahead, want 1", store.calls())
	}
}

func TestKillLetsNoMoreThrough(t *testing.T) {
	const limit, ahead = 100, 7
	store, c := newLedger(), newClock()
	var total int64
	for range 5 {
		total += storm(t, 13, limit, store.limiter(ahead, c.now)) // dropped, not closed
	}
	total += storm(t, 2*limit, limit, store.limiter(ahead, c.now))
	if total > limit || total < limit-5*ahead {
		t.Errorf("%d passed over five kills, want %d to %d", total, limit-5*ahead, limit)
	}
}

func TestTierChange(t *testing.T) {
	for _, ahead := range []int64{0, 3} {
		store, c := newLedger(), newClock()
		l := store.limiter(ahead, c.now)
		if got := storm(t, 20, 10, l); got != 10 {
			t.Fatalf("%d passed, want 10", got)
		}
		reset := l.Peek(client, 10).Reset
		if got := storm(t, 40, 30, l); got != 20 {
			t.Errorf("ahead %d: %d passed after raising, want 20", ahead, got)
		}
		d := take(t, l, 5)
		if want := (ratelimit.Decision{Limit: 5, Reset: reset, ResetIn: 3600}); d != want {
			t.Errorf("ahead %d: lowered: %+v, want %+v", ahead, d, want)
		}
		if got := storm(t, 40, 30, l); got != 0 {
			t.Errorf("ahead %d: %d passed after lowering and raising again, want 0", ahead, got)
		}
	}
}

func TestLoweredLimitHoldsBackSpare(t *testing.T) {
	store, c := newLedger(), newClock()
	l := store.limiter(100, c.now)
	for range 10 {
		take(t, l, 1000)
	}
	if got := storm(t, 20, 15, l); got != 5 {
		t.Errorf("%d passed, want 5", got)
	}
}

func TestPeek(t *testing.T) {
	store, c := newLedger(), newClock()
	l := store.limiter(2, c.now)
	want := ratelimit.Decision{Allowed: true, Limit: 3, Remaining: 3, Reset: start.Add(time.Hour).Unix(), ResetIn: 3600}
	if got := l.Peek(client, 3); got != want {
		t.Errorf("before: %+v, want %+v", got, want)
	}
	take(t, l, 3)
	c.advance(time.Minute)
	want.Remaining, want.ResetIn = 2, 3540
	if got := l.Peek(client, 3); got != want {
		t.Errorf("after one: %+v, want %+v", got, want)
	}
	take(t, l, 3)
	take(t, l, 3)
	want.Remaining, want.Allowed = 0, false
	if got := l.Peek(client, 3); got != want {
		t.Errorf("exhausted: %+v, want %+v", got, want)
	}
	c.advance(time.Hour)
	want = ratelimit.Decision{Allowed: true, Limit: 3, Remaining: 3, Reset: c.now().Add(time.Hour).Unix(), ResetIn: 3600}
	if got := l.Peek(client, 3); got != want {
		t.Errorf("ended: %+v, want %+v", got, want)
	}
	if store.calls() != 1 {
		t.Errorf("%d calls, want 1", store.calls())
	}
}

func TestClientsAreCountedApart(t *testing.T) {
	l := newLedger().limiter(0, newClock().now)
	for c := range access.ClientNo(200) {
		for i, want := range []bool{true, true, false} {
			if d, err := l.Take(t.Context(), c, 2); err != nil || d.Allowed != want {
				t.Fatalf("client %d, request %d: %+v, %v", c, i, d, err)
			}
		}
	}
}

func TestFault(t *testing.T) {
	for _, tt := range []struct {
		resetIn int64
		want    time.Duration
	}{{3500, 3500 * time.Second}, {0, time.Second}} {
		e := ratelimit.Decision{Limit: 1000, Reset: 99, ResetIn: tt.resetIn}.Fault()
		if e.Code != fault.RateLimitExceeded || e.RetryAfter != tt.want || e.Details["limit"] != int64(1000) || e.Details["reset"] != int64(99) {
			t.Errorf("%+v", e)
		}
	}
}

// Several requests are counted together, all or none of them.
func TestTakeAll(t *testing.T) {
	store := newLedger()
	now := newClock().now
	l := store.limiter(0, now)
	for i, step := range []struct {
		n       int64
		allowed bool
		left    int64
	}{{4, true, 6}, {7, false, 6}, {6, true, 0}, {1, false, 0}} {
		d, err := l.TakeAll(t.Context(), client, 10, step.n)
		if err != nil || d.Allowed != step.allowed || d.Remaining != step.left {
			t.Errorf("step %d: %+v, %v; want allowed %v with %d left", i, d, err, step.allowed, step.left)
		}
	}
	if got := store.used(client); got != 10 {
		t.Errorf("%d used, want 10", got)
	}
}

// A claim that the store holds back is made at the latest when its result is
// awaited.
func TestHeldBackClaims(t *testing.T) {
	store := newLedger()
	var held []func()
	claim := func(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time, tell func(ratelimit.Grant, error)) {
		held = append(held, func() { tell(store.reserve(ctx, client, limit, n, now)) })
	}
	start := func() {
		for len(held) > 0 {
			next := held[0]
			held = held[1:]
			next()
		}
	}
	l := ratelimit.NewClaiming(claim, start, store.giveBack, func(int64) int64 { return 0 }, newClock().now)
	var tickets []ratelimit.Ticket
	for range 3 {
		ticket, err := l.Begin(t.Context(), client, 2, 1)
		if err != nil || ticket.Known() {
			t.Fatalf("%v, known %v", err, ticket.Known())
		}
		tickets = append(tickets, ticket)
	}
	if store.calls() != 0 || len(held) != 1 {
		t.Errorf("%d claims made and %d held back, want 0 and 1", store.calls(), len(held))
	}
	for i := range tickets {
		if d, err := tickets[i].Await(t.Context()); err != nil || d.Allowed != (i < 2) {
			t.Errorf("request %d: %+v, %v", i, d, err)
		}
	}
	ticket, err := l.Begin(t.Context(), client, 2, 1)
	if d, _ := ticket.Await(t.Context()); err != nil || !ticket.Known() || d.Allowed {
		t.Errorf("a refusal from memory: %+v, %v", d, err)
	}
}
