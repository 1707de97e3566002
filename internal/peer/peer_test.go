package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/testwait"
)

const self = 7

func identity(t *testing.T, secret string) *Identity {
	t.Helper()
	who, err := NewIdentity([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return who
}

// most is how many questions may be under way in tests.
const most = 3

// start starts a node and returns its address.
func start(t *testing.T, answer Answerer) (address string) {
	t.Helper()
	_, l := startWithin(t, time.Minute, answer)
	return l.Addr().String()
}

// startWithin starts a node that waits for others for this long.
func startWithin(t *testing.T, silence time.Duration, answer Answerer) (*Server, *line) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, watched := newServer(Service{Self: func() int64 { return self }, Answer: answer, Log: slog.New(slog.DiscardHandler), Patience: testwait.Bound}), &line{Listener: l}
	s.room, s.silence = make(chan struct{}, most), silence
	s.run(watched, identity(t, "ours"))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, watched
}

func client(t *testing.T, secret string) *Client {
	t.Helper()
	c := NewClient(identity(t, secret))
	t.Cleanup(c.Close)
	c.Patience(testwait.Bound) // on a busy machine
	return c
}

func echo(_ context.Context, question []byte) ([]byte, error) {
	return append([]byte("to "), question...), nil
}

func TestAsk(t *testing.T) {
	address, c := start(t, echo), client(t, "ours")
	for _, question := range []string{"", "x", strings.Repeat("long ", 100_000)} {
		if answer, err := c.Ask(t.Context(), address, self, []byte(question)); err != nil || string(answer) != "to "+question {
			t.Errorf("answer of %d bytes, %v", len(answer), err)
		}
	}
	if _, err := c.Ask(t.Context(), address, self+1, nil); err == nil {
		t.Error("a question to another node was answered")
	}
	if _, err := c.Ask(t.Context(), address, self, make([]byte, largestQuestion+1)); err == nil {
		t.Error("a question that is too long was answered")
	}
}

// Only a process with the same secret is a node, on either side.
func TestStrangers(t *testing.T) {
	asked := false
	address := start(t, func(context.Context, []byte) ([]byte, error) {
		asked = true
		return nil, nil
	})
	if _, err := client(t, "theirs").Ask(t.Context(), address, self, nil); err == nil {
		t.Error("a stranger got an answer")
	}
	for name, config := range map[string]*tls.Config{
		"no certificate": {InsecureSkipVerify: true},
		"TLS 1.2":        {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, Certificates: identity(t, "ours").config().Certificates},
	} {
		plain := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		if response, err := plain.Post("https://"+address+path, "", nil); err == nil {
			response.Body.Close()
			t.Errorf("%s: got status %d", name, response.StatusCode)
		}
	}
	if response, err := http.Post("http://"+address+path, "", nil); err == nil {
		if response.Body.Close(); response.StatusCode == http.StatusOK {
			t.Error("got an answer without TLS")
		}
	}
	if asked {
		t.Error("a stranger's question was heard")
	}
}

func TestFailures(t *testing.T) {
	c := client(t, "ours")
	broken := start(t, func(context.Context, []byte) ([]byte, error) { return nil, errors.New("secret reason") })
	if _, err := c.Ask(t.Context(), broken, self, nil); !errors.Is(err, ErrFailed) || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	panics := start(t, func(context.Context, []byte) ([]byte, error) { panic("a bug") })
	if _, err := c.Ask(t.Context(), panics, self, nil); !errors.Is(err, ErrFailed) {
		t.Errorf("error %v", err)
	}
	// A caller who leaves ends the work of the other node.
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	waits := start(t, func(ctx context.Context, _ []byte) ([]byte, error) {
		leave()
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	if _, err := c.Ask(ctx, waits, self, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("the other node goes on")
	}
}

// A node that accepts connections and says nothing is given up, and one that is
// still working is not.
func TestSilence(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c := client(t, "ours")
	c.silence = 50 * time.Millisecond
	if _, err := c.Ask(t.Context(), silent.Addr().String(), self, nil); !errors.Is(err, errSilent) {
		t.Errorf("error %v, want that it is silent", err)
	}
	release := make(chan struct{})
	slow := start(t, func(context.Context, []byte) ([]byte, error) {
		<-release
		return []byte("done"), nil
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+slow+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(nodeHeader, strconv.Itoa(self))
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	signs := make([]byte, 2)
	if _, err := io.ReadFull(response.Body, signs); err != nil || string(signs) != "ww" {
		t.Errorf("signs of life %q, %v", signs, err)
	}
	close(release)
	rest, err := io.ReadAll(response.Body)
	if !strings.HasSuffix(string(rest), "adone") || err != nil {
		t.Errorf("then %q, %v", rest, err)
	}
}

func TestBusy(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{}, most)
	address, c := start(t, func(context.Context, []byte) ([]byte, error) {
		arrived <- struct{}{}
		<-release
		return nil, nil
	}), client(t, "ours")
	results := make(chan error, most)
	for range most {
		go func() {
			_, err := c.Ask(t.Context(), address, self, nil)
			results <- err
		}()
	}
	for range most {
		select {
		case <-arrived:
		case err := <-results:
			t.Fatal(err)
		}
	}
	if _, err := c.Ask(t.Context(), address, self, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v, want that it is busy", err)
	}
	close(release)
	for range most {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func TestBuild(t *testing.T) {
	if build, err := Build(); err != nil || len(build) != 32 {
		t.Errorf("%q, %v", build, err)
	}
}

func TestMain(m *testing.M) { testwait.Main(m) }
