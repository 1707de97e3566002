package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

// TestMain fails if the tests leave goroutines behind. They may take a while to
// end; the bound ends only a hang.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	for began := time.Now(); code == 0 && runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			fmt.Fprintln(os.Stderr, "the tests left goroutines behind:")
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			code = 1
		}
	}
	os.Exit(code)
}

// transport plays the service without a network, so that tests can run on the
// fake clock of testing/synctest.
type transport func(http.ResponseWriter, *http.Request)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// roundTripper plays a network that fails.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// peer plays the service: it issues tokens at_1, at_2, ... with a lifetime of
// an hour, and passes everything else to api.
type peer struct {
	tokens atomic.Int64
	api    http.HandlerFunc
}

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/oauth/token" {
		p.api(w, r)
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"access_token": fmt.Sprintf("at_%d", p.tokens.Add(1)),
		"token_type":   "Bearer", "expires_in": 3600, "scope": "patients:read patients:write",
	})
}

// offline makes a client of the peer without a network.
func (p *peer) offline(opts ...client.Option) *client.Client {
	h := &http.Client{Transport: transport(p.ServeHTTP)}
	return client.New("http://peer.test", "cli_1", "cs_1", append([]client.Option{client.WithHTTPClient(h)}, opts...)...)
}

// serve starts a server and makes a client of it with a fixed token.
func serve(t *testing.T, api http.HandlerFunc, opts ...client.Option) *client.Client {
	t.Helper()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	c := client.New(server.URL+"/", "cli_1", "cs_1", append([]client.Option{client.WithToken("at_fixed")}, opts...)...)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(err)
	}
}

func refuse(w http.ResponseWriter, status int, code client.Code, details map[string]any) {
	w.Header().Set("X-Request-Id", "req_1")
	answer(w, status, map[string]any{
		"error": map[string]any{"code": code, "message": "Not so.", "details": details},
	})
}
