package server

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/api"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/testwait"
)

// serve starts a server on a new database.
func serve(t *testing.T, args ...string) *Server {
	t.Helper()
	return serveWith(t, limits, args...)
}

func serveWith(t *testing.T, slow timeouts, args ...string) *Server {
	t.Helper()
	return serveAt(t, time.Now, slow, args...)
}

func serveAt(t *testing.T, now func() time.Time, slow timeouts, args ...string) *Server {
	t.Helper()
	var cfg config.Config
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	cfg.Serve(flags)
	if err := flags.Parse(append([]string{"--database", "sqlite:" + filepath.Join(t.TempDir(), "a.db"), "--listen", "127.0.0.1:0", "--admin-listen", ""}, args...)); err != nil {
		t.Fatal(err)
	}
	cfg.Finish()
	slow.ready = 0 // the database may take its time
	s, err := startWithin(t.Context(), cfg, slog.New(slog.DiscardHandler), slow, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// What is not HTTP is refused by net/http before any handler, and still in the
// error shape, with a request id and the rate-limit headers.
func TestWhatIsNotHTTPIsRefusedInTheErrorShape(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, test := range map[string]struct {
		request string
		status  int
		code    string
	}{
		"a path that cannot be decoded":     {"GET /v1/patients/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "INVALID_BODY"},
		"no request line":                   {"HELLO\r\n\r\n", 400, "INVALID_BODY"},
		"a greeting of TLS":                 {"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00\r\n\r\n", 400, "INVALID_BODY"},
		"no host":                           {"GET / HTTP/1.1\r\n\r\n", 400, "INVALID_BODY"},
		"two hosts":                         {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "INVALID_BODY"},
		"a host that is none":               {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "INVALID_BODY"},
		"a header with a space":             {"GET / HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n", 400, "INVALID_BODY"},
		"a header with a zero":              {"GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n", 400, "INVALID_BODY"},
		"a method with a bracket":           {"GE(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "INVALID_BODY"},
		"two lengths":                       {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "INVALID_BODY"},
		"another version":                   {"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 400, "INVALID_BODY"},
		"an unknown transfer encoding":      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 400, "INVALID_BODY"},
		"an unknown expectation":            {"GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", 400, "INVALID_BODY"},
		"headers that are too long for one": {"GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", api.MaxHeaderBytes+5000) + "\r\n\r\n", 413, "PAYLOAD_TOO_LARGE"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, body := s.raw(t, test.request)
			var refusal struct {
				Error struct {
					Code    string
					Message string
					Details map[string]any
				}
			}
			if err := json.Unmarshal(body, &refusal); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if answer.StatusCode != test.status || refusal.Error.Code != test.code || refusal.Error.Message == "" || refusal.Error.Details == nil {
				t.Errorf("%d %s, want %d %s", answer.StatusCode, body, test.status, test.code)
			}
			if answer.Header.Get("Content-Type") != "application/json" || answer.Header.Get("X-Request-Id") == "" || answer.Header.Get("Date") == "" || !answer.Close {
				t.Errorf("%v", answer.Header)
			}
			for _, header := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
				if _, err := strconv.Atoi(answer.Header.Get(header)); err != nil {
					t.Errorf("%s: %v", header, err)
				}
			}
		})
	}
}

// An unreadable request counts for its address, as a request without
// credentials does.
func TestWhatIsNotHTTPIsCounted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for want := 999; want >= 997; want-- {
		answer, _ := s.raw(t, "HELLO\r\n\r\n")
		if got := answer.Header.Get("X-RateLimit-Remaining"); got != strconv.Itoa(want) {
			t.Errorf("%s left, want %d", got, want)
		}
	}
}

// raw sends bytes and reads the answer to its end.
func (s *Server) raw(t *testing.T, request string) (*http.Response, []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(testwait.Bound)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, request) // of a long one the end may find nobody
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, body
}

// The service's own answers pass as they are.
func TestRefusal(t *testing.T) {
	t.Parallel()
	const own = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	for text, want := range map[string]int{
		"HTTP/1.1 400 Bad Request" + own + "400 Bad Request":                       400,
		"HTTP/1.1 505 HTTP Version Not Supported: x" + own:                         505,
		"HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\n\r\n":             417,
		"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\r\n" + own: 0,
		"HTTP/1.1 200 OK" + own: 0,
		"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nDate: x\r\n\r\n": 0,
		"HTTP/1.1 4": 0,
		"{\"a\":\"HTTP/1.1 400 Bad Request" + own: 0,
		"": 0,
	} {
		if got, ok := refusal([]byte(text)); got != want || ok != (want != 0) {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
}
