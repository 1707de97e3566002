package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/testwait"
)

// line is a listener that knows its connections.
type line struct {
	net.Listener
	mu    sync.Mutex
	ends  []*end
	after int // connections up to this one were lost
}

// end is an accepted connection.
type end struct {
	net.Conn
	lost   chan struct{} // closed when the machine is gone
	reset  bool          // its successor at the address responds
	closed chan struct{}
	once   sync.Once

	mu    sync.Mutex
	reads []time.Time // deadlines
	wrote []time.Time
}

func (l *line) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	e := &end{Conn: conn, lost: make(chan struct{}), closed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = append(l.ends, e)
	return e, nil
}

// vanish makes the machine at the end of all connections go away without a word.
// If reset is set, another one at its address knows nothing of them.
func (l *line) vanish(reset bool) (connections int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	gone := l.ends[l.after:]
	l.after = len(l.ends)
	for _, e := range gone {
		e.reset = reset
		close(e.lost)
	}
	return len(gone)
}

func (l *line) first() *end {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends[0]
}

func (e *end) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	select {
	case <-e.lost:
	default:
		return n, err
	}
	if e.reset {
		err = errors.Join(e.Conn.(*net.TCPConn).SetLinger(0), e.Close())
	} else {
		<-e.closed
	}
	return 0, errors.Join(err, net.ErrClosed)
}

func (e *end) Close() error {
	e.once.Do(func() { close(e.closed) })
	return e.Conn.Close()
}

func (e *end) SetReadDeadline(t time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reads = append(e.reads, t)
	return e.Conn.SetReadDeadline(t)
}

func (e *end) SetWriteDeadline(t time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wrote = append(e.wrote, t)
	return e.Conn.SetWriteDeadline(t)
}

// A question succeeds although the pooled connections are those of a process
// that was at the address before.
func TestPredecessorsConnections(t *testing.T) {
	for _, reset := range []bool{true, false} {
		t.Run(fmt.Sprint("reset ", reset), func(t *testing.T) {
			var both sync.WaitGroup
			both.Add(2)
			_, l := startWithin(t, time.Minute, func(_ context.Context, question []byte) ([]byte, error) {
				if len(question) > 0 {
					both.Done()
					both.Wait()
				}
				return question, nil
			})
			address, c := l.Addr().String(), client(t, "ours")
			results := make(chan error, 2)
			for range 2 {
				go func() {
					_, err := c.Ask(t.Context(), address, self, []byte("at once"))
					results <- err
				}()
			}
			if err := errors.Join(<-results, <-results); err != nil {
				t.Fatal(err)
			}
			if n := l.vanish(reset); n != 2 {
				t.Fatalf("%d connections, want 2", n)
			}
			if !reset { // one question must find out
				c.silence = 50 * time.Millisecond
				if _, err := c.Ask(t.Context(), address, self, nil); !errors.Is(err, errSilent) {
					t.Fatalf("error %v, want that it is silent", err)
				}
				c.silence = time.Minute
			}
			if _, err := c.Ask(t.Context(), address, self, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// ask sends the beginning of a request as a node of the database.
func ask(t *testing.T, address, text string) net.Conn {
	t.Helper()
	conn, err := tls.Dial("tcp", address, identity(t, "ours").config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testwait.Bound)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%s: %d\r\n%s", path, nodeHeader, self, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// A node that was stopped, whose connections stay open, does not keep a place.
func TestStoppedAsker(t *testing.T) {
	asked := make(chan struct{}, 1)
	s, l := startWithin(t, 50*time.Millisecond, func(context.Context, []byte) ([]byte, error) {
		asked <- struct{}{}
		return make([]byte, 64<<20), nil // more than the buffers of the kernel
	})
	ask(t, l.Addr().String(), "Content-Length: 0\r\n\r\n")
	<-asked
	testwait.Until(t, "its place is free", func() bool { return s.Asked() == 0 })
}

// Neither does one that does not send its question.
func TestUnfinishedQuestion(t *testing.T) {
	s, l := startWithin(t, 50*time.Millisecond, echo)
	conn := ask(t, l.Addr().String(), "Content-Length: 10\r\n\r\nhalf")
	if response, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(response), "200 OK") {
		t.Errorf("%q, %v", response, err)
	}
	testwait.Until(t, "its place is free", func() bool { return s.Asked() == 0 })
}

// The time limits apply to the next step only: none to working on a question, and
// a new one to each part of an answer.
func TestTimeLimitsAreOfOneStep(t *testing.T) {
	const parts = 5
	var l *line
	var limit time.Time
	started := make(chan struct{})
	_, l = startWithin(t, time.Minute, func(context.Context, []byte) ([]byte, error) {
		<-started
		e := l.first()
		e.mu.Lock()
		defer e.mu.Unlock()
		limit, e.wrote = e.reads[len(e.reads)-1], nil
		return make([]byte, parts*partSize), nil
	})
	close(started)
	answer, err := client(t, "ours").Ask(t.Context(), l.Addr().String(), self, nil)
	if err != nil || len(answer) != parts*partSize {
		t.Fatalf("%d bytes, %v", len(answer), err)
	}
	e := l.first()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !limit.IsZero() {
		t.Errorf("a question must be answered by %v", limit)
	}
	limits := slices.DeleteFunc(e.wrote, time.Time.IsZero) // net/http ends them afterwards
	if slices.SortFunc(limits, time.Time.Compare); len(slices.Compact(limits)) < parts {
		t.Errorf("an answer of %d parts has the time limits %v", parts, limits)
	}
}
