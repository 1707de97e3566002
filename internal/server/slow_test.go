package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// short are times in which a caller must speak and listen that a test can wait
// for. Those of a head and a body stay long enough for those who are not slow, on a machine
// that is.
var short = timeouts{header: limits.header / 2, stall: limits.stall / 2, write: limits.write / 15, idle: limits.idle / 20}

// drip sends a byte again and again until the connection is cut, and complains
// if that was early, or not by the server. Its time runs from the greeting on,
// which came after it began to connect.
func (g *guest) drip(text string, began time.Time, least time.Duration) error {
	if _, err := io.WriteString(g, text); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, g.answers) // an answer, perhaps, and the end
		ended <- err
	}()
	for {
		select {
		case err := <-ended:
			if took := time.Since(began); took < least/2 || errors.Is(err, os.ErrDeadlineExceeded) {
				return fmt.Errorf("cut after %v: %v", took, err)
			}
			return nil
		case <-time.After(50 * time.Millisecond):
			_, _ = io.WriteString(g, "a") // the end is seen by the reader
		}
	}
}

// Whoever drips a head or a body, or says nothing, is cut off in time, while
// others are answered.
func TestSlowCallersAreCutOff(t *testing.T) {
	t.Parallel()
	s := serveWith(t, short)
	type slow struct {
		name, text string
		least      time.Duration
	}
	const post = "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
	cut := make(chan error)
	cases := []slow{
		{"a head", "GET /healthz HTTP/1.1\r\nX-A: ", short.header},
		{"a body", post + "Content-Length: 100000\r\n\r\n", short.stall},
		{"a body in chunks", post + "Transfer-Encoding: chunked\r\n\r\n186a0\r\n", short.stall},
	}
	for _, c := range cases {
		began := time.Now()
		g := s.connect(t)
		go func() {
			if err := g.drip(c.text, began, c.least); err != nil {
				cut <- fmt.Errorf("%s that is dripped: %w", c.name, err)
			} else {
				cut <- nil
			}
		}()
	}
	silent, idle := s.connect(t), s.connect(t)
	idle.send(healthz)
	idle.answer()
	for range 20 {
		g := s.connect(t)
		g.send(healthz)
		if got := g.answer().StatusCode; got != http.StatusOK {
			t.Errorf("status %d beside slow callers", got)
		}
	}
	for range cases { // the deadline of the guests is the test's
		if err := <-cut; err != nil {
			t.Error(err)
		}
	}
	silent.ended()
	idle.ended()
}

// Callers who do not read the responses are disconnected.
func TestCallersThatDoNotReadAreCutOff(t *testing.T) {
	t.Parallel()
	s := serveWith(t, short)
	g := s.connect(t)
	failed := make(chan struct{})
	go func() {
		defer close(failed)
		for { // until all buffers in between are full, and the server gives up
			if _, err := io.WriteString(g, "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				return
			}
		}
	}()
	other := s.connect(t)
	other.send(healthz)
	if got := other.answer().StatusCode; got != http.StatusOK {
		t.Errorf("status %d beside one who does not read", got)
	}
	<-failed
	if _, err := io.Copy(io.Discard, g); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Error("the server kept the connection")
	}
}

// What is too large is refused in the error shape.
func TestHugeRequests(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"thousands of headers": {"GET /healthz HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-A: b\r\n", 20_000) + "\r\n", 413},
		"an address":           {"GET /v1/patients?search=" + strings.Repeat("a", 200_000) + " HTTP/1.1\r\nHost: x\r\n\r\n", 413},
		"a body that says so":  {"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000000\r\n\r\n", 413},
		"a body that does not": {"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n" + strings.Repeat("a", 2<<20), 413},
	} {
		t.Run(name, func(t *testing.T) {
			answer, body := s.raw(t, test.request)
			var refusal struct{ Error struct{ Code string } }
			if err := json.Unmarshal(body, &refusal); err != nil || answer.StatusCode != test.status || refusal.Error.Code != "PAYLOAD_TOO_LARGE" || !answer.Close {
				t.Errorf("%d %s, %v", answer.StatusCode, body, err)
			}
		})
	}
}
