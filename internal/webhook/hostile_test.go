package webhook

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// hasty is the time-out of attempts that are to run into it.
const hasty = 200 * time.Millisecond

// afterRequest reads the beginning of a request and then serves.
func afterRequest(serve func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := conn.Read(make([]byte, 4<<10)); err == nil {
			serve(conn)
		}
	}
}

// TestReceiversThatTakeTheirTime: whatever a receiver delays, the attempt ends
// and reports a timeout.
func TestReceiversThatTakeTheirTime(t *testing.T) {
	drip := func(text string) func(net.Conn) {
		return afterRequest(func(conn net.Conn) {
			io.WriteString(conn, text)
			untilClosed(conn, "x", hasty/20)
		})
	}
	silent := func(conn net.Conn) { io.Copy(io.Discard, conn) }
	for _, c := range []struct {
		name   string
		serve  func(net.Conn)
		scheme string
		body   int
	}{
		{"drips the status line", drip("HTTP/1.1 "), "http", 0},
		{"drips headers", drip("HTTP/1.1 200 OK\r\nX-Slow: "), "http", 0},
		{"drips the body", drip("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"), "http", 0},
		{"drips chunks", afterRequest(func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			untilClosed(conn, "1\r\nx\r\n", hasty/20)
		}), "http", 0},
		{"drips interim answers", afterRequest(func(conn net.Conn) {
			untilClosed(conn, "HTTP/1.1 100 Continue\r\n\r\n", hasty/20)
		}), "http", 0},
		{"never answers", silent, "http", 0},
		{"hangs in the TLS handshake", silent, "https", 0},
		{"drips the TLS handshake", func(conn net.Conn) { untilClosed(conn, "\x16", hasty) }, "https", 0},
		{"never reads", func(conn net.Conn) { untilClosed(conn, "", hasty/20) }, "http", 32 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := message(strings.Replace(rawReceiver(t, c.serve), "http", c.scheme, 1))
			if c.body > 0 {
				m.Body = make([]byte, c.body)
			}
			wantFailure(t, newSender(t, Config{Timeout: hasty}).Send(t.Context(), m), "no complete response within 200ms")
		})
	}
}

