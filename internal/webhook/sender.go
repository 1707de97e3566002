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

// Config configures a Sender.
type Config struct {
	// Version is part of the User-Agent header.
	Version string
	// Dev allows loopback addresses, and http for them.
	Dev bool
	// Allow lists networks that may be dialled although they are not public.
	Allow []netip.Prefix
	// CAFile has certificates (PEM) of authorities that are trusted in addition
	// to the system's; empty means none.
	CAFile string
	// Timeout limits a whole attempt, from name resolution to the end of the
	// response. It defaults to DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout is the default time limit of a whole attempt.
const DefaultTimeout = 15 * time.Second

// Limits of what a receiver can make the service keep in memory.
const (
	maxHeaderBytes     = 16 << 10
	maxIdleConnections = 1024
	maxIdlePerHost     = 128
	http2Buffer        = 64 << 10
)

// Sender makes delivery attempts. It is safe for concurrent use and reuses
// connections.
type Sender struct {
	guard     guard
	dev       bool
	timeout   time.Duration
	userAgent string
	dialer    *net.Dialer
	transport *http.Transport
}

// NewSender returns a Sender.
func NewSender(c Config) (*Sender, error) {
	roots, err := readRoots(c.CAFile)
	if err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	s := &Sender{guard: newGuard(c.Dev, c.Allow), dev: c.Dev, timeout: c.Timeout, userAgent: "Anodyne/" + c.Version}
	// A dial may outlive the attempt that started it, if another attempt waits
	// for its connection, so it has its own limit. It is longer, so that an
	// attempt that takes too long always reports its own timeout.
	bound := 2 * c.Timeout
	s.dialer = &net.Dialer{Timeout: bound, ControlContext: s.guard.control}
	s.transport = &http.Transport{
		Proxy:                  nil, // the guard would check the proxy instead of the receiver
		DialContext:            s.dialer.DialContext,
		TLSHandshakeTimeout:    bound,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		DisableCompression:     true, // do not decompress
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           maxIdleConnections,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        90 * time.Second,
		ForceAttemptHTTP2:      true,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream:     http2Buffer,
			MaxReceiveBufferPerConnection: 16 * http2Buffer,
			// One connection carries all attempts to a host: detect a dead one
			// instead of failing all that follow.
			SendPingTimeout:  c.Timeout,
			PingTimeout:      c.Timeout,
			WriteByteTimeout: c.Timeout,
		},
	}
	return s, nil
}

// readRoots returns the system's authorities and those in a file, or nil,
// which means the system's, without a file.
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

// Close closes idle connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// Send makes one attempt, which ends within the timeout whatever the receiver
// does. If ctx ends first, the attempt says nothing about the receiver.
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
	// Use the transport instead of an http.Client: it does not follow
	// redirects, and its errors do not include the URL, which may contain a
	// password.
	response, err := s.transport.RoundTrip(request)
	if err == nil {
		defer response.Body.Close()
		attempt.Status = response.StatusCode
		attempt.Answer, err = readAnswer(response)
	}
	_, unfit := errors.AsType[answerError](err)
	switch {
	case err == nil || unfit: // the status takes precedence
	case parent.Err() != nil:
		return errBrokenOff
	case ctx.Err() != nil, ranOut(ctx, err):
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

// ranOut reports whether an error says that time ran out and the time of ctx has
// passed, although ctx has not ended yet: after a pause of the machine, limits
// of the transport that are longer can be enforced first.
func ranOut(ctx context.Context, err error) bool {
	deadline, _ := ctx.Deadline()
	late, ok := errors.AsType[net.Error](err)
	return ok && late.Timeout() && !time.Now().Before(deadline)
}

// request returns the signed request of a message.
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
		// Not sent, but allows the transport to retry if a reused connection
		// turns out to be closed. Receivers recognise a repeat by its ID.
		"Idempotency-Key": {},
	}
	return request, nil
}
