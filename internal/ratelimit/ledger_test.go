package ratelimit_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/testwait"
)

func TestMain(m *testing.M) { testwait.Main(m) }

// ledger is an honest store in memory: what Reserve and Return promise, and
// nothing else.
type ledger struct {
	mu   sync.Mutex
	rows map[access.ClientNo]*row
	// ends counts how often a window was given an end. More than once means that a clock
	// was set back, so the end no longer identifies one window.
	ends  map[window]int
	asked []int64 // the n of each Reserve
	limit int64   // of the last Reserve
	gate  func()  // called before a Reserve takes effect
	err   error
}

type row struct {
	end  time.Time
	used int64
}

func newLedger() *ledger { return &ledger{rows: map[access.ClientNo]*row{}, ends: map[window]int{}} }

func (s *ledger) reserve(_ context.Context, client access.ClientNo, limit, n int64, now time.Time) (ratelimit.Grant, error) {
	if s.gate != nil {
		s.gate()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, n)
	s.limit = limit
	if s.err != nil {
		return ratelimit.Grant{}, s.err
	}
	r := s.rows[client]
	if r == nil || !now.Before(r.end) {
		r = new(row)
		s.rows[client] = r
	}
	if r.end.IsZero() || r.end.After(now.Add(ratelimit.Farthest)) {
		r.end = now.Add(ratelimit.Window)
		s.ends[window{client, r.end.Unix()}]++
	}
	granted := min(max(limit-r.used, 0), n)
	r.used += granted
	return ratelimit.Grant{Granted: granted, Used: r.used, WindowEnd: r.end}, nil
}

func (s *ledger) giveBack(_ context.Context, client access.ClientNo, end time.Time, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rows[client]; r != nil && r.end.Equal(end) {
		r.used -= n
	}
	return nil
}

func (s *ledger) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func (s *ledger) used(client access.ClientNo) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[client].used
}

// limiter makes a limiter on the ledger that reserves ahead of need.
func (s *ledger) limiter(ahead int64, now func() time.Time) *ratelimit.Limiter {
	return ratelimit.New(s.reserve, s.giveBack, func(int64) int64 { return ahead }, now)
}

// clock is set by the test.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.nanos.Store(start.UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

var start = time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)

const client access.ClientNo = 4711

// take is a Take that must not fail.
func take(t *testing.T, l *ratelimit.Limiter, limit int64) ratelimit.Decision {
	t.Helper()
	d, err := l.Take(t.Context(), client, limit)
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	return d
}

// storm sends n requests at once, spread over the limiters, and counts those
// that pass.
func storm(t *testing.T, n int, limit int64, limiters ...*ratelimit.Limiter) int64 {
	t.Helper()
	var allowed atomic.Int64
	var group sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-begin
			d, err := limiters[i%len(limiters)].Take(t.Context(), client, limit)
			if err != nil {
				t.Errorf("Take: %v", err)
			}
			if d.Allowed {
				allowed.Add(1)
			}
			if d.Remaining < 0 || d.Remaining >= limit {
				t.Errorf("Remaining = %d, want 0..%d", d.Remaining, limit-1)
			}
		})
	}
	close(begin)
	group.Wait()
	return allowed.Load()
}
