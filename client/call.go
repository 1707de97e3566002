package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxAnswer bounds what is read of an answer. The largest one, a clinical batch
// echoed with what the service derived, stays well below.
const maxAnswer = 32 << 20

const idempotencyKey = "Idempotency-Key"

// call is one operation of the API, whatever number of tries it takes.
type call struct {
	op     string // names the operation in error texts: "create patient"
	method string
	path   []string
	query  url.Values
	// body is sent as a form when it is url.Values, else as JSON, and not at
	// all when it is nil.
	body      any
	mediaType string // by default that of the body's form
	header    http.Header
	// oauth marks calls that authenticate by the credentials in their form.
	// All of them can be repeated without harm.
	oauth bool
	// download, if set, takes the body of a successful answer.
	download *download

	target  string
	payload []byte
}

// CallOption changes a single call.
type CallOption func(*call)

// WithIdempotencyKey gives a POST this key (1 to 255 printable characters)
// instead of a random one. The service acts once for all calls of a client that
// carry the same key and body within 24 hours, and answers them alike.
func WithIdempotencyKey(key string) CallOption {
	return func(c *call) { c.header.Set(idempotencyKey, key) }
}

// WithIfMatch makes a change only if the record still has this ETag; otherwise
// the call fails with [CodePreconditionFailed].
func WithIfMatch(etag string) CallOption {
	return func(c *call) { c.header.Set("If-Match", etag) }
}

// prepare makes what all tries have in common: target, body, header.
func (c *call) prepare(opts []CallOption) error {
	for _, segment := range c.path {
		// An empty identifier would address the whole collection.
		if segment == "" || segment == "." || segment == ".." {
			return fmt.Errorf("anodyne: %s: an identifier is empty or not valid", c.op)
		}
		c.target += "/" + url.PathEscape(segment)
	}
	if len(c.query) > 0 {
		c.target += "?" + c.query.Encode()
	}

	c.header = http.Header{"Accept": {"application/json"}}
	switch body := c.body.(type) {
	case nil:
	case url.Values:
		c.header.Set("Content-Type", "application/x-www-form-urlencoded")
		c.payload = []byte(body.Encode())
	default:
		c.header.Set("Content-Type", "application/json")
		var err error
		if c.payload, err = json.Marshal(body); err != nil {
			return fmt.Errorf("anodyne: %s: encode the request: %w", c.op, err)
		}
	}
	if c.mediaType != "" {
		c.header.Set("Content-Type", c.mediaType)
	}

	for _, opt := range opts {
		opt(c)
	}
	if c.method == http.MethodPost && !c.oauth && c.header.Get(idempotencyKey) == "" {
		c.header.Set(idempotencyKey, rand.Text())
	}
	return nil
}

// do carries out a call: token, tries, renewal, decoding of the answer into out
// (nil when its body does not matter). Everything the client sends goes through
// here.
func (c *Client) do(ctx context.Context, call *call, out any, opts ...CallOption) (http.Header, error) {
	if c.baseErr != nil {
		return nil, c.baseErr
	}
	if err := ctx.Err(); err != nil {
		return nil, &netError{call.op, err}
	}
	if err := call.prepare(opts); err != nil {
		return nil, err
	}
	renewed := false
	for retries := 0; ; {
		var token string
		if !call.oauth {
			t, err := c.Token(ctx)
			if err != nil {
				return nil, err
			}
			token = t.AccessToken
		}
		header, body, err := c.try(ctx, call, token)
		if err == nil {
			return header, call.decode(body, out)
		}
		if token != "" && !renewed && isTokenRefused(err) && c.tokens.drop(token) {
			renewed = true
			continue
		}
		if retries >= c.maxRetries || !call.mayRepeat(err) {
			return nil, err
		}
		if err := call.pause(ctx, retries, err); err != nil {
			return nil, err
		}
		retries++
	}
}

// try sends the request once and reads the answer to its end, so that the
// connection can be used again.
func (c *Client) try(ctx context.Context, call *call, token string) (http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, call.method, c.base+call.target, bytes.NewReader(call.payload))
	if err != nil {
		return nil, nil, fmt.Errorf("anodyne: %s: the request cannot be made", call.op)
	}
	req.Header = call.header.Clone()
	req.Header.Set("User-Agent", c.userAgent)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if call.download != nil {
		call.download.ask(req.Header)
	}

	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, newNetError(ctx, call.op, err)
	}
	defer resp.Body.Close()
	c.noteRateLimit(resp.Header)
	if call.download != nil && resp.StatusCode/100 == 2 {
		return resp.Header, nil, call.download.take(ctx, call.op, resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, nil, newNetError(ctx, call.op, err)
	}
	if len(body) > maxAnswer {
		return nil, nil, fmt.Errorf("anodyne: %s: the answer is over %d bytes", call.op, maxAnswer)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, nil, newError(resp, body)
	}
	return resp.Header, body, nil
}

// decode reads a successful answer. Decoders quote what they stumble over, which
// may be a patient's data, so only the kind of their error is told.
func (c *call) decode(body []byte, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("anodyne: %s: the answer is not the JSON expected (%T)", c.op, err)
	}
	return nil
}

// netError is a failure on the way to the service or back: whether the service
// acted is not known.
type netError struct {
	op  string
	err error
}

// newNetError takes the URL out of err, as its query may hold a patient's name,
// and makes sure that a context's end can be recognised.
func newNetError(ctx context.Context, op string, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	return &netError{op, err}
}

func (e *netError) Error() string { return "anodyne: " + e.op + ": " + e.err.Error() }
func (e *netError) Unwrap() error { return e.err }
