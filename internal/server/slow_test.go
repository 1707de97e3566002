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

// ample are times that no test reaches. A test shortens the one that it is
// about, which must not apply to callers who are not slow: the machine may be.
var ample = timeouts{header: time.Hour, stall: time.Hour, write: time.Hour, idle: time.Hour, answer: time.Hour, patience: time.Hour}

// brief is a time that a test waits for.
const brief = time.Second

// drip sends a byte again and again until the connection is cut, and complains
// if that was early, or not by the server. The server's time began later.
func (g *guest) drip(text string, began time.Time) error {
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, g.answers) // an answer, perhaps, and the end
		ended <- err
	}()
	for {
		_, _ = io.WriteString(g, text) // the end is seen by the reader
		text = "a"
		select {
		case err := <-ended:
			if took := time.Since(began); took < brief || errors.Is(err, os.ErrDeadlineExceeded) {
				return fmt.Errorf("cut after %v: %v", took, err)
			}
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const slowHead = "GET /healthz HTTP/1.1\r\nX-A: "

// Whoever drips a head, or says nothing, is cut off in time.
func TestSlowHeadsAreCutOff(t *testing.T) {
	t.Parallel()
	times := ample
	times.header = brief
	s := serveWith(t, times)
	began := time.Now()
	if err := s.connect(t).drip(slowHead, began); err != nil {
		t.Error(err)
	}
	s.connect(t).ended()
}

// Whoever says nothing between two requests is cut off in time.
func TestIdleCallersAreCutOff(t *testing.T) {
	t.Parallel()
	times := ample
	times.idle = brief
	idle := serveWith(t, times).connect(t)
	idle.send(healthz)
	idle.answer()
	idle.ended()
}

// Whoever drips a body is cut off in time, while others are answered, also
// beside slow heads.
func TestSlowBodiesAreCutOff(t *testing.T) {
	t.Parallel()
	times := ample
	times.stall = brief
	s := serveWith(t, times)
	s.connect(t)
	s.connect(t).send(slowHead)
	const post = "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
	bodies := map[string]string{
		"of a length": post + "Content-Length: 100000\r\n\r\n",
		"in chunks":   post + "Transfer-Encoding: chunked\r\n\r\n186a0\r\n",
	}
	cut := make(chan error)
	for name, text := range bodies {
		began := time.Now()
		g := s.connect(t)
		go func() {
			err := g.drip(text, began)
			if err != nil {
				err = fmt.Errorf("a body %s: %w", name, err)
			}
			cut <- err
		}()
	}
	for range 20 {
		g := s.connect(t)
		g.send(healthz)
		if got := g.answer().StatusCode; got != http.StatusOK {
			t.Errorf("status %d beside slow callers", got)
		}
	}
	for range bodies {
		if err := <-cut; err != nil {
			t.Error(err)
		}
	}
}

// flood sends requests without reading the responses until all buffers in
// between are full, and then until the connection is closed.
func (g *guest) flood() (ended chan struct{}) {
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := io.WriteString(g, "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				return
			}
		}
	}()
	return ended
}

// Callers who do not read the responses are disconnected.
func TestCallersThatDoNotReadAreCutOff(t *testing.T) {
	t.Parallel()
	times := ample
	times.write = brief
	g := serveWith(t, times).connect(t)
	<-g.flood()
	if _, err := io.Copy(io.Discard, g); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Error("the server kept the connection")
	}
}

// Callers who do not read the responses delay nobody.
func TestCallersThatDoNotReadDelayNobody(t *testing.T) {
	t.Parallel()
	s := serveWith(t, ample)
	g := s.connect(t)
	ended := g.flood()
	s.awaitBusy(t, 1)
	other := s.connect(t)
	other.send(healthz)
	if got := other.answer().StatusCode; got != http.StatusOK {
		t.Errorf("status %d beside one who does not read", got)
	}
	g.Close()
	<-ended
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
