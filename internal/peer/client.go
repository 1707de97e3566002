package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Client asks other nodes.
type Client struct {
	transport *http.Transport
	// silence is the constant, or a value set by a test.
	silence time.Duration
}

// Patience sets how long to wait for another node: for its connection, and for
// its next sign of life. Tests use it on machines of any speed. It must be called
// before the first question.
func (c *Client) Patience(limit time.Duration) {
	c.silence, c.transport.TLSHandshakeTimeout = limit, limit
	c.transport.DialContext = (&net.Dialer{Timeout: limit}).DialContext
}

// NewClient returns a client. The caller must close it.
func NewClient(who *Identity) *Client {
	return &Client{
		transport: &http.Transport{
			TLSClientConfig: who.config(), TLSHandshakeTimeout: connectTime, DisableCompression: true,
			DialContext:         (&net.Dialer{Timeout: connectTime}).DialContext,
			MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
		},
		silence: Silence,
	}
}

// Close closes the idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Ask sends a question to the node with a number at an address, and returns its
// answer. It fails if the node says nothing for a while, but waits as long as
// the node is working.
func (c *Client) Ask(ctx context.Context, address string, node int64, question []byte) (answer []byte, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(c.silence, func() { cancel(errSilent) })
	defer silence.Stop()
	defer func() {
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		if errors.Is(err, errSilent) {
			c.Close() // other connections to a machine that is gone would be silent as well
		}
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+path, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	request.Header.Set(nodeHeader, strconv.FormatInt(node, 10))
	// A question may be repeated. Without this, which is not sent, net/http would
	// not do so if an idle connection turns out to be dead.
	request.Header["Idempotency-Key"] = nil
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		return nil, ErrBusy
	default:
		return nil, fmt.Errorf("the other node responded with status %d", response.StatusCode)
	}
	heard := func() { silence.Reset(c.silence) }
	body := bufio.NewReader(&alive{response.Body, heard})
	for {
		switch sign, err := body.ReadByte(); {
		case err != nil:
			return nil, err
		case sign == working:
		case sign == answered:
			return readAll(body)
		default:
			return nil, ErrFailed
		}
	}
}

// readAll reads an answer, whose end must have been sent.
func readAll(r io.Reader) ([]byte, error) {
	answer, err := io.ReadAll(io.LimitReader(r, largestAnswer+1))
	if err == nil && len(answer) > largestAnswer {
		err = fmt.Errorf("an answer of more than %d bytes", largestAnswer)
	}
	return answer, err
}

// alive calls heard for everything that is read.
type alive struct {
	io.Reader
	heard func()
}

func (a *alive) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	if n > 0 {
		a.heard()
	}
	return n, err
}
