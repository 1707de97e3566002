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

	// tryTimeout limits one attempt with the default HTTP client. It leaves
	// room for the longest wait of Events, 30 seconds.
	tryTimeout = time.Minute
)

// Client calls one Anodyne service on behalf of one registered client.
type Client struct {
	base       string
	baseErr    error
	id, secret string
	key        *privateKey // instead of secret, if not nil
	scope      string
	userAgent  string
	maxRetries int
	http       *http.Client
	tokens     tokens
	rateLimit  atomic.Pointer[RateLimit]
}

// Option configures a Client made by [New].
type Option func(*Client)

// WithHTTPClient uses h unchanged for all requests. If h has a timeout, it
// must be longer than the waits passed to [Client.Events].
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithScope requests tokens with these scopes only. By default a token has all
// scopes granted to the client.
func WithScope(scopes ...string) Option {
	return func(c *Client) { c.scope = strings.Join(scopes, " ") }
}

// WithUserAgent sets the User-Agent header.
func WithUserAgent(userAgent string) Option { return func(c *Client) { c.userAgent = userAgent } }

// WithMaxRetries sets how often a failed call is retried. Zero turns retries
// off.
func WithMaxRetries(n int) Option { return func(c *Client) { c.maxRetries = n } }

// WithToken uses this access token and never requests another.
func WithToken(accessToken string) Option {
	return func(c *Client) { c.tokens.fix(accessToken) }
}

// New returns a client for the service at baseURL, for example
// "https://anodyne.example.org". It does not connect; an invalid base URL is
// reported by the first call.
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

// String returns the address of the service, without credentials, so that a
// Client can be logged.
func (c *Client) String() string { return "anodyne client of " + c.base }

// CloseIdleConnections closes idle connections. The client remains usable.
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

// defaultHTTPClient keeps enough connections for parallel calls to one host.
// It follows no redirects: the API has none, and following one could send the
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
