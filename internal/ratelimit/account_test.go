package ratelimit

import (
	"context"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
)

func TestEndedAccountsAreSwept(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	reserve := func(_ context.Context, _ access.ClientNo, _, n int64, now time.Time) (Grant, error) {
		return Grant{Granted: n, Used: n, WindowEnd: now.Add(Window)}, nil
	}
	l := New(reserve, nil, func(int64) int64 { return 0 }, func() time.Time { return now })
	next, most := access.ClientNo(0), 0
	for range 20 {
		for range 100 * len(l.shards) {
			if _, err := l.Take(t.Context(), next, 10); err != nil {
				t.Fatal(err)
			}
			next++
		}
		for i := range l.shards {
			most = max(most, len(l.shards[i].accounts))
		}
		now = now.Add(Window)
	}
	if most > 300 {
		t.Errorf("a shard grew to %d accounts with 100 live ones", most)
	}
}

// A client with a round in progress has no window yet, or an expired one; if
// it were swept, its next request would start a second call.
func TestServedAccountsAreKept(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	served := &account{served: true}
	sh := &shard{accounts: map[access.ClientNo]*account{1: served, 2: {}}, sweepAt: 2}
	sh.open(3, now)
	if sh.accounts[1] != served || sh.accounts[2] != nil || sh.accounts[3] == nil {
		t.Errorf("%v after a sweep, want clients 1 and 3", sh.accounts)
	}
}

// A caller can leave at the very moment its round is done.
func TestLeavingAfterTheAnswer(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	grant := Grant{Granted: 2, Used: 2, WindowEnd: now.Add(Window)}
	for _, tt := range []struct {
		name  string
		after func(*account)
		want  int64
	}{
		{"same window", func(*account) {}, 1},
		{"new window", func(a *account) {
			a.credit(Grant{Granted: 0, Used: 0, WindowEnd: now.Add(3 * Window)}, 10, 0)
		}, 0},
	} {
		a := new(account)
		r, i := a.join(10, 1)
		a.join(10, 1)
		a.credit(grant, 10, 2)
		a.settle(r, now)
		close(r.done)
		tt.after(a)
		a.leave(r, i)
		if a.spare != tt.want {
			t.Errorf("%s: spare %d, want %d", tt.name, a.spare, tt.want)
		}
	}
}
