package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/testcert"
	"anodyne.example/anodyne/internal/testwait"
)

// guest is a connection of a test.
type guest struct {
	t *testing.T
	net.Conn
	answers *bufio.Reader
}

func (s *Server) connect(t *testing.T) *guest {
	t.Helper()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return greet(t, conn)
}

func greet(t *testing.T, conn net.Conn) *guest {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(testwait.Bound)); err != nil {
		t.Fatal(err)
	}
	return &guest{t, conn, bufio.NewReader(conn)}
}

func (g *guest) send(text string) {
	g.t.Helper()
	if _, err := io.WriteString(g, text); err != nil {
		g.t.Fatal(err)
	}
}

func (g *guest) answer() *http.Response {
	g.t.Helper()
	resp, err := http.ReadResponse(g.answers, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		g.t.Fatal(err)
	}
	return resp
}

const healthz = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

// ended waits until the server has closed the connection.
func (g *guest) ended() {
	g.t.Helper()
	if n, err := g.answers.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		g.t.Errorf("%d bytes, %v; want the end", n, err)
	}
}

// awaitIdle waits until the server has so many idle connections, and others.
func (s *Server) awaitIdle(t *testing.T, want int) {
	t.Helper()
	room := s.listener.(*connections)
	var open, idle int
	if !testwait.Within(testwait.Bound, func() bool {
		room.mu.Lock()
		defer room.mu.Unlock()
		open, idle = room.open, room.idle.Len()-1
		return open > 0 && idle == want
	}) {
		t.Fatalf("%d of %d connections are idle, want %d", idle, open, want)
	}
}

// awaitLast waits until a guest's connection is the last one that became idle.
func (s *Server) awaitLast(t *testing.T, g *guest) {
	t.Helper()
	room := s.listener.(*connections)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		room.mu.Lock()
		last, ok := room.idle.Prev().Value.(*connection)
		room.mu.Unlock()
		if ok && last.RemoteAddr().String() == g.LocalAddr().String() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the connection does not become idle")
		}
	}
}

// Idle connections make room for others, the longest idle first.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	s := serve(t, "--max-connections", "3")
	var guests []*guest
	for i := range 3 {
		g := s.connect(t)
		g.send(healthz)
		g.answer()
		s.awaitIdle(t, i+1)
		guests = append(guests, g)
	}
	guests[0].send(healthz) // now the second is the longest idle
	guests[0].answer()
	s.awaitLast(t, guests[0])
	next := s.connect(t)
	next.send(healthz)
	if got := next.answer().StatusCode; got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	guests[1].ended()
	for _, g := range []*guest{guests[0], guests[2], next} {
		g.send(healthz)
		g.answer()
	}
}

// If all connections are busy, the next one gets a 503, and is accepted when
// one has ended.
func TestNoRoomForAnotherConnection(t *testing.T) {
	t.Parallel()
	patient := limits
	patient.patience = time.Hour
	s := serveWith(t, patient, "--max-connections", "2", "--admin-listen", "127.0.0.1:0")
	busy := []*guest{s.connect(t), s.connect(t)}
	for _, g := range busy {
		g.send("POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\n")
	}
	s.awaitIdle(t, 0)
	for range 3 { // health checks are answered nevertheless
		probe := s.connect(t)
		probe.send("GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if got := probe.answer().StatusCode; got != http.StatusOK {
			t.Errorf("status %d of a health check", got)
		}
	}
	next := s.connect(t)
	next.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
	resp := next.answer()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || resp.Header.Get("X-RateLimit-Limit") == "" || !resp.Close {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	if got := s.metric(t, `anodyne_http_connections_shed_total{kind="refused"}`); got != 1 {
		t.Errorf("%v refusals are counted", got)
	}
	busy[0].send("a=b")
	if got := busy[0].answer().StatusCode; got != http.StatusUnauthorized && got != http.StatusBadRequest {
		t.Errorf("status %d of a connection that was there before", got)
	}
	s.awaitIdle(t, 1)
	next = s.connect(t)
	next.send(healthz)
	if got := next.answer().StatusCode; got != http.StatusOK {
		t.Errorf("status %d with room again", got)
	}
}

// With TLS, no response is possible before the handshake; idle connections
// make room nevertheless.
func TestIdleConnectionsMakeRoomUnderTLS(t *testing.T) {
	t.Parallel()
	cert, key, _ := testcert.Loopback(t)
	s := serve(t, "--max-connections", "2", "--tls-cert", cert, "--tls-key", key)
	var guests []*guest
	for i := range 3 {
		g := s.connect(t)
		g = greet(t, tls.Client(g.Conn, &tls.Config{InsecureSkipVerify: true})) // its own certificate
		g.send(healthz)
		if got := g.answer().StatusCode; got != http.StatusOK {
			t.Errorf("status %d", got)
		}
		s.awaitIdle(t, min(i+1, 2))
		guests = append(guests, g)
	}
	guests[0].ended()
}
