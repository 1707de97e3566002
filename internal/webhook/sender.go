package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// Config is how messages are sent.
type Config struct {
	// Version is told to receivers in the User-Agent.
	Version string
	// Dev allows loopback, and there http.
	Dev bool
	// Allow are networks that may be dialled although they are not public.
	Allow []netip.Prefix
	// CAFile has certificates (PEM) of authorities that are believed beside
	// the system's; empty for none.
	CAFile string
	// Timeout is for a whole attempt, from the look-up of the name to the
	// end of the answer; DefaultTimeout when zero.
	Timeout time.Duration
}

// DefaultTimeout is the time of a whole attempt.
const DefaultTimeout = 15 * time.Second

// What a receiver may make us keep in memory.
const (
	maxHeaderBytes     = 16 << 10
	maxIdleConnections = 1024
	maxIdlePerHost     = 128
	http2Buffer        = 64 << 10
)

// Sender makes attempts. It can be used by many goroutines, and keeps
// connections open between attempts.
type Sender struct {
	guard     guard
	dev       bool
	timeout   time.Duration
	userAgent string
	dialer    *net.Dialer
	transport *http.Transport
}

// NewSender makes a Sender.
func NewSender(c Config) (*Sender, error) {
	roots, err := readRoots(c.CAFile)
	if err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	s := &Sender{guard: newGuard(c.Dev, c.Allow), dev: c.Dev, timeout: c.Timeout, userAgent: "Anodyne/" + c.Version}
	// A dial may outlive the attempt that asked for it, when another waits
	// for its connection, so it has a bound of its own. It is longer, so that
	// of an attempt that takes too long always the attempt's own time-out is
	// told.
	bound := 2 * c.Timeout
	s.dialer = &net.Dialer{Timeout: bound, ControlContext: s.guard.control}
	s.transport = &http.Transport{
		Proxy:                  nil, // the guard would judge the proxy instead of the receiver
		DialContext:            s.dialer.DialContext,
		TLSHandshakeTimeout:    bound,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		DisableCompression:     true, // nothing is inflated
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           maxIdleConnections,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        90 * time.Second,
		ForceAttemptHTTP2:      true,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream:     http2Buffer,
			MaxReceiveBufferPerConnection: 16 * http2Buffer,
			// One connection carries the attempts of a host: one that has
			// gone silent is found out instead of failing all that follow.
			SendPingTimeout:  c.Timeout,
			PingTimeout:      c.Timeout,
			WriteByteTimeout: c.Timeout,
		},
	}
	return s, nil
}

// readRoots returns the system's authorities and those in a file; nil, which
// means the system's, without a file.
func readRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: contains no PEM certificate", file)
	}
	return roots, nil
}

// Close closes the connections that wait for the next attempt.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// Send makes one attempt, which ends within the time-out whatever the
// receiver does. When ctx ends first, the attempt says nothing about the
// receiver.
func (s *Sender) Send(ctx context.Context, m Message) Attempt {
	begin := time.Now()
	attempt := Attempt{At: m.At}
	if err := s.send(ctx, m, &attempt); err != nil {
		attempt.Error = plainWords(err, s.timeout)
	}
	attempt.Latency = time.Since(begin)
	return attempt
}

// errBrokenOff is an attempt whose context ended.
var errBrokenOff = errors.New("this server aborted the attempt")

func (s *Sender) send(parent context.Context, m Message, attempt *Attempt) error {
	ctx, cancel := context.WithTimeout(parent, s.timeout)
	defer cancel()
	var connected atomic.Bool
	request, err := s.request(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), m)
	if err != nil {
		return err
	}
	// The transport itself, not a http.Client: it follows no redirects and
	// does not put the URL, which may hold a password, into its errors.
	response, err := s.transport.RoundTrip(request)
	if err == nil {
		defer response.Body.Close()
		attempt.Status = response.StatusCode
		attempt.Answer, err = readAnswer(response)
	}
	_, unfit := errors.AsType[answerError](err)
	switch {
	case err == nil || unfit: // the status comes first
	case parent.Err() != nil:
		return errBrokenOff
	case ctx.Err() != nil:
		return &timeoutError{connected: connected.Load(), answered: attempt.Status != 0}
	default:
		return err
	}
	if attempt.Status/100 != 2 {
		attempt.RetryAfter = retryAfter(response.Header.Get("Retry-After"), m.At)
		return &statusError{response.StatusCode}
	}
	return err
}

// request makes the signed request of a message.
func (s *Sender) request(ctx context.Context, m Message) (*http.Request, error) {
	if err := judgeURL(m.URL, s.dev, s.guard); err != nil {
		return nil, &addressError{err}
	}
	timestamp := m.At.Unix()
	signature, err := sign(m.ID, timestamp, m.Body, m.Secrets)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{
		"Content-Type":    {"application/json"},
		"User-Agent":      {s.userAgent},
		"Accept-Encoding": {"identity"},
		headerID:          {m.ID},
		headerTimestamp:   {strconv.FormatInt(timestamp, 10)},
		headerSignature:   {signature},
		// Not sent, but tells the transport that it may send the request
		// again when a kept connection turns out to be closed: a receiver
		// knows a repeat by its id.
		"Idempotency-Key": {},
	}
	return request, nil
}
