package ratelimit

import (
	"context"
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/access"
)

// Warn is told that a client has used so many percent of the allowance of the
// window that ends then: 80, and 100 when it is used up. Each process tells it
// once a window, with the first request that finds it so; who is to be warned
// once over all processes sees to that. After an error the next request tells
// it again.
type Warn func(ctx context.Context, client access.ClientNo, windowEnd time.Time, percent int) error

// OnUse has a limiter warn. It is called before the first request.
func (l *Limiter) OnUse(warn Warn) { l.warn = warn }

// uses is a set of thresholds.
type uses uint8

const (
	most uses = 1 << iota // 80 %
	all                   // 100 %
)

// note looks whether a threshold is crossed. A jump over both counts as the
// higher one.
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

// tell warns of what was crossed. It is called with the shard
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

// warned is one call of Warn. A panic is an error: it must not end the process.
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
