package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// caller makes single requests, outside the load.
type caller struct {
	base string // URL of the server
	slot *slot  // client to use
	http *http.Client
}

func newCaller(base string, s *slot, connections int) *caller {
	return &caller{base: base, slot: s, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}, Timeout: startTime}}
}

func (c *caller) close() { c.http.CloseIdleConnections() }

// call makes one request and decodes the response into out, unless out is nil.
func (c *caller) call(ctx context.Context, method, path string, body []byte, expect int, out any) error {
	authorization, err := c.authorization()
	if err != nil {
		return err
	}
	return c.callAs(ctx, authorization, method, path, body, expect, out)
}

// authorization returns the header for one more request.
func (c *caller) authorization() (string, error) {
	err := c.slot.use()
	return "Bearer " + c.slot.token, err
}

// callAs is call for a request that was already counted.
func (c *caller) callAs(ctx context.Context, authorization, method, path string, body []byte, expect int, out any) error {
	_, err := c.send(ctx, authorization, method, path, "application/json", body, expect, out)
	return err
}

func (c *caller) send(ctx context.Context, authorization, method, path, contentType string, body []byte, expect int, out any) (http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", authorization)
	if len(body) > 0 {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != expect {
		err = fmt.Errorf("%s %s: status %d instead of %d", method, request.URL.Path, response.StatusCode, expect)
	}
	if err != nil || len(answer) == 0 || out == nil {
		return response.Header, err
	}
	return response.Header, json.Unmarshal(answer, out)
}

// made is the part of the response to a creation that is needed.
type made struct {
	ID string `json:"id"`
}