// A limit of the transport that is enforced after that of the attempt has passed,
// and before the attempt ends, is the attempt's timeout.
func TestRanOut(t *testing.T) {
	past, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	later, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want bool
	}{
		"after its time":           {past, os.ErrDeadlineExceeded, true},
		"before its time":          {later, os.ErrDeadlineExceeded, false},
		"for another reason":       {past, syscall.ECONNREFUSED, false},
		"for a reason that is new": {past, io.ErrUnexpectedEOF, false},
	} {
		if got := ranOut(c.ctx, c.err); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestTimeoutSaysHowFarItCame(t *testing.T) {
	for e, want := range map[timeoutError]string{
		{false, false}: "no connection", {true, false}: "did not respond", {true, true}: "did not finish",
	} {
		if words := plainWords(&e, DefaultTimeout); !strings.Contains(words, want) || !strings.Contains(words, "within 15s") {
			t.Errorf("%+v: %q", e, words)
		}
	}
}

func TestReceiversThatBreakOff(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(net.Conn)
		want  string
	}{
		"closes at once":      {func(net.Conn) {}, "closed"},
		"closes when asked":   {afterRequest(func(net.Conn) {}), "closed the connection"},
		"cuts the headers":    {afterRequest(func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-A:") }), "closed the connection"},
		"cuts the body":       {afterRequest(func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") }), "closed the connection"},
		"resets":              {afterRequest(func(conn net.Conn) { conn.(*net.TCPConn).SetLinger(0) }), "closed the connection"},
		"does not speak HTTP": {afterRequest(func(conn net.Conn) { io.WriteString(conn, "220 mail.example.org ESMTP\r\n") }), "HTTP"},
		"large headers": {afterRequest(func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X-More: "+strings.Repeat("x", 1000)+"\r\n", 2*maxHeaderBytes>>10)+"\r\n")
		}), "header"},
		"endless headers": {afterRequest(func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := io.WriteString(conn, "X-More: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
					return
				}
			}
		}), "header"},
		"one endless header": {afterRequest(func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-More: ")
			for {
				if _, err := io.WriteString(conn, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		}), "header"},
		"endless interim answers": {afterRequest(func(conn net.Conn) {
			for {
				if _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nX-More: "+strings.Repeat("x", 1000)+"\r\n\r\n"); err != nil {
					return
				}
			}
		}), "header"},
	} {
		t.Run(name, func(t *testing.T) {
			wantFailure(t, newSender(t, Config{}).Send(t.Context(), message(rawReceiver(t, c.serve))), c.want)
		})
	}
}

func TestRefusedConnection(t *testing.T) {
	// A port that was free a moment ago may be another test's by now.
	wantFailure(t, newSender(t, Config{}).Send(t.Context(), message("http://127.0.0.1:1")), "refused the connection")
}

// TestLargeAnswersFail: a receiver decides how much it sends, but not how much
// is read or kept. It sends a gigabyte; both ends together may only allocate a
// small part of that.
func TestLargeAnswersFail(t *testing.T) {
	const gigabyte, mostMemory = 1 << 30, 64 << 20
	var taken atomic.Int64
	block := make([]byte, 64<<10)
	for i := range block {
		block[i] = 'a'
	}
	flood := func(w http.ResponseWriter, _ *http.Request) {
		for sent := 0; sent < gigabyte; sent += len(block) {
			if _, err := w.Write(block); err != nil {
				return
			}
			taken.Add(int64(len(block)))
		}
	}
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		compressed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		for sent := 0; sent < gigabyte/16; sent += len(block) {
			if _, err := compressed.Write(block); err != nil {
				return
			}
		}
		compressed.Close()
	}
	plain, bombed := receiver(t, flood), receiver(t, bomb)
	two, ca := tlsReceiver(t, http2Only, flood)
	s := newSender(t, Config{CAFile: ca})
	for _, c := range []struct{ name, url, answer, want string }{
		{"HTTP/1.1", plain, strings.Repeat("a", keptAnswer), "more than 16 KiB"},
		{"HTTP/2", two, strings.Repeat("a", keptAnswer), "more than 16 KiB"},
		{"gzip", bombed, "", "Content-Encoding that was not requested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			taken.Store(0)
			for range 5 {
				a := s.Send(t.Context(), message(c.url))
				wantFailure(t, a, c.want)
				if a.Status != http.StatusOK || a.Answer != c.answer {
					t.Fatalf("status %d, error %q, %d characters of the answer", a.Status, a.Error, len(a.Answer))
				}
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > mostMemory {
				t.Errorf("%d MiB were allocated for 5 attempts", used>>20)
			}
			// With HTTP/1.1, the kernel accepts what fits its buffers.
			if n := taken.Load(); c.name == "HTTP/2" && n > 5*4*http2Buffer {
				t.Errorf("%d KiB were taken in 5 attempts", n>>10)
			}
		})
	}
}

// TestLongestAnswer: 16 KiB are accepted, one byte more is not. The status of
// an unsuccessful response is reported and obeyed, however long the response
// is.
func TestLongestAnswer(t *testing.T) {
	s := newSender(t, Config{})
	send := func(status, size int) Attempt {
		return s.Send(t.Context(), message(receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			w.Write(make([]byte, size))
		})))
	}
	if a := send(http.StatusOK, maxAnswer); !a.OK() {
		t.Errorf("16 KiB: %q", a.Error)
	}
	wantFailure(t, send(http.StatusOK, maxAnswer+1), "more than 16 KiB")
	a := send(http.StatusServiceUnavailable, maxAnswer+1)
	wantFailure(t, a, "returned 503")
	if a.RetryAfter != 7*time.Second {
		t.Errorf("Retry-After was read as %v", a.RetryAfter)
	}
	if a := send(http.StatusGone, maxAnswer+1); !a.Gone() {
		t.Errorf("410 with a long answer: %+v", a)
	}
}
