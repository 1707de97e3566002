package client

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	defaultUserAgent  = "anodyne-go-client"
	defaultMaxRetries = 3

	// tryTimeout bounds one try with the default HTTP client. It leaves room
	// for the longest wait of Events, 30 seconds.
	tryTimeout = time.Minute
)

// Client talks to one Anodyne service on behalf of one registered client.
type Client struct {
	base       string
	baseErr    error
	id, secret string
	scope      string
	userAgent  string
	maxRetries int
	http       *http.Client
	tokens     tokens
	rateLimit  atomic.Pointer[RateLimit]
}

// Option changes how New makes a Client.
type Option func(*Client)

// WithHTTPClient uses h, as it is, for all requests. A timeout on it must be
// longer than the waits asked of [Client.Events].
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithScope asks for tokens with these scopes only. By default a token has
// all scopes that the client was granted.
func WithScope(scopes ...string) Option {
	return func(c *Client) { c.scope = strings.Join(scopes, " ") }
}

// WithUserAgent replaces the User-Agent header.
func WithUserAgent(userAgent string) Option { return func(c *Client) { c.userAgent = userAgent } }

// WithMaxRetries sets how often a call is tried again after its first try.
// Zero turns retries off.
func WithMaxRetries(n int) Option { return func(c *Client) { c.maxRetries = n } }

// WithToken uses this access token and never asks for another.
func WithToken(accessToken string) Option {
	return func(c *Client) { c.tokens.fix(accessToken) }
}

// New makes a client of the service at baseURL, for example
// "https://anodyne.example.org". It does not connect; a base URL that cannot be
// used is reported by the first call.
func New(baseURL, clientID, clientSecret string, opts ...Option) *Client {
	c := &Client{
		base:       strings.TrimRight(baseURL, "/"),
		baseErr:    checkBase(baseURL),
		id:         clientID,
		secret:     clientSecret,
		userAgent:  defaultUserAgent,
		maxRetries: defaultMaxRetries,
	}
	for _, opt := range opts {
		opt(c)
	}
	if c.http == nil {
		c.http = defaultHTTPClient()
	}
	return c
}

// String names the service and keeps the credentials out of logs.
func (c *Client) String() string { return "anodyne client of " + c.base }

// CloseIdleConnections closes the connections that wait for a next request.
// The client stays usable.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

func checkBase(baseURL string) error {
	u, err := url.Parse(baseURL)
	switch {
	case err != nil:
		return errors.New("anodyne: the base URL cannot be read")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return errors.New("anodyne: the base URL must be absolute, http or https")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return errors.New("anodyne: the base URL must have no credentials, query or fragment")
	}
	return nil
}

// defaultHTTPClient keeps enough connections for parallel callers of one host.
// It follows no redirects: the API has none, and following one could carry the
// client secret to another host.
func defaultHTTPClient() *http.Client {
	h := &http.Client{
		Timeout:       tryTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConnsPerHost = t.MaxIdleConns
		h.Transport = t
	}
	return h
}
