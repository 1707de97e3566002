package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

var quiet = log.New(io.Discard, "", 0)

func TestWhatArrives(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(*httptest.Server)
		proto   int
	}{{"HTTP/1.1", nil, 1}, {"HTTP/2", http2Only, 2}} {
		t.Run(c.name, func(t *testing.T) {
			type arrival struct {
				method, path string
				proto        int
				header       http.Header
				body         []byte
			}
			arrived := make(chan arrival, 1)
			url, ca := tlsReceiver(t, c.prepare, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				arrived <- arrival{r.Method, r.URL.RequestURI(), r.ProtoMajor, r.Header, body}
				w.WriteHeader(http.StatusAccepted)
				io.WriteString(w, "thank you")
			})
			s := newSender(t, Config{Version: "1.2.3", CAFile: ca})
			m := message(url + "/hooks?to=anodyne")
			old := NewSecret()
			m.Secrets = append(m.Secrets, old)

			a := s.Send(t.Context(), m)
			if !a.OK() || a.Status != http.StatusAccepted || a.Answer != "thank you" || a.Error != "" || !a.At.Equal(m.At) || a.Latency <= 0 {
				t.Fatalf("attempt %+v", a)
			}
			got := <-arrived
			if got.method != http.MethodPost || got.path != "/hooks?to=anodyne" || got.proto != c.proto || !bytes.Equal(got.body, m.Body) {
				t.Errorf("arrived: %s %s in HTTP/%d: %s", got.method, got.path, got.proto, got.body)
			}
			for name, want := range map[string]string{
				"Content-Type": "application/json", "User-Agent": "Anodyne/1.2.3", "Accept-Encoding": "identity",
				"Webhook-Id": m.ID, "Webhook-Timestamp": fmt.Sprint(m.At.Unix()), "Idempotency-Key": "",
			} {
				if value := got.header.Get(name); value != want {
					t.Errorf("%s is %q, want %q", name, value, want)
				}
			}
			for _, secret := range m.Secrets {
				verifier, err := standardwebhooks.NewWebhook(secret)
				if err != nil {
					t.Fatal(err)
				}
				if err := verifier.Verify(got.body, got.header); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestStatus(t *testing.T) {
	url := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscan(r.URL.Query().Get("status"), &status)
		w.Header().Set("Location", "http://10.0.0.1/")
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(status)
	})
	s := newSender(t, Config{})
	for status, want := range map[int]string{
		200: "", 201: "", 204: "", 299: "",
		301: "redirects are not followed", 302: "redirects are not followed", 303: "redirects are not followed", 307: "redirects are not followed", 308: "redirects are not followed", 304: "304",
		400: "the receiver returned 400 Bad Request", 404: "404", 410: "410 Gone", 429: "429", 500: "500", 503: "503", 599: "the receiver returned 599",
	} {
		a := s.Send(t.Context(), message(fmt.Sprintf("%s/?status=%d", url, status)))
		if ok := want == ""; a.Status != status || a.OK() != ok || !strings.Contains(a.Error, want) || ok && a.Error != "" {
			t.Errorf("status %d: %+v", status, a)
		}
		if a.Gone() != (status == 410) {
			t.Errorf("status %d: Gone is %v", status, a.Gone())
		}
		if wait := a.RetryAfter; a.OK() && wait != 0 || !a.OK() && wait != 2*time.Minute {
			t.Errorf("status %d: RetryAfter is %v", status, wait)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "7": 7 * time.Second, "86400": 24 * time.Hour, "86401": 24 * time.Hour, "9223372036854775807": 24 * time.Hour,
		"soon": 0, "1.5": 0, "Thu, 15 Jan 2026 10:31:00 GMT": time.Minute, "Thu, 15 Jan 2026 10:29:00 GMT": 0, "Fri, 15 Jan 2027 10:30:00 GMT": 24 * time.Hour,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("Retry-After %q is read as %v, want %v", header, got, want)
		}
	}
}

func TestAnswerIsKeptAsText(t *testing.T) {
	var raw atomic.Value
	url := receiver(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, raw.Load().(string)) })
	s := newSender(t, Config{})
	long := strings.Repeat("é", 600)
	for sent, want := range map[string]string{
		"":                                "",
		" ok\r\n":                         "ok",
		"a\x00b\x1b[31mc\u202Ed\x7f":      "ab[31mcd",
		"caf\u00e9 \xff\xfe\u2603 \u00a0": "café ☃",
		long:                              long[:1024],
		"x" + long:                        "x" + long[:1022],
	} {
		raw.Store(sent)
		if a := s.Send(t.Context(), message(url)); !a.OK() || a.Answer != want {
			t.Errorf("%q is kept as %q, want %q (%s)", sent, a.Answer, want, a.Error)
		}
	}
}

