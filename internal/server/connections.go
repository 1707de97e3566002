package server

import (
	"container/list"
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
	// refusal is what a caller is told for whom there is no room; nil where
	// nothing can be said, as before a TLS handshake.
	refusal func(peer string) []byte
	refused chan struct{} // holds one for each caller who is being told

	mu     sync.Mutex
	open   map[net.Conn]*list.Element // nil while busy
	idle   list.List                  // of net.Conn, the longest idle first
	warned time.Time

	gauge prometheus.Gauge
	shed  *prometheus.CounterVec
}

func newConnections(l net.Listener, most int, log *slog.Logger, registry prometheus.Registerer) *connections {
	c := &connections{
		Listener: l, most: most, log: log, open: map[net.Conn]*list.Element{}, refused: make(chan struct{}, 32),
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
		conn, err := c.Listener.Accept()
		if err != nil {
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				c.warn("no file is left for a new connection; idle ones are closed", "error", err)
				c.mu.Lock()
				c.closeIdle()
				c.mu.Unlock()
			}
			return nil, err // after which net/http waits a little
		}
		if c.enter(conn) {
			return conn, nil
		}
		c.shed.WithLabelValues("refused").Inc()
		c.warn("no room for a new connection", "max_connections", c.most)
		c.refuse(conn)
	}
}

// enter counts a connection in, if there is room or can be made.
func (c *connections) enter(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= c.most && !c.closeIdle() {
		return false
	}
	c.open[conn] = c.idle.PushBack(conn) // until it has sent the head of a request
	c.gauge.Set(float64(len(c.open)))
	return true
}

// closeIdle closes the connection that has been idle for the longest.
func (c *connections) closeIdle() bool {
	first := c.idle.Front()
	if first == nil {
		return false
	}
	conn := c.idle.Remove(first).(net.Conn)
	delete(c.open, conn)
	_ = conn.Close() // which ends what reads from it
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
		if c.refusal == nil || conn.SetDeadline(time.Now().Add(time.Second)) != nil {
			return
		}
		if _, err := conn.Write(c.refusal(conn.RemoteAddr().String())); err != nil {
			return
		}
		if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			// What is closed with something unread is reset, and the answer lost.
			_, _ = io.Copy(io.Discard, io.LimitReader(conn, 64<<10))
		}
	}()
}

// state is told by the server what becomes of a connection.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	place, ours := c.open[conn]
	if !ours {
		return // it was closed for another
	}
	switch state {
	case http.StateActive:
		if place != nil {
			c.idle.Remove(place)
			c.open[conn] = nil
		}
	case http.StateIdle:
		if place == nil {
			c.open[conn] = c.idle.PushBack(conn)
		}
	case http.StateClosed, http.StateHijacked:
		if place != nil {
			c.idle.Remove(place)
		}
		delete(c.open, conn)
		c.gauge.Set(float64(len(c.open)))
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
