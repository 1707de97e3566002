package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// faultProxy stands between a client and a node and plays faults: the next
// requests to the API meet one each. A client in another language controls it
// over HTTP, under /-/.
type faultProxy struct {
	tb      testing.TB
	url     string
	forward http.Handler
	control *http.ServeMux
	began   time.Time

	mu     sync.Mutex
	faults []string
	seen   []seenRequest
	met    chan struct{} // closed when no fault is left
}

// seenRequest is a request that arrived at the proxy.
type seenRequest struct {
	Request      string `json:"request"`
	Key          string `json:"key"`
	Token        string `json:"token"`
	Milliseconds int64  `json:"milliseconds"`
}

func newFaultProxy(tb testing.TB, to string) *faultProxy {
	tb.Helper()
	target, err := url.Parse(to)
	if err != nil {
		tb.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.Transport = newTransport(tb)
	p := &faultProxy{tb: tb, forward: forward, control: http.NewServeMux(), began: time.Now(), met: make(chan struct{})}
	close(p.met)
	p.control.HandleFunc("POST /-/faults", p.setFaults)
	p.control.HandleFunc("GET /-/seen", p.takeSeen)
	p.control.HandleFunc("GET /-/met", func(_ http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		met := p.met
		p.mu.Unlock()
		select {
		case <-met:
		case <-r.Context().Done():
		}
	})
	server := httptest.NewServer(p)
	tb.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *faultProxy) setFaults(_ http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults, p.seen, p.met = nil, nil, make(chan struct{})
	if err := json.NewDecoder(r.Body).Decode(&p.faults); err != nil {
		p.tb.Error(err)
	}
	if len(p.faults) == 0 {
		close(p.met)
	}
}

func (p *faultProxy) takeSeen(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := json.NewEncoder(w).Encode(append([]seenRequest{}, p.seen...)); err != nil {
		p.tb.Error(err)
	}
}

// next notes a request and returns the fault that it meets.
func (p *faultProxy) next(r *http.Request) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, seenRequest{
		r.Method + " " + r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), time.Since(p.began).Milliseconds(),
	})
	if !strings.HasPrefix(r.URL.Path, "/v1/") || len(p.faults) == 0 {
		return ""
	}
	fault := p.faults[0]
	if p.faults = p.faults[1:]; len(p.faults) == 0 {
		close(p.met)
	}
	return fault
}

func (p *faultProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/-/") {
		p.control.ServeHTTP(w, r)
		return
	}
	fault, argument, _ := strings.Cut(p.next(r), " ")
	switch fault {
	case "":
		p.forward.ServeHTTP(w, r)
	case "refused":
		panic(http.ErrAbortHandler)
	case "lost":
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case "half":
		whole := httptest.NewRecorder()
		p.forward.ServeHTTP(whole, r)
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		body := whole.Body.Bytes()
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(whole.Code)
		_, _ = w.Write(body[:len(body)/2]) // the client may have gone
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "stall":
		<-r.Context().Done()
	case "html":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<p>secret")
	case "not":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{secret")
	default:
		p.answer(w, fault, argument)
	}
}

// answer sends a status that the service did not.
func (p *faultProxy) answer(w http.ResponseWriter, fault, argument string) {
	status, err := strconv.Atoi(fault)
	if err != nil {
		p.tb.Errorf("no fault is named %q", fault)
	}
	body := &bytes.Buffer{}
	switch {
	case status == http.StatusFound:
		w.Header().Set("Location", "/elsewhere")
	case status == http.StatusUnauthorized:
		fmt.Fprintf(body, `{"error":{"code":"UNAUTHORIZED","message":"No.","details":{"reason":%q}}}`, argument)
	case argument == "date": // in whole seconds, so at least one second from now
		w.Header().Set("Retry-After", time.Now().Add(2*time.Second).UTC().Format(http.TimeFormat))
	case argument != "":
		w.Header().Set("Retry-After", argument)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the client may have gone
}