func TestConnectionIsKept(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, strings.Repeat("x", maxAnswer-1))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	s := newSender(t, Config{})
	for range 20 {
		if a := s.Send(t.Context(), message(server.URL)); !a.OK() {
			t.Fatalf("%+v", a)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for 20 attempts, one after the other", n)
	}
}

// TestKeptConnectionThatWasClosed: a receiver that ends a connection which it
// had promised to keep costs no attempt.
func TestKeptConnectionThatWasClosed(t *testing.T) {
	url := rawReceiver(t, func(conn net.Conn) {
		request := make([]byte, 4<<10)
		if _, err := conn.Read(request); err == nil {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
		conn.Read(request) // of the next attempt, which then finds it closed
	})
	s := newSender(t, Config{})
	for i := range 20 {
		if a := s.Send(t.Context(), message(url)); !a.OK() {
			t.Fatalf("attempt %d: %+v", i, a)
		}
	}
}

// TestNoProxyFromTheEnvironment runs itself again, because net/http reads the
// environment once.
func TestNoProxyFromTheEnvironment(t *testing.T) {
	const inside = "ANODYNE_TEST_BEHIND_PROXY"
	if os.Getenv(inside) != "" {
		s := newSender(t, Config{})
		s.dialer.Resolver = (&names{}).resolver()
		wantFailure(t, s.Send(t.Context(), message("https://host.invalid/")), "host.invalid has no address")
		return
	}
	proxy := receiver(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=1")
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		cmd.Env = append(cmd.Env, name+"="+proxy)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCertificates(t *testing.T) {
	url, ca := tlsReceiver(t, nil, func(http.ResponseWriter, *http.Request) {})
	wantFailure(t, newSender(t, Config{}).Send(t.Context(), message(url)), "--webhook-ca-file")
	s := newSender(t, Config{CAFile: ca})
	if a := s.Send(t.Context(), message(url)); !a.OK() {
		t.Errorf("with the authority known: %+v", a)
	}
	wantFailure(t, s.Send(t.Context(), message(strings.Replace(url, "127.0.0.1", "localhost", 1))), "not for localhost")

	plain := receiver(t, func(http.ResponseWriter, *http.Request) {})
	wantFailure(t, s.Send(t.Context(), message(strings.Replace(plain, "http:", "https:", 1))), "does not speak TLS")

	old, ca := tlsReceiver(t, func(s *httptest.Server) { s.TLS = &tls.Config{MaxVersion: tls.VersionTLS11} }, func(http.ResponseWriter, *http.Request) {})
	wantFailure(t, newSender(t, Config{CAFile: ca}).Send(t.Context(), message(old)), "TLS")
}

func TestBadAuthorityFile(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{empty, empty + ".missing"} {
		if _, err := NewSender(Config{CAFile: path}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestURLIsJudgedAgain(t *testing.T) {
	url := receiver(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	s := strictSender(t, Config{})
	for url, want := range map[string]string{
		url:                    "the URL must start with https://",
		"https://10.0.0.1/":    "the address 10.0.0.1 is private",
		"https://2130706433/":  "the URL must have a host name",
		"https://[::1]/secret": "the address ::1 is loopback",
	} {
		wantFailure(t, s.Send(t.Context(), message(url)), want)
	}
}

func TestErrorsHaveNoSecrets(t *testing.T) {
	closed := rawReceiver(t, func(net.Conn) {})
	s := newSender(t, Config{})
	s.dialer.Resolver = (&names{}).resolver()
	for _, url := range []string{closed + "?token=hunter2", "https://host.invalid/hunter2", "https://10.0.0.1/hunter2", "http://127.0.0.1:1/hunter2"} {
		m := message(url)
		a := s.Send(t.Context(), m)
		if a.Error == "" || strings.Contains(a.Error, "hunter2") || strings.Contains(a.Error, m.Secrets[0][6:]) {
			t.Errorf("%s: error %q", url, a.Error)
		}
	}
	m := message(closed)
	m.Secrets = []string{"whsec_hunter2!"}
	if a := s.Send(t.Context(), m); a.Error == "" || strings.Contains(a.Error, "hunter2") {
		t.Errorf("error %q", a.Error)
	}
}

func TestStopBreaksAnAttemptOff(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	url := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // the server sees the end of the connection only behind the body
		stop()
		<-r.Context().Done()
	})
	wantFailure(t, newSender(t, Config{}).Send(ctx, message(url)), "aborted the attempt")
}

func BenchmarkSend(b *testing.B) {
	url := receiver(b, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	s, m := newSender(b, Config{}), message(url)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if a := s.Send(context.Background(), m); !a.OK() {
				b.Error(a.Error)
			}
		}
	})
}
