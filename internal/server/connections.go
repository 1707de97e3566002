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

// connections is a listener that bounds how many connections are open at a
// time. When there are as many as may be, room is made by closing connections
// that wait for their caller, of the address that has the most of those; see
// room.go. When there is none to be made, a few more are let in whose requests
// are answered only if they are health checks, and beyond those the next one is
// told to come again. So whoever opens connections and leaves them costs the
// others nothing, and the files that the process itself needs are never used
// up.
type connections struct {
	net.Listener
	most  int
	spare int // let in beyond most
	log   *slog.Logger
	// answer is what a caller is told whom no handler answers; nil where nothing
	// can be said, as before a TLS handshake.
	answer func(status int, peer string) []byte
	// proxies speak for many callers. source is the one that a request comes
	// from.
	proxies []netip.Prefix
	source  func(*http.Request) netip.Addr
	// encrypted is true when what is read and written is TLS.
	encrypted bool
	refused   chan struct{} // holds one for each caller who is being told

	mu       sync.Mutex
	open     int       // of which spares
	spares   int       // are let in beyond most
	idle     ring.Ring // the seats of idle connections follow it, the longest idle first
	busy     ring.Ring // the seats of all others
	origins  map[netip.Addr]*origin
	searches uint64
	warned   time.Time

	gauge prometheus.Gauge
	shed  *prometheus.CounterVec
}

// connection is one of them. It has its seat itself, so that a request, which
// makes it busy and idle again, looks for nothing and makes nothing. What else
// a TCP connection can do, such as sending files, net/http finds on it.
type connection struct {
	*net.TCPConn
	room *connections
	// framing follows what is read, unless it is encrypted.
	framing framing
	// The caller is waited for while it sends a body, and while it takes an
	// answer.
	sending, taking wait
	// spare is true of one that was let in beyond the bound.
	spare atomic.Bool
	// The room's lock guards these.
	seat       ring.Ring // its Value is the connection
	idle, gone bool
	served     bool
	since      time.Time // when it came or became idle
	peer       *origin   // where it comes from
	origin     *origin   // whose it is now; another when a proxy says so
}

func newConnections(l net.Listener, most int, log *slog.Logger, registry prometheus.Registerer) *connections {
	c := &connections{
		Listener: l, most: most, spare: min(max(most/20, 8), 64), log: log, refused: make(chan struct{}, 32), origins: map[netip.Addr]*origin{},
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{Name: "anodyne_http_connections", Help: "Open connections of the public listener."}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anodyne_http_connections_shed_total",
			Help: "Connections closed at the connection limit: idle or slow ones to make room, and new ones because all others were busy."}, []string{"kind"}),
	}
	for _, kind := range []string{"idle", "slow", "refused"} {
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
				c.warn("out of file descriptors; closing idle connections", "error", err)
				c.mu.Lock()
				c.makeRoom(netip.IPv6Unspecified(), time.Now())
				c.mu.Unlock()
			}
			return nil, err // after which net/http waits a little
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

// enter counts a connection in, if there is room or can be made.
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
	c.rest(conn, now) // until it has sent the head of a request
	c.open++
	c.gauge.Set(float64(c.open))
	return true
}

// rest puts a connection behind all that are idle.
func (c *connections) rest(conn *connection, now time.Time) {
	c.idle.Prev().Link(&conn.seat)
	conn.idle, conn.since = true, now
}

// wake takes a connection from those that are idle.
func (c *connections) wake(conn *connection) {
	conn.seat.Prev().Unlink(1)
	c.busy.Prev().Link(&conn.seat)
	conn.idle, conn.served = false, true
}

// leave counts a connection out.
func (c *connections) leave(conn *connection) {
	if conn.gone {
		return // it was closed for another
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

// drop closes a connection that the server does not have yet.
func (c *connections) drop(conn *connection) {
	_ = conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(conn)
}

// close closes a connection for another.
func (c *connections) close(conn *connection, kind string) {
	c.leave(conn)
	_ = conn.Close() // which ends what reads from it
	c.shed.WithLabelValues(kind).Inc()
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
		if c.answer == nil || c.encrypted || conn.SetDeadline(time.Now().Add(time.Second)) != nil {
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
	conn := under(served)
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

// under is the connection that the server has, perhaps below TLS.
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

// context lets the handler find the connection of a request.
func (c *connections) context(ctx context.Context, served net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, under(served))
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

// Read hands on what is read, one request at a time.
func (c *connection) Read(p []byte) (int, error) {
	if c.room.encrypted {
		return c.TCPConn.Read(p)
	}
	return c.framing.read(p, c.TCPConn.Read)
}

// Write puts the service's answer in the place of a refusal by net/http.
func (c *connection) Write(b []byte) (int, error) {
	c.taking.begin()
	defer c.taking.end()
	if c.room.encrypted {
		return c.TCPConn.Write(b)
	}
	return c.room.speak(b, c.RemoteAddr(), c.TCPConn.Write)
}
