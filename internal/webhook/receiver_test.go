package webhook

import (
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// unhurried is a time-out that no attempt of a test runs into.
const unhurried = time.Minute

// newSender makes a sender in development mode that is closed with the test.
func newSender(t testing.TB, c Config) *Sender {
	t.Helper()
	c.Dev = true
	return strictSender(t, c)
}

func strictSender(t testing.TB, c Config) *Sender {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = unhurried
	}
	s, err := NewSender(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func message(url string) Message {
	return Message{
		URL: url, ID: "evt_01h000000000000000000000000", Secrets: []string{NewSecret()}, At: time.Now(),
		Body: []byte(`{"id":"evt_01h000000000000000000000000","type":"patient.created"}`),
	}
}

// receiver is a server in clear on loopback.
func receiver(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// tlsReceiver returns a server with a certificate, also written to a file, for
// 127.0.0.1 and example.com.
func tlsReceiver(t testing.TB, prepare func(*httptest.Server), handler http.HandlerFunc) (url, caFile string) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = quiet
	if prepare != nil {
		prepare(server)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, writeCertificate(t, server.Certificate().Raw)
}

func writeCertificate(t testing.TB, raw []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rawReceiver answers every connection with a function, and closes all of
// them with the test.
func rawReceiver(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu    sync.Mutex
		conns []net.Conn
		done  sync.WaitGroup
	)
	done.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			done.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, conn := range conns {
			conn.Close()
		}
		mu.Unlock()
		done.Wait()
	})
	return "http://" + listener.Addr().String() + "/"
}

// untilClosed keeps a connection open without reading until the end of the
// test: a write fails once it is closed.
func untilClosed(conn net.Conn, write string, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for range ticker.C {
		if _, err := conn.Write([]byte(write)); err != nil {
			return
		}
	}
}

func wantFailure(t *testing.T, a Attempt, words string) {
	t.Helper()
	if a.OK() || !strings.Contains(a.Error, words) {
		t.Errorf("status %d, error %q; want a failure with %q", a.Status, a.Error, words)
	}
}

var http2Only = func(s *httptest.Server) {
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{NextProtos: []string{"h2"}}
}
