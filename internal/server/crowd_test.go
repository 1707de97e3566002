package server

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/testcert"
)

// from connects from a loopback address of one's own, with TLS if the server
// has it.
func (s *Server) from(t *testing.T, address string) *guest {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if s.cfg.TLSCert != "" {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	return greet(t, conn)
}

// awaitBusy waits until so many connections are busy.
func (s *Server) awaitBusy(t *testing.T, want int) {
	t.Helper()
	room := s.listener.(*connections)
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		room.mu.Lock()
		busy, open := room.busy.Len()-1, room.open
		room.mu.Unlock()
		if busy >= want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d connections are busy, want %d", busy, open, want)
		}
	}
}

const slowForm = "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\n"

// probe sends a request on a new connection and returns the status, or 0
// without a response.
func (s *Server) probe(t *testing.T, address, path string) int {
	t.Helper()
	g := s.from(t, address)
	defer g.Close()
	if _, err := io.WriteString(g, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		return 0
	}
	answer, err := http.ReadResponse(g.answers, nil)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0
	}
	return answer.StatusCode
}

func eachTransport(t *testing.T, test func(t *testing.T, flags ...string)) {
	t.Helper()
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		test(t)
	})
	t.Run("TLS", func(t *testing.T) {
		t.Parallel()
		cert, key, _ := testcert.Loopback(t)
		test(t, "--tls-cert", cert, "--tls-key", key)
	})
}

// A hundred incomplete forms from one address block neither other callers nor
// health checks.
func TestSlowFormsShutNobodyOut(t *testing.T) {
	t.Parallel()
	for _, forms := range []int{100, 300} {
		t.Run(fmt.Sprint(forms), func(t *testing.T) {
			t.Parallel()
			eachTransport(t, func(t *testing.T, flags ...string) {
				times := limits
				times.stall = time.Hour // it is not this that ends them
				s := serveWith(t, times, append(flags, "--max-connections", "100")...)
				slow := make([]*guest, forms)
				var sent sync.WaitGroup
				for i := range slow {
					slow[i] = s.from(t, "127.0.0.1")
					sent.Go(func() { _, _ = io.WriteString(slow[i], slowForm) }) // beyond the bound it may be refused
				}
				sent.Wait()
				s.awaitIdle(t, 0) // until all heads were read
				for i := range 10 {
					for _, address := range []string{"127.0.0.2", "127.0.0.3"} {
						if got := s.probe(t, address, "/openapi.json"); got != http.StatusOK {
							t.Errorf("%d: status %d for %s", i, got, address)
						}
					}
					for _, address := range []string{"127.0.0.1", "127.0.0.2"} {
						if got := s.probe(t, address, "/readyz"); got != http.StatusOK {
							t.Errorf("%d: status %d of a health check from %s", i, got, address)
						}
					}
				}
			})
		})
	}
}

// Other ways to be slow: connections that say nothing (under TLS: that make no
// handshake), heads that do not end, answers that are not taken.
func TestSlowCallersOfAllKindsMakeRoom(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T, s *Server, g *guest){
		"silence": func(*testing.T, *Server, *guest) {},
		"a head":  func(_ *testing.T, _ *Server, g *guest) { _, _ = io.WriteString(g, "GET /healthz HTTP/1.1\r\nX-A: ") },
		"chunks": func(_ *testing.T, _ *Server, g *guest) {
			_, _ = io.WriteString(g, "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
		},
		"a body that nobody reads": func(_ *testing.T, _ *Server, g *guest) {
			_, _ = io.WriteString(g, "POST /v1/patients HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTransport(t, func(t *testing.T, flags ...string) {
				s := serve(t, append(flags, "--max-connections", "20")...) // with the real times
				for range 40 {
					g := s.from(t, "127.0.0.1")
					if name != "silence" {
						begin(t, s, g)
					}
				}
				for i := range 10 {
					if got := s.probe(t, "127.0.0.2", "/openapi.json"); got != http.StatusOK {
						t.Errorf("%d: status %d", i, got)
					}
					if got := s.probe(t, "127.0.0.1", "/readyz"); got != http.StatusOK {
						t.Errorf("%d: status %d of a health check", i, got)
					}
				}
			})
		})
	}
}

// Callers who do not read responses make room too, once that is noticed.
func TestCallersThatDoNotReadMakeRoom(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, flags ...string) {
		times := limits
		times.write = time.Hour // it is not this that ends them
		s := serveWith(t, times, append(flags, "--max-connections", "4")...)
		for range 4 {
			s.from(t, "127.0.0.1").flood()
		}
		s.awaitBusy(t, 4)
		for deadline := time.Now().Add(3 * time.Minute); s.probe(t, "127.0.0.2", "/openapi.json") != http.StatusOK; {
			if time.Now().After(deadline) {
				t.Fatal("there is no room")
			}
		}
	})
}

// A trusted proxy serves many callers: the callers it names make room, and its
// own connections do not count against it.
func TestSlowFormsThroughAProxy(t *testing.T) {
	t.Parallel()
	patient := limits
	patient.stall = time.Hour
	s := serveWith(t, patient, "--max-connections", "40", "--trusted-proxy", "127.0.0.9/32")
	form := func(forwarded string) *guest {
		g := s.from(t, "127.0.0.9")
		g.send(strings.Replace(slowForm, "Host: x\r\n", "Host: x\r\nX-Forwarded-For: "+forwarded+"\r\n", 1))
		return g
	}
	single := []*guest{form("192.0.2.1"), form("192.0.2.2")}
	for range 38 {
		form("192.0.2.66")
	}
	s.awaitBusy(t, 40)
	var more []*guest
	for i := range 8 { // no more than he has
		g := s.from(t, "127.0.0.9")
		g.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.3\r\n\r\n")
		if got := g.answer().StatusCode; got != http.StatusOK {
			t.Errorf("%d: status %d", i, got)
		}
		more = append(more, g)
	}
	for i, g := range append(single, more...) { // none of these was closed
		if i < len(single) {
			g.send(strings.Repeat("a", 1000))
		} else {
			g.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		if got := g.answer().StatusCode; got != http.StatusOK && i >= len(single) || got >= 500 {
			t.Errorf("%d: status %d", i, got)
		}
	}
}

// While there is room, there is no limit per address: all users of a hospital
// may share one.
func TestOneAddressMayFillTheRoom(t *testing.T) {
	t.Parallel()
	s := serve(t, "--max-connections", "60")
	var all []*guest
	for range 60 {
		g := s.from(t, "127.0.0.1")
		g.send(healthz)
		all = append(all, g)
	}
	for range 2 {
		for _, g := range all {
			if got := g.answer().StatusCode; got != http.StatusOK {
				t.Fatalf("status %d", got)
			}
			g.send(healthz)
		}
	}
}
