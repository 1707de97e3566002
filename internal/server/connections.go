package server

import (
	"container/ring"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// connections is a listener that limits the number of open connections. At the
// limit, it makes room by closing connections that wait for their caller, from
// the address that has the most of these; see room.go. If it cannot make room,
// it accepts a few spare connections, on which only health checks are served,
// and responds to any further one that it should retry later. So connections
// that are opened and left idle do not affect other callers, and the file
// descriptors that the process needs are never used up.
type connections struct {
	net.Listener
	most  int
	spare int // accepted beyond most
	log   *slog.Logger
	// answer builds the response to a caller that no handler serves. It is nil
	// if no response is possible, as before a TLS handshake.
	answer func(status int, peer string) []byte
	// proxies serve many callers. source returns the caller of a request.
	proxies []netip.Prefix
	source  func(*http.Request) netip.Addr
	// encrypted is set if the raw bytes are TLS.
	encrypted bool
	refused   chan struct{} // has one element per caller being refused
	patience  time.Duration // see timeouts

	mu       sync.Mutex
	open     int       // number of connections, including spares
	spares   int       // number accepted beyond most
	idle     ring.Ring // seats of idle connections, longest idle first
	busy     ring.Ring // seats of all others
	origins  map[netip.Addr]*origin
	searches uint64
	warned   time.Time

	gauge prometheus.Gauge
	shed  *prometheus.CounterVec
}

// connection is an accepted connection. It embeds its seat, so that switching
// between busy and idle on each request needs no lookup and no allocation.
// Other methods of a TCP connection, such as sending files, remain available
// to net/http.
type connection struct {
	*net.TCPConn
	room *connections
	// framing tracks the requests read, unless the bytes are encrypted.
	framing framing
	// Waits for the caller: to send a body, and to receive a response.
	sending, taking wait
	// spare is set if the connection was accepted beyond the limit.
	spare atomic.Bool
	// Guarded by the lock of connections.
	seat       ring.Ring // its Value is the connection
	idle, gone bool
	served     bool
	since      time.Time // time of accept or of becoming idle
	peer       *origin   // address of the connection
	origin     *origin   // current caller; differs from peer behind a proxy
}

// newConnections limits the connections of a listener. name is that of the gauge,
// and of says in its description whose connections they are.
func newConnections(l net.Listener, most int, log *slog.Logger, registry prometheus.Registerer, name, of string) *connections {
	c := &connections{
		Listener: l, most: most, spare: min(max(most/20, 8), 64), log: log, refused: make(chan struct{}, 32), patience: limits.patience, origins: map[netip.Addr]*origin{},
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "Open connections of " + of + "."}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: name + "_shed_total",
			Help: "Connections of " + of + " closed at the connection limit: idle or slow ones to make room, and new ones because all others were busy."}, []string{"kind"}),
	}
	for _, kind := range []string{"idle", "slow", "refused"} {
		c.shed.WithLabelValues(kind)
	}
	registry.MustRegister(c.gauge, c.shed)
	return c
}

// Accept waits for the next connection for which there is room.
func (c *connections) Accept() (net.Conn, error) {
	for {
		accepted, err := c.Listener.Accept()
		if err != nil {
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				c.warn("out of file descriptors; closing idle connections", "error", err)
				c.mu.Lock()
				c.makeRoom(netip.IPv6Unspecified(), time.Now())
				c.mu.Unlock()
			}
			return nil, err // net/http waits a little and retries
		}
		conn := &connection{TCPConn: accepted.(*net.TCPConn), room: c}
		if c.enter(conn) {
			return conn, nil
		}
		c.shed.WithLabelValues("refused").Inc()
		c.warn("connection limit reached; new connection refused", "max_connections", c.most)
		c.refuse(accepted)
	}
}

// enter adds a connection if there is room or room can be made.
func (c *connections) enter(conn *connection) bool {
	from, now := originOf(conn.RemoteAddr()), time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open-c.spares >= c.most && !c.makeRoom(from, now) {
		if c.spares >= c.spare && !c.closeSpare(now) {
			return false
		}
		conn.spare.Store(true)
		c.spares++
	}
	conn.seat.Value = conn
	conn.peer = c.hold(from)
	conn.origin = conn.peer
	c.rest(conn, now) // idle until it has sent a request header
	c.open++
	c.gauge.Set(float64(c.open))
	return true
}

