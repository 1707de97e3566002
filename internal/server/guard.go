package server

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// guard runs before all handlers. It rejects requests that must not be
// handled, records which callers are being waited for, and enforces a minimum
// rate for bodies.
type guard struct {
	room   *connections
	answer func(w http.ResponseWriter, r *http.Request, status int) // to a request that is not handled
	next   http.Handler
	limits timeouts
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		g.next.ServeHTTP(w, r)
		return
	}
	if r.ProtoMajor == 1 && !conn.framing.handle(!r.ProtoAtLeast(1, 1)) {
		g.refuse(w, r, conn, http.StatusBadRequest)
		return
	}
	if conn.spare.Load() && !g.room.promote(conn) && !isHealthCheck(r) {
		g.room.shed.WithLabelValues("refused").Inc()
		g.refuse(w, r, conn, http.StatusServiceUnavailable)
		return
	}
	g.room.comesFrom(conn, r)
	if r.Body != nil && r.Body != http.NoBody {
		body := &paced{ReadCloser: r.Body, control: http.NewResponseController(w), conn: conn, limits: g.limits, began: time.Now()}
		body.begin()
		if r.ProtoMajor > 1 {
			defer body.end()
		} // otherwise net/http may wait for the rest
		r.Body = body
	}
	if r.ProtoMajor > 1 {
		w = &stream{w, conn}
	}
	g.next.ServeHTTP(w, r)
}

// refuse responds to a request that is not handled, and does not wait long for
// the rest of it.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request, conn *connection, status int) {
	conn.sending.begin()
	if r.ProtoMajor > 1 {
		defer conn.sending.end()
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)) // not all connections support it
	g.answer(w, r, status)
}

// isHealthCheck reports whether the request is a health check, which is served
// even if no others are.
func isHealthCheck(r *http.Request) bool {
	return (r.URL.Path == "/readyz" || r.URL.Path == "/healthz") && (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Body == http.NoBody
}

// promote gives a spare connection a regular place, if there is one by now.
func (c *connections) promote(conn *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open-c.spares >= c.most {
		return false
	}
	if conn.spare.CompareAndSwap(true, false) && !conn.gone {
		c.spares--
	}
	return true
}

// comesFrom attributes a connection from a proxy to the caller of its request.
func (c *connections) comesFrom(conn *connection, r *http.Request) {
	if len(c.proxies) == 0 || !conn.peer.proxy {
		return
	}
	from := network(c.source(r))
	c.mu.Lock()
	defer c.mu.Unlock()
	if !conn.gone && conn.origin.addr != from {
		c.attribute(conn, c.hold(from))
	}
}

// leastRate is the minimum average rate of a body, in bytes per second.
const leastRate = 1 << 10

// paced is a body with a time limit for its next part and a minimum rate for
// the whole.
type paced struct {
	io.ReadCloser
	control  *http.ResponseController
	conn     *connection
	limits   timeouts
	began    time.Time
	read     int64
	deadline time.Time
	ended    bool
}

func (p *paced) begin() {
	p.conn.sending.begin()
	p.until(p.began.Add(p.limits.stall))
}

func (p *paced) until(deadline time.Time) {
	p.deadline = deadline
	_ = p.control.SetReadDeadline(deadline) // not all connections support it
}

// end records that the caller is no longer waited for.
func (p *paced) end() {
	if !p.ended {
		p.ended = true
		p.conn.sending.end()
	}
}

func (p *paced) Read(b []byte) (n int, err error) {
	n, err = p.ReadCloser.Read(b)
	p.read += int64(n)
	switch {
	case errors.Is(err, io.EOF) && !p.ended:
		p.end()
		p.until(time.Time{})
		if now := time.Now(); now.Sub(p.began) > time.Second { // the time for the response starts here
			_ = p.control.SetWriteDeadline(now.Add(p.limits.write))
		}
	case err == nil && n > 0:
		next := time.Now().Add(p.limits.stall)
		if most := p.began.Add(p.limits.stall + time.Duration(p.read)*time.Second/leastRate); most.Before(next) {
			next = most
		}
		if next.Sub(p.deadline) >= p.limits.stall/20 {
			p.until(next)
		}
	}
	return n, err
}

// stream is an HTTP/2 response. Its caller may stall it without stalling the
// connection.
type stream struct {
	http.ResponseWriter
	conn *connection
}

func (s *stream) Write(b []byte) (int, error) {
	s.conn.taking.begin()
	defer s.conn.taking.end()
	return s.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController access to the stream.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }
