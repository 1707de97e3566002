package server

import (
	"io"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// linesEvery is how long a line is buffered at most, and linesFull the
	// number of bytes that are written at once.
	linesEvery = 50 * time.Millisecond
	linesFull  = 64 << 10
	// linesMost limits the buffer for an output that blocks.
	linesMost = 4 << 20
	// linesGoodbye is how long a shutdown waits for such an output.
	linesGoodbye = 5 * time.Second
)

// lineBuffer writes lines in the background and in batches, so that no request
// pays for a system call or waits for a log reader. If the output does not
// keep up, lines are dropped and counted.
type lineBuffer struct {
	out     io.Writer
	dropped prometheus.Counter

	mu      sync.Mutex
	lines   []byte
	begun   chan struct{} // signals that there are lines
	full    chan struct{} // signals that they should be written at once
	closing chan struct{}
	done    chan struct{}
	once    sync.Once
}

func newLineBuffer(out io.Writer, registry prometheus.Registerer) *lineBuffer {
	b := &lineBuffer{
		out: out, begun: make(chan struct{}, 1), full: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_request_log_dropped_total", Help: "Request log lines dropped because the log could not be written fast enough.",
		}),
	}
	registry.MustRegister(b.dropped)
	go b.run()
	return b
}

// Write buffers a line. It never fails and never blocks.
func (b *lineBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	before := len(b.lines)
	if before+len(line) > linesMost {
		b.mu.Unlock()
		b.dropped.Inc()
		return len(line), nil
	}
	b.lines = append(b.lines, line...)
	b.mu.Unlock()
	if before == 0 {
		signal(b.begun)
	}
	if before < linesFull && before+len(line) >= linesFull {
		signal(b.full)
	}
	return len(line), nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (b *lineBuffer) run() {
	defer close(b.done)
	var spare []byte
	for {
		select {
		case <-b.begun:
		case <-b.closing:
			b.flush(spare)
			return
		}
		wait := time.NewTimer(linesEvery)
		select {
		case <-wait.C:
		case <-b.full:
		case <-b.closing:
		}
		wait.Stop()
		spare = b.flush(spare)
	}
}

// flush writes the buffered lines and returns their memory for reuse.
func (b *lineBuffer) flush(spare []byte) []byte {
	b.mu.Lock()
	lines := b.lines
	b.lines = spare[:0]
	b.mu.Unlock()
	if len(lines) > 0 {
		_, _ = b.out.Write(lines) // a failing log cannot be reported
	}
	if cap(lines) > 4*linesFull {
		return nil // do not keep the memory of a backlog
	}
	return lines
}

// close writes the remaining lines. It may be called twice, and on nil.
func (b *lineBuffer) close() {
	if b == nil {
		return
	}
	b.once.Do(func() { close(b.closing) })
	select {
	case <-b.done:
	case <-time.After(linesGoodbye):
	}
}
