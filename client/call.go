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

// maxAnswer limits how much of a response is read. The largest response, a
// clinical batch with its derived values, is well below it.
const maxAnswer = 32 << 20

const idempotencyKey = "Idempotency-Key"

// call is one operation of the API, with all its attempts.
type call struct {
	op     string // name of the operation in error messages, such as "create patient"
	method string
	path   []string
	query  url.Values
	// body is sent as a form if it is url.Values, as JSON otherwise, and
	// omitted if nil.
	body      any
	mediaType string // defaults to the media type of body
	header    http.Header
	// oauth marks calls that authenticate with the credentials in their form,
	// which authenticate adds. All of them are safe to repeat.
	oauth bool
	// download, if set, receives the body of a successful response.
	download *download

	target  string
	payload []byte
}

// CallOption configures a single call.
type CallOption func(*call)

// WithIdempotencyKey sets the Idempotency-Key of a POST or PUT (1 to 255 printable
// characters) instead of a random one. All calls of a client with the same key
// and body within 24 hours take effect once and get the same response.
func WithIdempotencyKey(key string) CallOption {
	return func(c *call) { c.header.Set(idempotencyKey, key) }
}

// WithIfMatch applies a change only if the record still has this ETag.
// Otherwise the call fails with [CodePreconditionFailed].
func WithIfMatch(etag string) CallOption {
	return func(c *call) { c.header.Set("If-Match", etag) }
}

// prepare builds what all attempts share: target, body and header.
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
	if (c.method == http.MethodPost || c.method == http.MethodPut) && !c.oauth && c.header.Get(idempotencyKey) == "" {
		c.header.Set(idempotencyKey, rand.Text())
	}
	return nil
}

// answered performs a call and decodes the response.
func answered[T any](ctx context.Context, c *Client, call *call, opts []CallOption) (*T, error) {
	var out T
	if _, err := c.do(ctx, call, &out, opts...); err != nil {
		return nil, err
	}
	return &out, nil
}

// do performs a call: it gets a token, retries, renews the token if needed and
// decodes the response into out, unless out is nil. Every request of the
// client goes through do.
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
		if call.oauth {
			if err := c.authenticate(call); err != nil {
				return nil, err
			}
		} else {
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

// try sends the request once and reads the whole response, so that the
// connection can be reused.
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

// decode decodes a successful response. Decoders quote the input they fail on,
// which may be patient data, so only the kind of their error is returned.
func (c *call) decode(body []byte, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("anodyne: %s: the answer is not the JSON expected (%T)", c.op, err)
	}
	return nil
}

// netError is a failure to reach the service or to read its response. It is
// unknown whether the service acted on the request.
type netError struct {
	op  string
	err error
}

// newNetError removes the URL from err, because its query may hold a patient's
// name, and makes sure that the end of ctx can be recognised in the result.
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
