package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"
)

// handshakes is a listener whose connections have their TLS handshake behind
// them. net/http would make it itself; but of HTTP/1 it would then read and write
// on the connection of crypto/tls, of which nothing can be seen in between.
type handshakes struct {
	*connections
	config *tls.Config
	within time.Duration
	ready  chan net.Conn
	failed chan error
	ctx    context.Context
	stop   context.CancelFunc
}

func newHandshakes(room *connections, config *tls.Config, within time.Duration) *handshakes {
	h := &handshakes{connections: room, config: config, within: within, ready: make(chan net.Conn), failed: make(chan error)}
	h.ctx, h.stop = context.WithCancel(context.Background())
	go h.run()
	return h
}

func (h *handshakes) run() {
	for {
		conn, err := h.connections.Accept()
		if err != nil {
			select {
			case h.failed <- err: // net/http decides how to go on, and waits before it asks again
			case <-h.ctx.Done():
			}
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		go h.greet(conn.(*connection))
	}
}

// greet makes the handshake of one connection and hands it on.
func (h *handshakes) greet(conn *connection) {
	ctx, cancel := context.WithTimeout(h.ctx, h.within)
	defer cancel()
	secure := tls.Server(conn, h.config)
	if err := secure.HandshakeContext(ctx); err != nil { // which has closed the connection if time ran out
		h.sayPlain(conn, err)
		h.log.Debug("TLS handshake failed", "error", err)
		h.drop(conn)
		return
	}
	var next net.Conn = secure // net/http speaks HTTP/2 on it
	if secure.ConnectionState().NegotiatedProtocol != "h2" {
		next = &secured{Conn: secure}
	}
	select {
	case h.ready <- next:
	case <-h.ctx.Done():
		h.drop(conn)
	}
}

// sayPlain tells a caller who speaks HTTP without TLS to use it.
func (h *handshakes) sayPlain(conn *connection, err error) {
	record, ok := errors.AsType[tls.RecordHeaderError](err)
	if !ok || record.Conn == nil {
		return
	}
	switch string(record.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "PATCH", "DELET":
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write([]byte("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"))
	}
}

// Accept waits for the next connection that has made its handshake.
func (h *handshakes) Accept() (net.Conn, error) {
	select {
	case conn := <-h.ready:
		return conn, nil
	case err := <-h.failed:
		return nil, err
	case <-h.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close stops listening, and ends handshakes that are under way.
func (h *handshakes) Close() error {
	h.stop()
	return h.connections.Close()
}

// secured is a connection on which HTTP/1 is spoken over TLS.
type secured struct{ *tls.Conn }

func (s *secured) connection() *connection { return s.NetConn().(*connection) }

// Read hands on what is read, one request at a time.
func (s *secured) Read(p []byte) (int, error) { return s.connection().framing.read(p, s.Conn.Read) }

// Write puts the service's answer in the place of a refusal by net/http.
func (s *secured) Write(b []byte) (int, error) {
	return s.connection().room.speak(b, s.RemoteAddr(), s.Conn.Write)
}
