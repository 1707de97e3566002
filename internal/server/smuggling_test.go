package server

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/testcert"
)

// A request with two conflicting lengths is rejected, and what follows on the
// connection is not read.
func TestTwoLengthsAreRefused(t *testing.T) {
	t.Parallel()
	const (
		line    = "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
		second  = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
		chunked = "Transfer-Encoding: chunked\r\n"
		length  = "Content-Length: 5\r\n"
	)
	eachTransport(t, func(t *testing.T, flags ...string) {
		s := serve(t, flags...)
		for _, request := range []string{
			line + length + chunked + "\r\n0\r\n\r\n",
			line + chunked + length + "\r\n0\r\n\r\n",
			line + "content-length:0\r\nTRANSFER-ENCODING:ChUnKeD\r\n\r\n0\r\n\r\n",
			line + length + "Transfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n",
			line + "Content-Length: 4\r\n" + chunked + "\r\n1\r\na\r\n0\r\n\r\n",
			line + chunked + chunked + "\r\n0\r\n\r\n",
			line + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
			line + "Transfer-Encoding: identity\r\n" + length + "\r\nhello",
			line + "Transfer-Encoding: xchunked\r\n" + length + "\r\nhello",
			line + "Transfer-Encoding : chunked\r\n" + length + "\r\nhello",
			"POST /oauth/token HTTP/1.0\r\nConnection: keep-alive\r\n" + chunked + length + "\r\nhello",
			"POST /oauth/token HTTP/1.0\r\nConnection: keep-alive\r\n" + chunked + "\r\n0\r\n\r\n",
			"GET /healthz HTTP/1.1\r\nHost: x\r\n" + chunked + length + "\r\n0\r\n\r\n",
			"GET /portal HTTP/1.1\r\nHost: x\r\n" + chunked + length + "\r\n0\r\n\r\n",
		} {
			for _, before := range []int{0, 2} { // as the first request, and behind others
				g := s.from(t, "127.0.0.1")
				_, _ = io.WriteString(g, strings.Repeat(second, before)+request+second)
				for range before {
					if got := g.answer().StatusCode; got != http.StatusOK {
						t.Fatalf("status %d of a request before", got)
					}
				}
				answer, err := http.ReadResponse(g.answers, nil)
				if err != nil {
					t.Fatalf("%q: %v", request, err)
				}
				var refusal struct {
					Error struct {
						Code    string
						Details map[string]any
					}
				}
				body, err := io.ReadAll(answer.Body)
				if err = errors.Join(err, json.Unmarshal(body, &refusal)); err != nil {
					t.Fatalf("%q: %v: %s", request, err, body)
				}
				if answer.StatusCode != http.StatusBadRequest || refusal.Error.Code != "INVALID_BODY" || refusal.Error.Details["reason"] == nil || !answer.Close {
					t.Errorf("%q: %d %s, closed %v", request, answer.StatusCode, body, answer.Close)
				}
				if answer.Header.Get("X-Request-Id") == "" || answer.Header.Get("X-RateLimit-Remaining") == "" {
					t.Errorf("%q: %v", request, answer.Header)
				}
				if (answer.Header.Get("Strict-Transport-Security") != "") != (s.cfg.TLSCert != "") {
					t.Errorf("%q: Strict-Transport-Security %q", request, answer.Header.Get("Strict-Transport-Security"))
				}
				if rest, err := io.ReadAll(g.answers); len(rest) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%q: %q after it, %v", request, rest, err)
				}
			}
		}
	})
}

// What is sound passes, also many requests in one go.
func TestPipelinedRequests(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, flags ...string) {
		s := serve(t, flags...)
		g := s.from(t, "127.0.0.1")
		const form = "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
		const chunks = form + "Transfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n4;x=y\r\n&c=d\r\n0\r\nTrailer: x\r\n\r\n"
		go func() {
			_, _ = io.WriteString(g, strings.Repeat(healthz+chunks+form+"Content-Length: 3\r\n\r\na=b\r\n"+healthz, 50))
		}()
		for i := range 50 {
			for _, want := range []int{http.StatusOK, http.StatusUnauthorized, http.StatusUnauthorized, http.StatusOK} {
				if got := g.answer().StatusCode; got != want {
					t.Fatalf("%d: status %d, want %d", i, got, want)
				}
			}
		}
	})
}

// With TLS, malformed requests also get an error in the error format, HTTP/2
// works, and a caller without TLS is told to use it.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, key, _ := testcert.Loopback(t)
	s := serve(t, "--tls-cert", cert, "--tls-key", key)
	g := s.from(t, "127.0.0.1")
	g.send("HELLO\r\n\r\n")
	answer, err := http.ReadResponse(g.answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest || answer.Header.Get("X-Request-Id") == "" || answer.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}

	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for range 3 {
		for _, method := range []string{"GET", "POST"} {
			request, err := http.NewRequestWithContext(t.Context(), method, s.URL()+"/oauth/token", strings.NewReader(strings.Repeat("a", 100_000)))
			if err != nil {
				t.Fatal(err)
			}
			two, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, two.Body)
			_ = two.Body.Close()
			if two.ProtoMajor != 2 || two.Header.Get("Strict-Transport-Security") == "" || two.StatusCode >= 500 {
				t.Errorf("%s: %s %d %v", method, two.Proto, two.StatusCode, two.Header)
			}
		}
	}

	plain := s.connect(t)
	plain.send(healthz)
	told, err := bufio.NewReader(plain).ReadString('\n')
	if err != nil || !strings.HasPrefix(told, "HTTP/1.0 400") {
		t.Errorf("%q, %v", told, err)
	}
}
