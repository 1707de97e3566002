package server

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// With a token file the admin listener answers only who sends the token, on
// every path, and takes a new token without a restart.
func TestAdminToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	put := func(token string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "the first token, long enough", "the second token, long enough"
	put(first + "\n")
	s := serve(t, "--admin-listen", "0.0.0.0:0", "--admin-token-file", file)
	expect := func(header string, want int) {
		t.Helper()
		for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/cmdline", "/nowhere"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.AdminURL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if header != "" {
				request.Header.Set("Authorization", header)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if path == "/nowhere" && want == http.StatusOK {
				continue
			}
			if answer.StatusCode != want {
				t.Errorf("%s with %q: %d, want %d", path, header, answer.StatusCode, want)
			}
			if want == http.StatusUnauthorized && answer.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: a 401 without a challenge", path)
			}
		}
	}
	expect("", http.StatusUnauthorized)
	expect("Bearer ", http.StatusUnauthorized)
	expect("Bearer "+first[:10], http.StatusUnauthorized)
	expect("Basic "+first, http.StatusUnauthorized)
	expect("Bearer "+second, http.StatusUnauthorized)
	expect("Bearer "+first, http.StatusOK)
	put(second)
	expect("Bearer "+first, http.StatusUnauthorized)
	expect("Bearer "+second, http.StatusOK)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	expect("Bearer "+second, http.StatusInternalServerError)
	expect("Bearer ", http.StatusInternalServerError)
}

// Connections from strangers to the admin listener, silent or with bodies that do not
// end, give way to a monitoring system, and leave the files of the process alone.
func TestStrangersAtTheAdminListener(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, flags ...string) {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte("a token that is long enough"), 0o600); err != nil {
			t.Fatal(err)
		}
		times := limits
		times.header, times.stall = time.Hour, time.Hour // it is not this that ends them
		s := serveWith(t, times, append(flags, "--admin-listen", "0.0.0.0:0", "--admin-token-file", file)...)
		room := s.admin.Handler.(*guard).room
		connect := func(address string) net.Conn {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
			conn, err := dialer.DialContext(t.Context(), "tcp", fmt.Sprint("127.0.0.1:", s.adminLn.Addr().(*net.TCPAddr).Port))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			if s.adminIsSecure() {
				return tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
			}
			return conn
		}
		var sent sync.WaitGroup
		for i := range 3 * mostAdminConnections {
			conn := connect("127.0.0.9")
			if i%2 == 0 {
				sent.Go(func() { _, _ = io.WriteString(conn, slowForm) }) // it may be refused
			}
		}
		sent.Wait()
		room.mu.Lock()
		if room.open > mostAdminConnections {
			t.Errorf("%d connections are open", room.open)
		}
		room.mu.Unlock()
		for range 10 {
			conn := connect("127.0.0.2")
			if _, err := io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a token that is long enough\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("status %d, %v", answer.StatusCode, err)
			}
			_ = answer.Body.Close()
			_ = conn.Close()
		}
	})
}
