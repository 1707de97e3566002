package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"
)

// handshakes is a listener that performs the TLS handshake before it returns a
// connection. net/http could do it itself, but for HTTP/1 it would then read
// from and write to the crypto/tls connection directly, and framing could not
// see the requests.
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
			case h.failed <- err: // net/http decides how to proceed, and waits before the next call
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

// greet performs the handshake of one connection and passes it on.
func (h *handshakes) greet(conn *connection) {
	ctx, cancel := context.WithTimeout(h.ctx, h.within)
	defer cancel()
	secure := tls.Server(conn, h.config)
	if err := secure.HandshakeContext(ctx); err != nil { // closes the connection on timeout
		h.sayPlain(conn, err)
		h.log.Debug("TLS handshake failed", "error", err)
		h.drop(conn)
		return
	}
	var next net.Conn = secure // net/http uses HTTP/2 on it
	if secure.ConnectionState().NegotiatedProtocol != "h2" {
		next = &secured{Conn: secure}
	}
	select {
	case h.ready <- next:
	case <-h.ctx.Done():
		h.drop(conn)
	}
}

// sayPlain responds to a caller that uses HTTP without TLS.
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

// Accept waits for the next connection with a completed handshake.
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

// Close stops listening and aborts handshakes in progress.
func (h *handshakes) Close() error {
	h.stop()
	return h.connections.Close()
}

// secured is an HTTP/1 connection over TLS.
type secured struct{ *tls.Conn }

func (s *secured) connection() *connection { return s.NetConn().(*connection) }

// Read returns data of one request at a time.
func (s *secured) Read(p []byte) (int, error) { return s.connection().framing.read(p, s.Conn.Read) }

// Write replaces a refusal by net/http with the service's own response.
func (s *secured) Write(b []byte) (int, error) {
	return s.connection().room.speak(b, s.RemoteAddr(), s.Conn.Write)
}
