package engine

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// writer owns the only connection that writes to a SQLite file. It runs all
// waiting writes in one transaction, each but the first in a savepoint, and
// reports their results after COMMIT, so that a hundred writes share one fsync. The
// transactions are in batch.go.
type writer struct {
	conn    *sqliteConn
	allowed func() error // returns an error if nothing may be written now
	turns   turns
	jobs    chan *job
	asides  chan func(*sqliteConn)
	closing chan struct{}
	done    chan struct{}
	accepts time.Duration // how long a batch accepts more writes
	once    sync.Once
	err     error
	metrics *writerMetrics
	observe Observe
}

// job is a queued write.
type job struct {
	ctx    context.Context
	fn     func(Tx) error
	since  time.Time
	answer chan error
	err    error
	writes int // how many it combines
	// taken is set by the writer when it starts the write, or by the caller
	// when it gives up, whichever comes first.
	taken atomic.Bool
}

// take marks the write as started, and reports whether its caller is still
// waiting.
func (j *job) take() bool { return j.ctx.Err() == nil && !j.taken.Swap(true) }

func startWriter(conn *sqliteConn, lock *os.File, allowed func() error, m *writerMetrics, observe Observe) *writer {
	w := &writer{conn: conn, allowed: allowed, turns: newTurns(lock), jobs: make(chan *job, 1024), asides: make(chan func(*sqliteConn)), closing: make(chan struct{}), done: make(chan struct{}), accepts: batchTime, metrics: m, observe: observe}
	go w.loop()
	return w
}

// do queues a write and waits until it is durable. The context is honoured
// while the write is queued; once started, the write runs to completion.
func (w *writer) do(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{ctx: ctx, fn: fn, since: time.Now(), answer: make(chan error, 1), writes: 1}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closing:
		return errClosed
	}
	gone := ctx.Done()
	for {
		select {
		case err := <-j.answer:
			w.metrics.writeWait.Observe(time.Since(j.since).Seconds())
			return err
		case <-gone:
			if !j.taken.Swap(true) {
				w.metrics.writeWait.Observe(time.Since(j.since).Seconds()) // shows a stuck writer in the metrics
				return ctx.Err()
			}
			gone = nil // it has started
		case <-w.done:
			select {
			case err := <-j.answer:
				return err
			default:
				return errClosed
			}
		}
	}
}

// aside runs fn on the writer's connection between two transactions.
func (w *writer) aside(ctx context.Context, fn func(*sqliteConn) error) error {
	answer := make(chan error, 1)
	select {
	case w.asides <- func(c *sqliteConn) { answer <- fn(c) }:
		return <-answer
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closing:
		return errClosed
	}
}

// close completes the queued writes and closes the connection. It may be called
// more than once.
func (w *writer) close() error {
	w.once.Do(func() {
		close(w.closing)
		<-w.done
		w.err = w.conn.close()
	})
	return w.err
}

func (w *writer) loop() {
	defer close(w.done)
	for {
		select {
		case j := <-w.jobs:
			w.batch(j)
		case fn := <-w.asides:
			fn(w.conn)
		case <-w.closing:
			for {
				select {
				case j := <-w.jobs:
					w.batch(j)
				default:
					return
				}
			}
		}
	}
}