// rest appends a connection to the idle list.
func (c *connections) rest(conn *connection, now time.Time) {
	c.idle.Prev().Link(&conn.seat)
	conn.idle, conn.since = true, now
}

// wake removes a connection from the idle list.
func (c *connections) wake(conn *connection) {
	conn.seat.Prev().Unlink(1)
	c.busy.Prev().Link(&conn.seat)
	conn.idle, conn.served = false, true
}

// leave removes a connection.
func (c *connections) leave(conn *connection) {
	if conn.gone {
		return // already closed to make room
	}
	conn.gone = true
	conn.seat.Prev().Unlink(1)
	c.letGo(conn.origin)
	if conn.peer != conn.origin {
		c.letGo(conn.peer)
	}
	if conn.spare.Load() {
		c.spares--
	}
	c.open--
	c.gauge.Set(float64(c.open))
}

// drop closes a connection that was not yet passed to the server.
func (c *connections) drop(conn *connection) {
	_ = conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(conn)
}

// close closes a connection to make room for another.
func (c *connections) close(conn *connection, kind string) {
	c.leave(conn)
	_ = conn.Close() // ends pending reads
	c.shed.WithLabelValues(kind).Inc()
}

// refuse responds to a caller, if possible, that it should retry later. It
// does not block other callers.
func (c *connections) refuse(conn net.Conn) {
	select {
	case c.refused <- struct{}{}:
	default: // too many refusals in progress
		_ = conn.Close()
		return
	}
	go func() {
		defer func() { <-c.refused }()
		defer conn.Close()
		if c.answer == nil || c.encrypted || conn.SetDeadline(time.Now().Add(time.Second)) != nil {
			return
		}
		if _, err := conn.Write(c.answer(http.StatusServiceUnavailable, conn.RemoteAddr().String())); err != nil {
			return
		}
		if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			// Closing with unread data resets the connection and loses the
			// response.
			_, _ = io.Copy(io.Discard, io.LimitReader(conn, 64<<10))
		}
	}()
}

// state handles a change of a connection's state, as reported by the server.
func (c *connections) state(served net.Conn, state http.ConnState) {
	conn := under(served)
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.gone {
		return // already closed to make room
	}
	switch state {
	case http.StateActive:
		if conn.idle {
			c.wake(conn)
		}
	case http.StateIdle:
		c.attribute(conn, conn.peer)
		if _, two := served.(*tls.Conn); !two {
			conn.sending.clear()
			if !conn.framing.settled() {
				c.leave(conn)
				_ = conn.Close()
				return
			}
		}
		if !conn.idle {
			conn.seat.Prev().Unlink(1)
			c.rest(conn, time.Now())
		}
	case http.StateClosed, http.StateHijacked:
		c.leave(conn)
	}
}

// under returns the connection below served, which may be a TLS connection.
func under(served net.Conn) *connection {
	switch conn := served.(type) {
	case *tls.Conn: // HTTP/2
		return conn.NetConn().(*connection)
	case *secured:
		return conn.connection()
	}
	return served.(*connection)
}

type connectionKey struct{}

// context makes the connection available to the handler of a request.
func (c *connections) context(ctx context.Context, served net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, under(served))
}

// warn logs a warning at most once a minute.
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

// Read returns data of one request at a time.
func (c *connection) Read(p []byte) (int, error) {
	if c.room.encrypted {
		return c.TCPConn.Read(p)
	}
	return c.framing.read(p, c.TCPConn.Read)
}

// Write replaces a refusal by net/http with the service's own response.
func (c *connection) Write(b []byte) (int, error) {
	c.taking.begin()
	defer c.taking.end()
	if c.room.encrypted {
		return c.TCPConn.Write(b)
	}
	return c.room.speak(b, c.RemoteAddr(), c.TCPConn.Write)
}
