package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/testwait"
)

// ask runs "anodyne health" with an environment.
func ask(t *testing.T, environment map[string]string, args ...string) (code int, said string) {
	t.Helper()
	var out, errs strings.Builder
	lookup := func(name string) (string, bool) { value, set := environment[name]; return value, set }
	code = run(t.Context(), append([]string{"health"}, args...), cli.Env{Stdout: &out, Stderr: &errs, Lookup: lookup})
	return code, out.String() + errs.String()
}

func TestHealth(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
		case "/readyz": // alive, but without its database
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	_, port, err := net.SplitHostPort(plain.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		environment map[string]string
		args        []string
		code        int
		said        string
	}{
		"flag":        {nil, []string{"--listen", "127.0.0.1:" + port}, 0, "ok"},
		"environment": {map[string]string{"ANODYNE_LISTEN": "127.0.0.1:" + port}, nil, 0, "ok"},
		"everywhere":  {map[string]string{"ANODYNE_LISTEN": "0.0.0.0:" + port}, nil, 0, "ok"},
		"no host":     {nil, []string{"--listen", ":" + port}, 0, "ok"},
		"TLS":         {map[string]string{"ANODYNE_LISTEN": secure.Listener.Addr().String(), "ANODYNE_TLS_CERT": "cert.pem"}, nil, 0, "ok"},
		"a proxy":     {map[string]string{"HTTP_PROXY": "http://127.0.0.1:1"}, []string{"--listen", "127.0.0.1:" + port}, 0, "ok"},
		"not ready":   {nil, []string{"--listen", "127.0.0.1:" + port, "--ready"}, 1, "503"},
		"nobody":      {nil, []string{"--listen", "127.0.0.1:1"}, 1, "does not respond"},
		"no TLS":      {nil, []string{"--listen", "127.0.0.1:" + port, "--tls-cert", "cert.pem"}, 1, "does not respond"},
		"no address":  {nil, []string{"--listen", "8080"}, 1, "--listen"},
		"no time":     {nil, []string{"--listen", "127.0.0.1:" + port, "--timeout", "0s"}, 1, "--timeout"},
		"no flag":     {nil, []string{"--database", "sqlite:x.db"}, 2, "-database"},
	} {
		args := append([]string{"--timeout", testwait.Bound.String()}, tt.args...)
		if code, said := ask(t, tt.environment, args...); code != tt.code || !strings.Contains(said, tt.said) {
			t.Errorf("%s: code %d, %q", name, code, said)
		}
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if code, said := ask(t, nil, "--listen", silent.Addr().String(), "--timeout", "50ms"); code != 1 || !strings.Contains(said, context.DeadlineExceeded.Error()) {
		t.Errorf("silence: code %d, %q", code, said)
	}
}
