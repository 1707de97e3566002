package server

import (
	"container/ring"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// connections is a listener that bounds how many connections are open at a
// time. When there are as many as may be, the one that has been idle for the
// longest is closed for the next; when all of them are busy, the next one is
// told to come again. So whoever opens connections and leaves them costs the
// others nothing, and the files that the process itself needs are never used
// up.
type connections struct {
	net.Listener
	most int
	log  *slog.Logger
	// answer is what a caller is told whom no handler answers; nil where nothing
	// can be said, as before a TLS handshake.
	answer  func(status int, peer string) []byte
	refused chan struct{} // holds one for each caller who is being told

	mu     sync.Mutex
	open   int
	idle   ring.Ring // the seats of idle connections follow it, the longest idle first
	warned time.Time

	gauge prometheus.Gauge
	shed  *prometheus.CounterVec
}

// connection is one of them. It has its seat itself, so that a request, which
// makes it busy and idle again, looks for nothing and makes nothing. What else
// a TCP connection can do, such as sending files, net/http finds on it.
type connection struct {
	*net.TCPConn
	// answer speaks for net/http; see refusals.go. It is nil with TLS.
	answer func(status int, peer string) []byte
	// The room's lock guards these.
	seat       ring.Ring // its Value is the connection
	idle, gone bool
}

func newConnections(l net.Listener, most int, log *slog.Logger, registry prometheus.Registerer) *connections {
	c := &connections{
		Listener: l, most: most, log: log, refused: make(chan struct{}, 32),
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{Name: "anodyne_http_connections", Help: "Open connections of the public listener."}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anodyne_http_connections_shed_total",
			Help: "Connections closed for want of room: idle ones for others, and new ones refused because all are busy."}, []string{"kind"}),
	}
	for _, kind := range []string{"idle", "refused"} {
		c.shed.WithLabelValues(kind)
	}
	registry.MustRegister(c.gauge, c.shed)
	return c
}

// Accept waits for the next connection that there is room for.
func (c *connections) Accept() (net.Conn, error) {
	for {
		accepted, err := c.Listener.Accept()
		if err != nil {
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				c.warn("no file is left for a new connection; idle ones are closed", "error", err)
				c.mu.Lock()
				c.closeIdle()
				c.mu.Unlock()
			}
			return nil, err // after which net/http waits a little
		}
		conn := &connection{TCPConn: accepted.(*net.TCPConn), answer: c.answer}
		if c.enter(conn) {
			return conn, nil
		}
		c.shed.WithLabelValues("refused").Inc()
		c.warn("no room for a new connection", "max_connections", c.most)
		c.refuse(accepted)
	}
}

// enter counts a connection in, if there is room or can be made.
func (c *connections) enter(conn *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.most && !c.closeIdle() {
		return false
	}
	conn.seat.Value = conn
	c.rest(conn) // until it has sent the head of a request
	c.open++
	c.gauge.Set(float64(c.open))
	return true
}

// rest puts a connection behind all that are idle.
func (c *connections) rest(conn *connection) {
	c.idle.Prev().Link(&conn.seat)
	conn.idle = true
}

// wake takes a connection from those that are idle.
func (c *connections) wake(conn *connection) {
	conn.seat.Prev().Unlink(1)
	conn.idle = false
}

// leave counts a connection out.
func (c *connections) leave(conn *connection) {
	if conn.idle {
		c.wake(conn)
	}
	conn.gone = true
	c.open--
	c.gauge.Set(float64(c.open))
}

// closeIdle closes the connection that has been idle for the longest.
func (c *connections) closeIdle() bool {
	first, some := c.idle.Next().Value.(*connection)
	if !some {
		return false
	}
	c.leave(first)
	_ = first.Close() // which ends what reads from it
	c.shed.WithLabelValues("idle").Inc()
	return true
}

// refuse tells a caller to come again, as far as that can be said, without
// keeping anybody else waiting.
func (c *connections) refuse(conn net.Conn) {
	select {
	case c.refused <- struct{}{}:
	default: // enough are being told
		_ = conn.Close()
		return
	}
	go func() {
		defer func() { <-c.refused }()
		defer conn.Close()
		if c.answer == nil || conn.SetDeadline(time.Now().Add(time.Second)) != nil {
			return
		}
		if _, err := conn.Write(c.answer(http.StatusServiceUnavailable, conn.RemoteAddr().String())); err != nil {
			return
		}
		if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			// What is closed with something unread is reset, and the answer lost.
			_, _ = io.Copy(io.Discard, io.LimitReader(conn, 64<<10))
		}
	}()
}

// state is told by the server what becomes of a connection.
func (c *connections) state(served net.Conn, state http.ConnState) {
	if secure, ok := served.(*tls.Conn); ok {
		served = secure.NetConn()
	}
	conn := served.(*connection)
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.gone {
		return // it was closed for another
	}
	switch state {
	case http.StateActive:
		if conn.idle {
			c.wake(conn)
		}
	case http.StateIdle:
		if !conn.idle {
			c.rest(conn)
		}
	case http.StateClosed, http.StateHijacked:
		c.leave(conn)
	}
}

// warn says something at most once a minute.
func (c *connections) warn(message string, args ...any) {
	c.mu.Lock()
	due := time.Since(c.warned) > time.Minute
	if due {
		c.warned = time.Now()
	}
	c.mu.Unlock()
	if due {
		c.log.Warn(message, args...)
	}
}
