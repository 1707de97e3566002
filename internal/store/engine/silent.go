package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

// A worker of a Citus cluster may be down, or accept connections and never
// answer. In the second case, statements about its organisations would keep all
// connections of the pool until they time out, and requests of other
// organisations would wait for one. The coordinator cannot cancel them either: it
// waits for the worker's answer to that, too.
//
// So the workers are checked if a statement takes long, or fails because of a
// worker. While one does not respond, statements about its organisations are
// cancelled, and new ones are refused without being sent.

const (
	// longStatement is how long a statement may take before the workers are
	// checked. They are checked again each time it has taken twice as long.
	longStatement = time.Second
	// workerTime is how long a worker may take to accept a connection.
	workerTime = 3 * time.Second
	// lookEvery is how often the statements under way are looked at, and
	// checkEvery how often the workers are checked while one does not respond.
	lookEvery, checkEvery = longStatement / 2, time.Second
)

// errSilent is the error of statements that were cancelled or refused.
var errSilent = fault.Away("The database server with this organisation's data does not respond.", nil)

// workerState is the result of a check.
type workerState struct {
	up, down int
	// silent has the organisations on workers that do not respond.
	silent map[int64]bool
}

// workerWatch watches the statements of a distributed database. If nil, it
// watches nothing.
type workerWatch struct {
	check func(context.Context) (workerState, error)
	log   *slog.Logger
	stop  context.CancelFunc
	ended chan struct{}
	// begun is signalled if there is something to watch.
	begun chan struct{}

	mu      sync.Mutex
	under   map[*underWay]struct{}
	last    workerState
	suspect bool // a statement failed since the last check
}

// underWay is statements that were sent together and are not answered yet.
type underWay struct {
	reach
	cancel context.CancelCauseFunc
	since  time.Time
	// patience is how long they may take until the next check.
	patience time.Duration
}

// watchWorkers starts a watch, which must be closed.
func watchWorkers(log *slog.Logger, check func(context.Context) (workerState, error)) *workerWatch {
	ctx, stop := context.WithCancel(context.Background())
	w := &workerWatch{check: check, log: log, stop: stop, ended: make(chan struct{}), begun: make(chan struct{}, 1), under: map[*underWay]struct{}{}}
	go func() {
		defer close(w.ended)
		w.run(ctx)
	}()
	return w
}

func (w *workerWatch) close() {
	if w != nil {
		w.stop()
		<-w.ended
	}
}

// begin returns the context for statements about organisations, and a function
// that must be called with their error; it returns the error to report. If a
// worker that they need does not respond, begin returns an error.
func (w *workerWatch) begin(ctx context.Context, r reach) (_ context.Context, end func(error) error, err error) {
	if w == nil || r.none() {
		return ctx, func(err error) error { return err }, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.meets(w.last.silent) {
		return nil, nil, errSilent
	}
	inside, cancel := context.WithCancelCause(ctx)
	u := &underWay{reach: r, cancel: cancel, since: time.Now(), patience: longStatement}
	w.under[u] = struct{}{}
	w.wake()
	return inside, func(err error) error {
		w.mu.Lock()
		delete(w.under, u)
		w.mu.Unlock()
		if err != nil && context.Cause(inside) == error(errSilent) {
			err = errSilent
		}
		cancel(nil)
		return err
	}, nil
}

// silence reports whether a worker did not respond at the last check.
func (w *workerWatch) silence() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.last.silent) > 0
}

// suspected has the workers checked, because a statement failed.
func (w *workerWatch) suspected() {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.suspect = true
		w.wake()
	}
}

func (w *workerWatch) wake() {
	select {
	case w.begun <- struct{}{}:
	default:
	}
}

// run looks at the statements under way, as long as there are any.
func (w *workerWatch) run(ctx context.Context) {
	for {
		select {
		case <-w.begun:
		case <-ctx.Done():
			return
		}
		for pause := time.Duration(lookEvery); pause > 0; {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			pause = w.look(ctx)
		}
	}
}

// look checks the workers if that is due. It returns when to look again, or 0
// if there is nothing to watch.
func (w *workerWatch) look(ctx context.Context) time.Duration {
	if w.due() {
		within, cancel := context.WithTimeout(ctx, WriteTime)
		_, _ = w.now(within) // after an error, the coordinator is unavailable
		cancel()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case len(w.last.silent) > 0:
		return checkEvery
	case len(w.under) > 0 || w.suspect:
		return lookEvery
	}
	return 0
}

// due reports whether a worker did not respond at the last check, or a statement
// has failed or takes long.
func (w *workerWatch) due() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := w.suspect || len(w.last.silent) > 0
	w.suspect = false
	for u := range w.under {
		if took := time.Since(u.since); took >= u.patience {
			u.patience, due = 2*took, true
		}
	}
	return due
}

// now checks the workers.
func (w *workerWatch) now(ctx context.Context) (workerState, error) {
	state, err := w.check(ctx)
	if err != nil {
		return state, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.last
	w.last = state
	switch {
	case state.down > before.down:
		w.log.Error("workers of the Citus cluster do not respond; requests of their organisations are refused, others are served", "down", state.down, "up", state.up)
		w.wake()
	case state.down < before.down:
		w.log.Info("workers of the Citus cluster respond again", "down", state.down, "up", state.up)
	}
	for u := range w.under {
		if u.meets(state.silent) {
			u.cancel(errSilent)
		}
	}
	return state, nil
}
