package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A writer owns the one connection that writes to a SQLite file. It takes all
// writes that are waiting into one transaction, a savepoint each, and answers
// them after the COMMIT: a hundred writers share one fsync. The transactions
// are in batch.go.
type writer struct {
	conn    *sqliteConn
	jobs    chan *job
	asides  chan func(*sqliteConn)
	closing chan struct{}
	done    chan struct{}
	once    sync.Once
	err     error
	metrics *writerMetrics
	observe Observe
}

// job is a write that waits.
type job struct {
	ctx    context.Context
	fn     func(Tx) error
	since  time.Time
	answer chan error
	err    error
	// taken is set by whoever comes first: the writer that starts the write,
	// or the caller who goes away.
	taken atomic.Bool
}

// take starts a write, unless its caller has gone.
func (j *job) take() bool { return j.ctx.Err() == nil && !j.taken.Swap(true) }

func startWriter(conn *sqliteConn, m *writerMetrics, observe Observe) *writer {
	w := &writer{conn: conn, jobs: make(chan *job, 1024), asides: make(chan func(*sqliteConn)), closing: make(chan struct{}), done: make(chan struct{}), metrics: m, observe: observe}
	go w.loop()
	return w
}

// do hands a write in and waits until it is durable. The context is honoured
// while the write is queued; once it has started, it is finished.
func (w *writer) do(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{ctx: ctx, fn: fn, since: time.Now(), answer: make(chan error, 1)}
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
				w.metrics.writeWait.Observe(time.Since(j.since).Seconds()) // a stuck writer must show
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

// aside runs something on the writer's connection between two transactions.
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

// close finishes what is queued and closes the connection. Twice is safe.
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
