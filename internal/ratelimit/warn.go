package ratelimit

import (
	"context"
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/access"
)

// Warn is called when a client has used 80 or 100 percent of the allowance of
// the window that ends at windowEnd. Each process calls it once per window,
// with the first request that notices; deduplication across processes is up to
// the callee. After an error, the next request calls it again.
type Warn func(ctx context.Context, client access.ClientNo, windowEnd time.Time, percent int) error

// OnUse sets the function to call. It must be called before the first request.
func (l *Limiter) OnUse(warn Warn) { l.warn = warn }

// uses is a set of thresholds.
type uses uint8

const (
	most uses = 1 << iota // 80 %
	all                   // 100 %
)

// note checks whether a threshold was crossed. Crossing both at once counts as
// the higher one.
func (a *account) note(limit int64) {
	spent := a.spent()
	if spent < limit-limit/5 || limit <= 0 {
		return
	}
	crossed := most
	if spent >= limit {
		crossed = all
	}
	if a.told >= crossed {
		return
	}
	a.news |= crossed
	a.told |= crossed | crossed>>1
}

// tell calls Warn for crossed thresholds. It must be called with the shard
// locked; no request waits for the warning.
func (l *Limiter) tell(ctx context.Context, sh *shard, client access.ClientNo, a *account) {
	news, end := a.news, a.end
	a.news = 0
	if l.warn == nil || sh.closed {
		return
	}
	detached := context.WithoutCancel(ctx)
	l.rounds.Go(func() {
		for _, u := range []struct {
			use     uses
			percent int
		}{{most, 80}, {all, 100}} {
			if news&u.use == 0 || l.warned(detached, client, end, u.percent) == nil {
				continue
			}
			sh.mu.Lock()
			if a.end.Equal(end) {
				a.told &^= u.use
			}
			sh.mu.Unlock()
		}
	})
}

// warned calls Warn once. A panic becomes an error and does not end the
// process.
func (l *Limiter) warned(ctx context.Context, client access.ClientNo, end time.Time, percent int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("ratelimit: warning panicked: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	return l.warn(ctx, client, end, percent)
}
